
-- taker, span, tag, modulus, residue, residue, space, space, least, most
UPDATE "main".snow_segments SET takes = takes - takes % 1048576 + 1048575 + ?1 + 1, next_id = next_id + ?2 WHERE ((SELECT synchronous FROM pragma_synchronous) = 3 AND (SELECT journal_mode FROM pragma_journal_mode) NOT IN ('memory', 'off') OR (SELECT synchronous FROM pragma_synchronous) = 2 AND (SELECT journal_mode FROM pragma_journal_mode) IN ('wal', 'truncate', 'persist')) AND tag = ?3 AND state = 1 AND modulus = ?4 AND next_id % modulus = residue AND (?5 < 0 OR residue = ?6) AND (?7 = '' OR space_uuid = ?8) AND next_id >= ?9 AND next_id <= ?10 RETURNING next_id, residue, space_uuid;

-- unused, tag, modulus, end, takes
UPDATE "main".snow_segments SET takes = takes + 1, next_id = ?1 WHERE ((SELECT synchronous FROM pragma_synchronous) = 3 AND (SELECT journal_mode FROM pragma_journal_mode) NOT IN ('memory', 'off') OR (SELECT synchronous FROM pragma_synchronous) = 2 AND (SELECT journal_mode FROM pragma_journal_mode) IN ('wal', 'truncate', 'persist')) AND tag = ?2 AND state = 1 AND modulus = ?3 AND next_id = ?4 AND takes = ?5;

-- tag, modulus, end
SELECT takes FROM "main".snow_segments WHERE tag = ?1 AND state = 1 AND modulus = ?2 AND next_id = ?3;

-- tag
SELECT space_uuid, modulus, residue, state, next_id FROM "main".snow_segments WHERE tag = ?1;

-- tag, space, modulus, residue, next
INSERT INTO "main".snow_segments (tag, space_uuid, modulus, residue, state, next_id, takes) VALUES (?1, ?2, ?3, ?4, 0, ?5, 0);

-- tag, space, modulus, residue
UPDATE "main".snow_segments SET state = 1, takes = takes + 1 WHERE ((SELECT synchronous FROM pragma_synchronous) = 3 AND (SELECT journal_mode FROM pragma_journal_mode) NOT IN ('memory', 'off') OR (SELECT synchronous FROM pragma_synchronous) = 2 AND (SELECT journal_mode FROM pragma_journal_mode) IN ('wal', 'truncate', 'persist')) AND tag = ?1 AND space_uuid = ?2 AND modulus = ?3 AND residue = ?4 AND state = 0;

-- tag, space, least
UPDATE "main".snow_segments SET state = 2, takes = takes + 1 WHERE ((SELECT synchronous FROM pragma_synchronous) = 3 AND (SELECT journal_mode FROM pragma_journal_mode) NOT IN ('memory', 'off') OR (SELECT synchronous FROM pragma_synchronous) = 2 AND (SELECT journal_mode FROM pragma_journal_mode) IN ('wal', 'truncate', 'persist')) AND tag = ?1 AND space_uuid = ?2 AND state = 1 AND next_id < ?3;

-- next, next, tag
UPDATE "main".snow_segments SET next_id = MAX(next_id, ?1 + (residue - ?2 % modulus + modulus) % modulus), state = CASE state WHEN 2 THEN 1 ELSE state END, takes = takes + 1 WHERE ((SELECT synchronous FROM pragma_synchronous) = 3 AND (SELECT journal_mode FROM pragma_journal_mode) NOT IN ('memory', 'off') OR (SELECT synchronous FROM pragma_synchronous) = 2 AND (SELECT journal_mode FROM pragma_journal_mode) IN ('wal', 'truncate', 'persist')) AND tag = ?3 AND modulus > 0;
