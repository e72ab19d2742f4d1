CREATE TABLE IF NOT EXISTS snow_workers (
    namespace     TEXT NOT NULL,
    worker_id     INTEGER NOT NULL,
    state         INTEGER NOT NULL,
    owner         TEXT NULL,
    fence         INTEGER NOT NULL,
    floor_tick    INTEGER NOT NULL,
    ceiling_tick  INTEGER NOT NULL,
    claimed_at_ms INTEGER NOT NULL,
    renewed_at_ms INTEGER NOT NULL,
    renew_seq     INTEGER NOT NULL,
    holder        TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (namespace, worker_id)
) STRICT, WITHOUT ROWID;
