-- facts
SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), @@global.read_only, @@autocommit, @@global.innodb_flush_log_at_trx_commit, @@global.log_bin, @@global.sync_binlog, @@global.innodb_flush_log_at_timeout, 0 /*M! + @@in_transaction */, @@sql_log_bin, @@global.innodb_flush_method;

-- look at a session
SET @snow = 1 + IF((@@autocommit = 0 /*M! OR @@in_transaction = 0 */ /*!50720 OR @@autocommit = 1 */) AND CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), 0, 9223372036854775807);

-- look at a session
SET /*!50720 @@transaction_isolation = @@transaction_isolation, */ @snow = 1 + IF(@@autocommit = 1 /*M! AND @@in_transaction = 0 */ AND (@@global.log_bin = 0 OR @@sql_log_bin = 1) AND CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), 0, 9223372036854775807);

-- look at a session
SET /*!50720 @@transaction_isolation = @@transaction_isolation, */ @snow = 1 + IF(@@autocommit = 1 /*M! AND @@in_transaction = 0 */ AND (@@global.log_bin = 0 OR @@sql_log_bin = 1) AND @@global.innodb_flush_log_at_trx_commit IN (1, 3) AND (@@global.log_bin = 0 OR @@global.sync_binlog = 1) AND COALESCE(@@global.innodb_flush_method, '') NOT IN ('nosync', 'littlesync') AND CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), 0, 9223372036854775807);

-- find a worker: namespace, start, end, epoch, tick, slack, epoch, tick, grace, claim, grace_ms, epoch, tick, slack
SELECT worker_id, fence, ceiling_tick FROM snow_workers WHERE namespace = ? AND worker_id >= ? AND worker_id < ? AND (state = 0 AND ceiling_tick <= (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ? OR state = 2 AND (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) >= ceiling_tick + ? OR state = 1 AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) > (claimed_at_ms + ? + ?) * 1000 AND ceiling_tick <= (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ?) ORDER BY worker_id LIMIT 64;

-- count the workers: epoch, tick, late, slack, grace, claim, grace_ms, epoch, tick, slack, namespace
SELECT COUNT(CASE WHEN state = 1 OR state = 2 AND (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) < ceiling_tick AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) < (renewed_at_ms + ?) * 1000 THEN 1 END), COUNT(CASE WHEN state <> 3 THEN 1 END), MIN(CASE state WHEN 0 THEN ceiling_tick - ? WHEN 2 THEN ceiling_tick + ? WHEN 1 THEN GREATEST(((claimed_at_ms + ? + ?) * 1000000 - ?) DIV ?, ceiling_tick - ?) END) FROM snow_workers WHERE namespace = ?;

-- read the worker: namespace, worker
SELECT state, owner, fence, floor_tick, ceiling_tick, claimed_at_ms, holder, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) FROM snow_workers WHERE namespace = ? AND worker_id = ?;

-- acquire: epoch, tick, epoch, tick, window, owner, holder, mark, namespace, worker, fence, seen, earliest, latest, epoch, tick, slack, epoch, tick, grace, claim, grace_ms, epoch, tick, slack
UPDATE snow_workers SET floor_tick = GREATEST(ceiling_tick, (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?)), ceiling_tick = GREATEST(ceiling_tick, (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?)) + ?, state = 2, owner = ?, fence = fence + 1, claimed_at_ms = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000, renewed_at_ms = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000, renew_seq = renew_seq + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)), holder = ? WHERE @snow = ? AND namespace = ? AND worker_id = ? AND fence = ? AND ceiling_tick = ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) BETWEEN ? AND ? AND (state = 0 AND ceiling_tick <= (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ? OR state = 2 AND (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) >= ceiling_tick + ? OR state = 1 AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) > (claimed_at_ms + ? + ?) * 1000 AND ceiling_tick <= (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ?);

-- claim: owner, holder, mark, namespace, worker, fence, seen, earliest, latest, epoch, tick, slack, epoch, tick, grace, claim, grace_ms, epoch, tick, slack
UPDATE snow_workers SET state = 1, owner = ?, fence = fence + 1, claimed_at_ms = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000, renew_seq = renew_seq + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)), holder = ? WHERE @snow = ? AND namespace = ? AND worker_id = ? AND fence = ? AND ceiling_tick = ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) BETWEEN ? AND ? AND (state = 0 AND ceiling_tick <= (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ? OR state = 2 AND (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) >= ceiling_tick + ? OR state = 1 AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) > (claimed_at_ms + ? + ?) * 1000 AND ceiling_tick <= (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ?);

-- begin the window: epoch, tick, epoch, tick, first, mark, namespace, worker, owner, fence, seen, earliest, latest, probation, claim
UPDATE snow_workers SET floor_tick = GREATEST(ceiling_tick, (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?)), ceiling_tick = GREATEST(ceiling_tick, (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?)) + ?, state = 2, renewed_at_ms = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000, renew_seq = renew_seq + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)) WHERE @snow = ? AND namespace = ? AND worker_id = ? AND owner = ? AND fence = ? AND state = 1 AND ceiling_tick = ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) BETWEEN ? AND ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) BETWEEN (claimed_at_ms + ?) * 1000 AND (claimed_at_ms + ?) * 1000;

