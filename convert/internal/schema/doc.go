// Package schema reads what a database has, beside what package merge reads of it: who counts keys, the tables' own
// triggers, partitions, sizes, settings and rights. It only reads.
//
//	schema.go     what is read
//	read.go       queries as rows of texts
//	mysql.go      information_schema of MySQL and MariaDB
//	postgres.go   pg_catalog
//	server_mysql.go server_postgres.go  settings and rights because of which a conversion is not possible
//	grants.go     what SHOW GRANTS says
//	algorithm.go  how MySQL and MariaDB carry out ALTER TABLE
package schema
