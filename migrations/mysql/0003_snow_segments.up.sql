CREATE TABLE IF NOT EXISTS snow_segments (
    tag        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    space_uuid CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    modulus    BIGINT NOT NULL,
    residue    BIGINT NOT NULL,
    state      SMALLINT NOT NULL,
    next_id    BIGINT NOT NULL,
    takes      BIGINT NOT NULL,
    PRIMARY KEY (tag)
) ENGINE=InnoDB;
