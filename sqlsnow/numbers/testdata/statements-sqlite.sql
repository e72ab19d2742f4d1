
-- series, scope, kind, count, begin, end, count, room
INSERT INTO "main".snow_numbers (series, scope, pattern, zone, kind, restarts, state, last_number) SELECT CAST(?1 AS TEXT), CAST(?2 AS TEXT), '', '', CAST(?3 AS INTEGER), 0, 1, CAST(?4 AS BIGINT) WHERE (CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000) >= ?5 AND (CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000) < ?6 ON CONFLICT (series, scope) DO UPDATE SET last_number = "main".snow_numbers.last_number + ?7 WHERE "main".snow_numbers.last_number <= ?8 RETURNING last_number;

-- 
SELECT (CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000);

-- series
SELECT pattern, zone, kind, restarts, (CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000) FROM "main".snow_numbers WHERE series = ?1 AND scope = '';

-- series, pattern, zone, kind, restarts
INSERT INTO "main".snow_numbers (series, scope, pattern, zone, kind, restarts, state, last_number) VALUES (?1, '', ?2, ?3, ?4, ?5, 1, 0);

-- count, series, scope, least, room, begin, end
UPDATE "main".snow_numbers SET state = 1, last_number = last_number + ?1 WHERE ((SELECT synchronous FROM pragma_synchronous) = 3 AND (SELECT journal_mode FROM pragma_journal_mode) NOT IN ('memory', 'off') OR (SELECT synchronous FROM pragma_synchronous) = 2 AND (SELECT journal_mode FROM pragma_journal_mode) IN ('wal', 'truncate', 'persist')) AND series = ?2 AND scope = ?3 AND state = 1 AND last_number >= ?4 AND last_number <= ?5 AND (CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000) >= ?6 AND (CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000) < ?7 RETURNING last_number;

-- count, old, new, series, scope, has, least, room, begin, end
UPDATE "main".snow_numbers SET state = 1, last_number = last_number + ?1, pending = SUBSTR(REPLACE(REPLACE(pending, ?2, ''), '!', ?3), 1, 8101) WHERE ((SELECT synchronous FROM pragma_synchronous) = 3 AND (SELECT journal_mode FROM pragma_journal_mode) NOT IN ('memory', 'off') OR (SELECT synchronous FROM pragma_synchronous) = 2 AND (SELECT journal_mode FROM pragma_journal_mode) IN ('wal', 'truncate', 'persist')) AND series = ?4 AND scope = ?5 AND state = 1 AND pending LIKE ?6 AND last_number >= ?7 AND last_number <= ?8 AND (CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000) >= ?9 AND (CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000) < ?10 RETURNING last_number;

-- old, new, series, pattern, zone, kind, restarts, has
UPDATE "main".snow_numbers SET state = 1, pending = SUBSTR(REPLACE(REPLACE(pending, ?1, ''), '!', ?2), 1, 8101) WHERE ((SELECT synchronous FROM pragma_synchronous) = 3 AND (SELECT journal_mode FROM pragma_journal_mode) NOT IN ('memory', 'off') OR (SELECT synchronous FROM pragma_synchronous) = 2 AND (SELECT journal_mode FROM pragma_journal_mode) IN ('wal', 'truncate', 'persist')) AND series = ?3 AND scope = '' AND pattern = ?4 AND zone = ?5 AND kind = ?6 AND restarts = ?7 AND pending LIKE ?8;

-- series, scope, kind
INSERT INTO "main".snow_numbers (series, scope, pattern, zone, kind, restarts, state, last_number) VALUES (?1, ?2, '', '', ?3, 0, 1, 0);

-- series, scope
SELECT state, last_number, pending, (CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000) FROM "main".snow_numbers WHERE series = ?1 AND scope = ?2;

-- series, scope, least
UPDATE "main".snow_numbers SET state = 2 * 1 WHERE ((SELECT synchronous FROM pragma_synchronous) = 3 AND (SELECT journal_mode FROM pragma_journal_mode) NOT IN ('memory', 'off') OR (SELECT synchronous FROM pragma_synchronous) = 2 AND (SELECT journal_mode FROM pragma_journal_mode) IN ('wal', 'truncate', 'persist')) AND series = ?1 AND scope = ?2 AND state = 1 AND last_number < ?3;

-- last, series, scope
UPDATE "main".snow_numbers SET state = 1, last_number = MAX(last_number, ?1) WHERE ((SELECT synchronous FROM pragma_synchronous) = 3 AND (SELECT journal_mode FROM pragma_journal_mode) NOT IN ('memory', 'off') OR (SELECT synchronous FROM pragma_synchronous) = 2 AND (SELECT journal_mode FROM pragma_journal_mode) IN ('wal', 'truncate', 'persist')) AND series = ?2 AND scope = ?3;

-- 
SELECT series, scope, pattern, zone, kind, restarts, state, last_number FROM "main".snow_numbers ORDER BY series, scope LIMIT 9223372036854775807;
