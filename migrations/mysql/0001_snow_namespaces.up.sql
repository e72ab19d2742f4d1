CREATE TABLE IF NOT EXISTS snow_namespaces (
    namespace     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    layout        VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    registry_uuid CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    workers       INT NOT NULL,
    loss_ms       INT NOT NULL,
    probation_ms  INT NOT NULL,
    min_renew_ms  INT NOT NULL,
    raise_ms      INT NOT NULL,
    first_ms      INT NOT NULL,
    window_ms     INT NOT NULL,
    grace_ms      INT NOT NULL,
    pinned_ms     INT NOT NULL,
    claim_ms      INT NOT NULL,
    PRIMARY KEY (namespace)
) ENGINE=InnoDB;
