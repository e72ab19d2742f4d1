
-- taker, span, mark, tag, modulus, residue, residue, space, space, least, most
UPDATE `shop`.snow_segments SET takes = takes - takes % 1048576 + 1048575 + ? + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), next_id, 0)), next_id = next_id + ? WHERE @snow = ? AND tag = ? AND state = 1 AND modulus = ? AND next_id % modulus = residue AND (? < 0 OR residue = ?) AND (? = '' OR space_uuid = ?) AND next_id >= ? AND next_id <= ?;

-- unused, mark, tag, modulus, end, takes
UPDATE `shop`.snow_segments SET takes = takes + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)), next_id = ? WHERE @snow = ? AND tag = ? AND state = 1 AND modulus = ? AND next_id = ? AND takes = ?;

-- mark, tag, modulus, end
SELECT takes FROM `shop`.snow_segments WHERE @snow = ? AND tag = ? AND state = 1 AND modulus = ? AND next_id = ?;

-- mark, tag
SELECT space_uuid, modulus, residue, state, next_id FROM `shop`.snow_segments WHERE @snow = ? AND tag = ?;

-- tag, space, modulus, residue, next
INSERT INTO `shop`.snow_segments (tag, space_uuid, modulus, residue, state, next_id, takes) VALUES (?, ?, ?, ?, 0, ?, 0);

-- mark, tag, space, modulus, residue
UPDATE `shop`.snow_segments SET state = 1, takes = takes + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)) WHERE @snow = ? AND tag = ? AND space_uuid = ? AND modulus = ? AND residue = ? AND state = 0;

-- mark, tag, space, least
UPDATE `shop`.snow_segments SET state = 2, takes = takes + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)) WHERE @snow = ? AND tag = ? AND space_uuid = ? AND state = 1 AND next_id < ?;

-- next, next, mark, tag
UPDATE `shop`.snow_segments SET next_id = GREATEST(next_id, ? + (residue - ? % modulus + modulus) % modulus), state = CASE state WHEN 2 THEN 1 ELSE state END, takes = takes + 1 + 0 * LAST_INSERT_ID(IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0)) WHERE @snow = ? AND tag = ? AND modulus > 0;
