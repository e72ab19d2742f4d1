CREATE TABLE IF NOT EXISTS snow_workers (
    namespace     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    worker_id     INT NOT NULL,
    state         SMALLINT NOT NULL,
    owner         CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
    fence         BIGINT NOT NULL,
    floor_tick    BIGINT NOT NULL,
    ceiling_tick  BIGINT NOT NULL,
    claimed_at_ms BIGINT NOT NULL,
    renewed_at_ms BIGINT NOT NULL,
    renew_seq     BIGINT NOT NULL,
    holder        VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    PRIMARY KEY (namespace, worker_id)
) ENGINE=InnoDB;
