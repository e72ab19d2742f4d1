CREATE TABLE IF NOT EXISTS snow_segments (
    tag        VARCHAR(64) COLLATE "C" NOT NULL,
    space_uuid CHAR(36) COLLATE "C" NOT NULL,
    modulus    BIGINT NOT NULL,
    residue    BIGINT NOT NULL,
    state      SMALLINT NOT NULL,
    next_id    BIGINT NOT NULL,
    takes      BIGINT NOT NULL,
    PRIMARY KEY (tag)
);
