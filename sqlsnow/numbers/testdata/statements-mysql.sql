
-- series, scope, kind, count, begin, end, room, count
INSERT INTO `shop`.snow_numbers (series, scope, pattern, zone, kind, restarts, state, last_number) SELECT ?, ?, '', '', ?, 0, 1, LAST_INSERT_ID(?) FROM DUAL WHERE TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) >= ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) < ? ON DUPLICATE KEY UPDATE last_number = IF(last_number <= ?, LAST_INSERT_ID(last_number + ?), last_number + 0 * LAST_INSERT_ID(0));

-- 
SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));

-- mark, series
SELECT pattern, zone, kind, restarts, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) FROM `shop`.snow_numbers WHERE @snow = ? AND series = ? AND scope = '';

-- series, pattern, zone, kind, restarts
INSERT INTO `shop`.snow_numbers (series, scope, pattern, zone, kind, restarts, state, last_number) VALUES (?, '', ?, ?, ?, ?, 1, 0);

-- count, mark, series, scope, least, room, begin, end
UPDATE `shop`.snow_numbers SET state = 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), last_number + 1, 0)), last_number = last_number + ? WHERE @snow = ? AND series = ? AND scope = ? AND state = 1 AND last_number >= ? AND last_number <= ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) >= ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) < ?;

-- count, old, new, mark, series, scope, has, least, room, begin, end
UPDATE `shop`.snow_numbers SET state = 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), last_number + 1, 0)), last_number = last_number + ?, pending = SUBSTR(REPLACE(REPLACE(pending, ?, ''), '!', ?), 1, 8101) WHERE @snow = ? AND series = ? AND scope = ? AND state = 1 AND pending LIKE ? AND last_number >= ? AND last_number <= ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) >= ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) < ?;

-- old, new, mark, series, pattern, zone, kind, restarts, has
UPDATE `shop`.snow_numbers SET state = 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), last_number + 1, 0)), pending = SUBSTR(REPLACE(REPLACE(pending, ?, ''), '!', ?), 1, 8101) WHERE @snow = ? AND series = ? AND scope = '' AND pattern = ? AND zone = ? AND kind = ? AND restarts = ? AND pending LIKE ?;

-- series, scope, kind
INSERT INTO `shop`.snow_numbers (series, scope, pattern, zone, kind, restarts, state, last_number) VALUES (?, ?, '', '', ?, 0, 1, 0);

-- mark, series, scope
SELECT state, last_number, pending, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) FROM `shop`.snow_numbers WHERE @snow = ? AND series = ? AND scope = ?;

-- mark, series, scope, least
UPDATE `shop`.snow_numbers SET state = 2 * 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), last_number + 1, 0)) WHERE @snow = ? AND series = ? AND scope = ? AND state = 1 AND last_number < ?;

-- last, mark, series, scope
UPDATE `shop`.snow_numbers SET state = 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), last_number + 1, 0)), last_number = GREATEST(last_number, ?) WHERE @snow = ? AND series = ? AND scope = ?;

-- 
SELECT series, scope, pattern, zone, kind, restarts, state, last_number FROM `shop`.snow_numbers ORDER BY series, scope LIMIT 9223372036854775807;
