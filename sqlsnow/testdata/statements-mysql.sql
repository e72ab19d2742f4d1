-- facts
SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), @@global.read_only, @@autocommit, @@global.innodb_flush_log_at_trx_commit, @@global.log_bin, @@global.sync_binlog;

-- find a worker: namespace, start, end, epoch, tick, slack, epoch, tick, grace, claim, grace_ms
SELECT worker_id, fence, ceiling_tick FROM snow_workers WHERE namespace = ? AND worker_id >= ? AND worker_id < ? AND (state = 0 AND ceiling_tick <= (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ? OR state = 2 AND (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) >= ceiling_tick + ? OR state = 1 AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) > (claimed_at_ms + ? + ?) * 1000) ORDER BY worker_id LIMIT 64;

-- count the workers: epoch, tick, late, slack, grace, claim, grace_ms, epoch, tick, namespace
SELECT COUNT(CASE WHEN state = 1 OR state = 2 AND (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) < ceiling_tick AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) < (renewed_at_ms + ?) * 1000 THEN 1 END), COUNT(CASE WHEN state <> 3 THEN 1 END), MIN(CASE state WHEN 0 THEN ceiling_tick - ? WHEN 2 THEN ceiling_tick + ? WHEN 1 THEN ((claimed_at_ms + ? + ?) * 1000000 - ?) DIV ? END) FROM snow_workers WHERE namespace = ?;

-- read the worker: namespace, worker
SELECT state, owner, fence, floor_tick, ceiling_tick, claimed_at_ms, holder, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) FROM snow_workers WHERE namespace = ? AND worker_id = ?;

-- acquire: epoch, tick, epoch, tick, window, owner, holder, namespace, worker, fence, seen, earliest, latest, epoch, tick, slack, epoch, tick, grace, claim, grace_ms
UPDATE snow_workers SET floor_tick = GREATEST(ceiling_tick, (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?)), ceiling_tick = GREATEST(ceiling_tick, (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?)) + ?, state = 2, owner = ?, fence = fence + 1, claimed_at_ms = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000, renewed_at_ms = LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) DIV 1000, renew_seq = renew_seq + 1, holder = ? WHERE @@autocommit = 1 AND namespace = ? AND worker_id = ? AND fence = ? AND ceiling_tick = ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) BETWEEN ? AND ? AND (state = 0 AND ceiling_tick <= (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ? OR state = 2 AND (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) >= ceiling_tick + ? OR state = 1 AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) > (claimed_at_ms + ? + ?) * 1000);

-- claim: owner, holder, namespace, worker, fence, seen, earliest, latest, epoch, tick, slack, epoch, tick, grace, claim, grace_ms
UPDATE snow_workers SET state = 1, owner = ?, fence = fence + 1, claimed_at_ms = LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) DIV 1000, renew_seq = renew_seq + 1, holder = ? WHERE @@autocommit = 1 AND namespace = ? AND worker_id = ? AND fence = ? AND ceiling_tick = ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) BETWEEN ? AND ? AND (state = 0 AND ceiling_tick <= (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ? OR state = 2 AND (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) >= ceiling_tick + ? OR state = 1 AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) > (claimed_at_ms + ? + ?) * 1000);

-- begin the window: epoch, tick, epoch, tick, first, namespace, worker, owner, fence, seen, earliest, latest, probation, claim
UPDATE snow_workers SET floor_tick = GREATEST(ceiling_tick, (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?)), ceiling_tick = GREATEST(ceiling_tick, (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?)) + ?, state = 2, renewed_at_ms = LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) DIV 1000, renew_seq = renew_seq + 1 WHERE @@autocommit = 1 AND namespace = ? AND worker_id = ? AND owner = ? AND fence = ? AND state = 1 AND ceiling_tick = ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) BETWEEN ? AND ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) BETWEEN (claimed_at_ms + ?) * 1000 AND (claimed_at_ms + ?) * 1000;

-- renew: epoch, tick, window, cap, namespace, worker, owner, fence, acked, loss, epoch, tick, min_renew
UPDATE snow_workers SET ceiling_tick = GREATEST(ceiling_tick, LEAST((((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ?, ?)), renewed_at_ms = LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) DIV 1000, renew_seq = renew_seq + 1 WHERE @@autocommit = 1 AND namespace = ? AND worker_id = ? AND owner = ? AND fence = ? AND state = 2 AND ceiling_tick >= ? AND (? = 0 OR (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) < ceiling_tick AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) >= (renewed_at_ms + ?) * 1000);

-- reassert the window: acked, namespace, worker, owner, fence
UPDATE snow_workers SET ceiling_tick = GREATEST(ceiling_tick, ?), renewed_at_ms = LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) DIV 1000, renew_seq = renew_seq + 1 WHERE @@autocommit = 1 AND namespace = ? AND worker_id = ? AND owner = ? AND fence = ? AND state = 2;

-- release: next, namespace, worker, owner, fence
UPDATE snow_workers SET state = 0, owner = NULL, ceiling_tick = ?, renewed_at_ms = LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) DIV 1000, renew_seq = renew_seq + 1 WHERE @@autocommit = 1 AND namespace = ? AND worker_id = ? AND owner = ? AND fence = ? AND state = 2;

-- release: namespace, worker, owner, fence
UPDATE snow_workers SET state = 0, owner = NULL, renewed_at_ms = LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) DIV 1000, renew_seq = renew_seq + 1 WHERE @@autocommit = 1 AND namespace = ? AND worker_id = ? AND owner = ? AND fence = ? AND state = 1;

-- fence
UPDATE snow_workers SET ceiling_tick = GREATEST(ceiling_tick, (((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) * 1000 - ?) DIV ?) + ?), renew_seq = renew_seq + 1 WHERE @@autocommit = 1 AND namespace = ?;
