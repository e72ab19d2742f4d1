DROP TABLE IF EXISTS snow_namespaces;
