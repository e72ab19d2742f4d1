-- server info
SELECT (CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000), (SELECT COUNT(*) FROM sqlite_master WHERE name IN ('snow_namespaces', 'snow_workers')), (SELECT synchronous FROM pragma_synchronous), (SELECT journal_mode FROM pragma_journal_mode);
