CREATE TABLE IF NOT EXISTS snow_numbers (
    series      VARCHAR(64) COLLATE "C" NOT NULL,
    scope       VARCHAR(128) COLLATE "C" NOT NULL,
    pattern     VARCHAR(128) COLLATE "C" NOT NULL,
    zone        VARCHAR(64) COLLATE "C" NOT NULL,
    kind        SMALLINT NOT NULL,
    restarts    SMALLINT NOT NULL,
    state       SMALLINT NOT NULL,
    last_number BIGINT NOT NULL,
    pending     VARCHAR(8192) COLLATE "C" NOT NULL DEFAULT '!',
    PRIMARY KEY (series, scope)
);
