CREATE TABLE IF NOT EXISTS snow_segments (
    tag        TEXT NOT NULL,
    space_uuid TEXT NOT NULL,
    modulus    INTEGER NOT NULL,
    residue    INTEGER NOT NULL,
    state      INTEGER NOT NULL,
    next_id    INTEGER NOT NULL,
    takes      INTEGER NOT NULL,
    PRIMARY KEY (tag)
) STRICT, WITHOUT ROWID;
