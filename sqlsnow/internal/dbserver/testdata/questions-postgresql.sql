-- server info
SELECT CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT), pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', current_setting('fsync'), current_setting('synchronous_standby_names'), pg_has_role('pg_read_all_stats', 'USAGE');
