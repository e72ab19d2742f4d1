
-- taker, span, mark, tag, modulus, residue, residue, space, space, least, most
UPDATE "shop".snow_segments SET takes = takes - takes % 1048576 + 1048575 + $1 + 1, next_id = next_id + $2 FROM (SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode) AS durable WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $3 AND durable.mode <> '' AND current_setting('fsync') = 'on' AND tag = $4 AND state = 1 AND modulus = $5 AND next_id % modulus = residue AND ($6 < 0 OR residue = $7) AND ($8 = '' OR space_uuid = $9) AND next_id >= $10 AND next_id <= $11 RETURNING next_id, residue, space_uuid;

-- unused, mark, tag, modulus, end, takes
UPDATE "shop".snow_segments SET takes = takes + 1, next_id = $1 FROM (SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode) AS durable WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $2 AND durable.mode <> '' AND tag = $3 AND state = 1 AND modulus = $4 AND next_id = $5 AND takes = $6;

-- mark, tag, modulus, end
SELECT takes FROM "shop".snow_segments WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $1 AND tag = $2 AND state = 1 AND modulus = $3 AND next_id = $4;

-- mark, tag
SELECT space_uuid, modulus, residue, state, next_id FROM "shop".snow_segments WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $1 AND tag = $2;

-- tag, space, modulus, residue, next
INSERT INTO "shop".snow_segments (tag, space_uuid, modulus, residue, state, next_id, takes) VALUES ($1, $2, $3, $4, 0, $5, 0);

-- mark, tag, space, modulus, residue
UPDATE "shop".snow_segments SET state = 1, takes = takes + 1 FROM (SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode) AS durable WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $1 AND durable.mode <> '' AND current_setting('fsync') = 'on' AND tag = $2 AND space_uuid = $3 AND modulus = $4 AND residue = $5 AND state = 0;

-- mark, tag, space, least
UPDATE "shop".snow_segments SET state = 2, takes = takes + 1 FROM (SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode) AS durable WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $1 AND durable.mode <> '' AND tag = $2 AND space_uuid = $3 AND state = 1 AND next_id < $4;

-- next, next, mark, tag
UPDATE "shop".snow_segments SET next_id = GREATEST(next_id, $1 + (residue - $2 % modulus + modulus) % modulus), state = CASE state WHEN 2 THEN 1 ELSE state END, takes = takes + 1 FROM (SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode) AS durable WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $3 AND durable.mode <> '' AND current_setting('fsync') = 'on' AND tag = $4 AND modulus > 0;
