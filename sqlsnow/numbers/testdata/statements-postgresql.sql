
-- series, scope, kind, count, begin, end, count, room
INSERT INTO "shop".snow_numbers (series, scope, pattern, zone, kind, restarts, state, last_number) SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), '', '', CAST($3 AS INTEGER), 0, 1, CAST($4 AS BIGINT) WHERE CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT) >= $5 AND CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT) < $6 ON CONFLICT (series, scope) DO UPDATE SET last_number = "shop".snow_numbers.last_number + $7 WHERE "shop".snow_numbers.last_number <= $8 RETURNING last_number;

-- 
SELECT CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT);

-- mark, series
SELECT pattern, zone, kind, restarts, CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT) FROM "shop".snow_numbers WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $1 AND series = $2 AND scope = '';

-- series, pattern, zone, kind, restarts
INSERT INTO "shop".snow_numbers (series, scope, pattern, zone, kind, restarts, state, last_number) VALUES ($1, '', $2, $3, $4, $5, 1, 0);

-- count, mark, series, scope, least, room, begin, end
UPDATE "shop".snow_numbers SET state = 1, last_number = last_number + $1 FROM (SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode) AS durable WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $2 AND durable.mode <> '' AND current_setting('fsync') = 'on' AND series = $3 AND scope = $4 AND state = 1 AND last_number >= $5 AND last_number <= $6 AND CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT) >= $7 AND CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT) < $8 RETURNING last_number;

-- count, old, new, mark, series, scope, has, least, room, begin, end
UPDATE "shop".snow_numbers SET state = 1, last_number = last_number + $1, pending = SUBSTR(REPLACE(REPLACE(pending, $2, ''), '!', $3), 1, 8101) FROM (SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode) AS durable WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $4 AND durable.mode <> '' AND current_setting('fsync') = 'on' AND series = $5 AND scope = $6 AND state = 1 AND pending LIKE $7 AND last_number >= $8 AND last_number <= $9 AND CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT) >= $10 AND CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT) < $11 RETURNING last_number;

-- old, new, mark, series, pattern, zone, kind, restarts, has
UPDATE "shop".snow_numbers SET state = 1, pending = SUBSTR(REPLACE(REPLACE(pending, $1, ''), '!', $2), 1, 8101) FROM (SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode) AS durable WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $3 AND durable.mode <> '' AND current_setting('fsync') = 'on' AND series = $4 AND scope = '' AND pattern = $5 AND zone = $6 AND kind = $7 AND restarts = $8 AND pending LIKE $9;

-- series, scope, kind
INSERT INTO "shop".snow_numbers (series, scope, pattern, zone, kind, restarts, state, last_number) VALUES ($1, $2, '', '', $3, 0, 1, 0);

-- mark, series, scope
SELECT state, last_number, pending, CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT) FROM "shop".snow_numbers WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $1 AND series = $2 AND scope = $3;

-- mark, series, scope, least
UPDATE "shop".snow_numbers SET state = 2 * 1 FROM (SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode) AS durable WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $1 AND durable.mode <> '' AND series = $2 AND scope = $3 AND state = 1 AND last_number < $4;

-- last, mark, series, scope
UPDATE "shop".snow_numbers SET state = 1, last_number = GREATEST(last_number, $1) FROM (SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS mode) AS durable WHERE CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT) <> $2 AND durable.mode <> '' AND current_setting('fsync') = 'on' AND series = $3 AND scope = $4;

-- 
SELECT series, scope, pattern, zone, kind, restarts, state, last_number FROM "shop".snow_numbers ORDER BY series, scope LIMIT 9223372036854775807;
