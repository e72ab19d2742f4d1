CREATE TABLE IF NOT EXISTS snow_numbers (
    series      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    scope       VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    pattern     VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    zone        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    kind        SMALLINT NOT NULL,
    restarts    SMALLINT NOT NULL,
    state       SMALLINT NOT NULL,
    last_number BIGINT NOT NULL,
    pending     VARCHAR(8192) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '!',
    PRIMARY KEY (series, scope)
) ENGINE=InnoDB;
