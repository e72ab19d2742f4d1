CREATE TABLE IF NOT EXISTS snow_numbers (
    series      TEXT NOT NULL,
    scope       TEXT NOT NULL,
    pattern     TEXT NOT NULL,
    zone        TEXT NOT NULL,
    kind        INTEGER NOT NULL,
    restarts    INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    last_number INTEGER NOT NULL,
    pending     TEXT NOT NULL DEFAULT '!',
    PRIMARY KEY (series, scope)
) STRICT, WITHOUT ROWID;
