CREATE TABLE IF NOT EXISTS snow_namespaces (
    namespace     TEXT NOT NULL,
    layout        TEXT NOT NULL,
    registry_uuid TEXT NOT NULL,
    workers       INTEGER NOT NULL,
    loss_ms       INTEGER NOT NULL,
    probation_ms  INTEGER NOT NULL,
    min_renew_ms  INTEGER NOT NULL,
    raise_ms      INTEGER NOT NULL,
    first_ms      INTEGER NOT NULL,
    window_ms     INTEGER NOT NULL,
    grace_ms      INTEGER NOT NULL,
    pinned_ms     INTEGER NOT NULL,
    claim_ms      INTEGER NOT NULL,
    PRIMARY KEY (namespace)
) STRICT, WITHOUT ROWID;
