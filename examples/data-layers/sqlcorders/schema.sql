CREATE TABLE orders (
	id        BIGINT PRIMARY KEY,
	buyer     TEXT NOT NULL,
	parent_id BIGINT
);
