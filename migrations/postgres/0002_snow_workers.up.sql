CREATE TABLE IF NOT EXISTS snow_workers (
    namespace     VARCHAR(64) COLLATE "C" NOT NULL,
    worker_id     INT NOT NULL,
    state         SMALLINT NOT NULL,
    owner         CHAR(32) COLLATE "C" NULL,
    fence         BIGINT NOT NULL,
    floor_tick    BIGINT NOT NULL,
    ceiling_tick  BIGINT NOT NULL,
    claimed_at_ms BIGINT NOT NULL,
    renewed_at_ms BIGINT NOT NULL,
    renew_seq     BIGINT NOT NULL,
    holder        VARCHAR(255) NOT NULL DEFAULT '',
    PRIMARY KEY (namespace, worker_id)
);
