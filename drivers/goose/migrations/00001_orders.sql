-- +goose Up
CREATE TABLE orders (id BIGINT PRIMARY KEY, buyer_id BIGINT NOT NULL);

-- +goose Down
DROP TABLE orders;
