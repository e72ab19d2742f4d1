// Package convert_test converts databases in place while old programs, which let the database number their rows, and
// new ones, which bring snow ids, write into them. Each writer has rows that no other writer touches, and knows what
// must have become of them.
//
//	catalog_test.go     the tables, columns and foreign keys of a database
//	shop_test.go        a shop of 20 tables, generated from a seed
//	schemas_test.go     public schemas: Flarum's, and Chinook's
//	model_test.go       what must be in the tables
//	writer_test.go      old and new writers
//	blocked_test.go     how long their statements waited
//	fuse_test.go        a connection that ends after some statements
//	world_test.go       a database, its writers and its conversion
//	convert_test.go     the whole conversion
//	killed_test.go      conversions that are killed, and continued
//	back_test.go        conversions that are taken back
package convert_test