-- renew: epoch, tick, window, cap, mark, namespace, worker, owner, fence, acked, acked, epoch, tick, acked, loss, epoch, tick, min_renew
UPDATE snow_workers SET ceiling_tick = GREATEST(ceiling_tick, LEAST((((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ?, ?)), renewed_at_ms = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000, renew_seq = renew_seq + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)) WHERE @snow = ? AND namespace = ? AND worker_id = ? AND owner = ? AND fence = ? AND state = 2 AND ceiling_tick >= ? AND (? > floor_tick OR (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) < ?) AND (? = 0 OR (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) < ceiling_tick AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) >= (renewed_at_ms + ?) * 1000);

-- reassert the window: acked, mark, namespace, worker, owner, fence
UPDATE snow_workers SET ceiling_tick = GREATEST(ceiling_tick, ?), renewed_at_ms = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000, renew_seq = renew_seq + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)) WHERE @snow = ? AND namespace = ? AND worker_id = ? AND owner = ? AND fence = ? AND state = 2;

-- confirm the window: mark, namespace, worker, owner, fence, state, seen
UPDATE snow_workers SET renewed_at_ms = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000, renew_seq = renew_seq + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)) WHERE @snow = ? AND namespace = ? AND worker_id = ? AND owner = ? AND fence = ? AND state = ? AND ceiling_tick = ?;

-- release: next, mark, namespace, worker, owner, fence, next
UPDATE snow_workers SET state = 0, owner = NULL, ceiling_tick = ?, renewed_at_ms = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000, renew_seq = renew_seq + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)) WHERE @snow = ? AND namespace = ? AND worker_id = ? AND owner = ? AND fence = ? AND state = 2 AND floor_tick <= ?;

-- release: probation, epoch, tick, mark, namespace, worker, owner, fence
UPDATE snow_workers SET state = 0, owner = NULL, ceiling_tick = GREATEST(ceiling_tick, ((claimed_at_ms + ?) * 1000000 - ?) DIV ?), renewed_at_ms = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000, renew_seq = renew_seq + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)) WHERE @snow = ? AND namespace = ? AND worker_id = ? AND owner = ? AND fence = ? AND state = 1;

-- fence
UPDATE snow_workers SET floor_tick = GREATEST(ceiling_tick, (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ?), ceiling_tick = GREATEST(ceiling_tick, (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ?), renew_seq = renew_seq + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)) WHERE @snow = ? AND namespace = ?;

-- segments: span, mark, tag, modulus, residue, residue, space, space, least, most
UPDATE snow_segments SET takes = takes + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), next_id, 0)), next_id = next_id + ? WHERE @snow = ? AND tag = ? AND state = 1 AND modulus = ? AND next_id % modulus = residue AND (? < 0 OR residue = ?) AND (? = '' OR space_uuid = ?) AND next_id >= ? AND next_id <= ?;

-- segments: tag
SELECT space_uuid, modulus, residue, state, next_id FROM snow_segments WHERE tag = ?;

-- segments: tag, space, modulus, residue, next
INSERT INTO snow_segments (tag, space_uuid, modulus, residue, state, next_id, takes) VALUES (?, ?, ?, ?, 0, ?, 0);

-- segments: mark, tag, space, modulus, residue
UPDATE snow_segments SET state = 1, takes = takes + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)) WHERE @snow = ? AND tag = ? AND space_uuid = ? AND modulus = ? AND residue = ? AND state = 0;

-- segments: mark, tag, space, least
UPDATE snow_segments SET state = 2, takes = takes + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)) WHERE @snow = ? AND tag = ? AND space_uuid = ? AND state = 1 AND next_id < ?;

-- segments: next, next, mark, tag
UPDATE snow_segments SET next_id = GREATEST(next_id, ? + (residue - ? % modulus + modulus) % modulus), state = CASE state WHEN 2 THEN 1 ELSE state END, takes = takes + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)) WHERE @snow = ? AND tag = ? AND modulus > 0;
