-- server info
SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), @@global.read_only, @@autocommit, @@global.innodb_flush_log_at_trx_commit, @@global.log_bin, @@global.sync_binlog, @@global.innodb_flush_log_at_timeout, 0 /*M! + @@in_transaction */, @@sql_log_bin, @@global.innodb_flush_method;

-- look at a session
SET /*!50720 @@transaction_isolation = @@transaction_isolation, */ @snow = 1 + IF((@@autocommit = 0 /*M! OR @@in_transaction = 0 */ /*!50720 OR @@autocommit = 1 */) AND CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), 0, 9223372036854775807);

-- look at a session
SET /*!50720 @@transaction_isolation = @@transaction_isolation, */ @snow = 1 + IF(@@autocommit = 1 /*M! AND @@in_transaction = 0 */ AND (@@global.log_bin = 0 OR @@sql_log_bin = 1) AND CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), 0, 9223372036854775807);

-- look at a session
SET /*!50720 @@transaction_isolation = @@transaction_isolation, */ @snow = 1 + IF(@@autocommit = 1 /*M! AND @@in_transaction = 0 */ AND (@@global.log_bin = 0 OR @@sql_log_bin = 1) AND @@global.innodb_flush_log_at_trx_commit IN (1, 3) AND (@@global.log_bin = 0 OR @@global.sync_binlog = 1) AND COALESCE(@@global.innodb_flush_method, '') NOT IN ('nosync', 'littlesync') AND CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), 0, 9223372036854775807);
