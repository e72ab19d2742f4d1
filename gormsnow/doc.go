// Package gormsnow gives the rows that GORM inserts keys from a [snow.Source]
// instead of AUTO_INCREMENT, so that the keys of several databases never clash.
//
//	db, err := gorm.Open(…)
//	err = db.Use(gormsnow.New(generator))
//
// [github.com/shardsnow/snow/sqlsnow.Open] leases the worker number for the
// generator. [Check] looks at start-up for what is left of AUTO_INCREMENT.
// [CreateOnce] makes a retry safe. [After] and [Before] page by key, [FindAcross]
// pages over all shards, and [Created] selects a time range by key. Package
// [github.com/shardsnow/snow/gormsnow/route] sends statements to the database of
// their shard. [Numbers] fills fields with numbers that people see, such as INV-2026-000123.
//
// A key that is zero, or a pointer to zero, gets an id before the insert. There
// is one call of the source for each INSERT statement, and ids ascend in the
// order of the rows. A value that the caller has set is never replaced.
//
// # Which fields are keys
//
// A field of type [snow.ID] or *[snow.ID] that is the only primary key needs no
// tag. [Model], which is embedded like [gorm.Model], has one, and so has
// [SoftModel], whose JSON has DeletedAt.
//
//	type Order struct {
//		ID    snow.ID
//		Buyer string
//	}
//
// Any other key needs the tag gorm:"snowflake". It is a snow.ID, a 64-bit integer, a
// string, which gets the decimal digits, or a pointer to one of these. It need
// not be a primary key, and a model may have several. An integer that is the
// primary key also needs autoIncrement:false, because GORM makes it
// AUTO_INCREMENT otherwise:
//
//	type Invoice struct {
//		ID     int64  `gorm:"primaryKey;autoIncrement:false;snowflake"`
//		Number string `gorm:"snowflake"`
//	}
//
// A member of a composite primary key is a key only if it is tagged, as the ID
// of Model is. The program must set a snow.ID in a primary key that the plugin
// does not fill: zero is refused. The tag snowflake:false leaves a key to the
// program.
//
// A type that is defined as snow.ID (type OrderID snow.ID) does not have the methods
// of snow.ID, so GORM makes a primary key of that type AUTO_INCREMENT, and the plugin
// can't distinguish it from other named types of int64. A zero of any such type is
// refused unless the tag says autoIncrement.
//
// Keys in embedded structs, with or without a prefix, are keys of the model. A
// key that is also the foreign key of a belongs-to association gets its value
// from the association; an insert with neither is refused. Join tables that GORM
// makes get no keys.
//
// # Shards
//
// The id of a key with a shard tag carries the logical shard of another field
// of the model, so that both lead to the same database. The tag names the field
// as in Go:
//
//	type Order struct {
//		ID      snow.ID `snow:"shard=BuyerID"`
//		BuyerID snow.ID
//	}
//
// The tag of an embedded struct applies to its keys that have no shard tag of their
// own, so gormsnow.Model `snow:"shard=BuyerID"` does the same. A snow tag that
// applies to no key is refused.
//
// The shard of a snow.ID is the one that it carries ([snow.Layout.Shard]); the two
// must have the same layout. The shard of any other integer, even one that holds
// ids, is its [snow.HashShardInt], and a string's is its [snow.HashShard]. The
// source must have a method Layout() [snow.Layout] with shard bits, as
// [snow.Generator] has.
//
// A hook may set the field, or a belongs-to association that is created with the
// row: then all ids of the statement are assigned just before the INSERT. The
// field must not be zero by then. A pointer to zero counts as set, unless it
// points to an ID. In a map the same holds for its entry.
//
// If the caller or a hook sets the id and the field, the id must have the shard of the
// field, or the row would not be found by it: see [snow.Layout.WithShard]. This also
// holds for rows that GORM saves again with ON CONFLICT, as it does for associations. A text
// that is no id has no shard.
//
// # Which inserts assign
//
// The plugin assigns in every insert that knows its model: Create and
// CreateInBatches of structs, slices, arrays and maps, Save and FirstOrCreate of
// new rows, associations, [gorm.G], with and without hooks, transactions, prepared
// statements and DryRun. Select includes the keys without naming them. In a map, a
// missing, zero or nil key is filled in, under the name that the map uses for it
// or else the column's. For an integer key the text "0" is zero as well; a
// [database/sql/driver.Valuer] counts as its Value.
//
// db.Table("orders").Create(map), Raw and Exec know no model: their rows pass
// unchanged. Use db.Model(&Order{}).Create(map).
//
// Hooks see the id. So a BeforeCreate can't recognise a new row by its zero id,
// except where the id waits for its shard. A row keeps its id when the insert
// fails, so repeating the insert can't store the row twice.
//
// # Rows that exist
//
// After a Create without an error each key that the plugin has set is the key of
// a row in the table, or zero. If ON CONFLICT, ON DUPLICATE KEY, INSERT IGNORE or
// a trigger kept the row out, it gets the keys of the row that is there instead.
// The plugin finds that row by its values in the columns of the conflict target,
// or of a unique index that the model declares by its tags; if the key is a
// member of a composite primary key, by the other members too. If it finds no
// such row, or several, the keys become zero; in a map, a zero of the type of the
// field. This happens before has-one, has-many and many-to-many associations copy
// the keys.
//
// GORM itself inserts belongs-to and many-to-many associations with ON CONFLICT
// DO NOTHING. So the foreign key of the owner, or of the join row, is the key of
// the row that exists, or zero. A zero is refused in join tables, and wherever the
// foreign key is a key by these rules or in the primary key. Declare unique
// columns with the tag uniqueIndex.
//
// A plain insert costs nothing more. After an insert that may have met an existing row, the plugin sends a SELECT
// of the new ids and, if some are missing, a SELECT of the existing rows, up to 200 at a time. On MySQL the second
// one locks these rows, as the insert has done. PostgreSQL and SQLite need no SELECT if all rows are known to be
// new. On MySQL and MariaDB, with a pool of database/sql or of GORM's prepared statements, the plugin adds an
// assignment to ON DUPLICATE KEY UPDATE that changes no column but tells whether the insert has met a row, by the
// last insert id of the session. So they need no SELECT either if all rows were new, except for UpdateAll, as Save
// of a slice and FullSaveAssociations have it, for keys that are texts or members of a composite primary key, for
// RETURNING, and if another column of the table is still AUTO_INCREMENT. The SELECTs run on the connection of the
// insert; an error there is the error of the insert.
//
// # What is refused
//
// An INSERT that can't get its ids is not sent to the database. A [*FieldError]
// names the model and the field. The reasons are:
//   - a key that is too small, that would be AUTO_INCREMENT, that has a default, or
//     that is read-only or omitted
//   - a foreign key of one of the model's associations that would store another
//     value than the id, such as a string or an int32 that refers to a snow.ID
//   - a shard tag without a field, a layout or a value
//   - an id that the caller has set and whose shard is not its field's shard
//   - a struct that is not passed by pointer, a value of another type than the
//     Model of the statement, and a nil map.
//
// Any other error is the source's, or [ErrBadSource].
//
// # Limits
//
// What later statements do to a row does not change its struct. An upsert that
// updates keys other than the primary one, such as UpdateAll, gives a stored row
// new keys, and the structs of an earlier batch of CreateInBatches keep the old
// ones. ON DUPLICATE KEY of MySQL applies to every unique key of the table. If a
// unique key that the model does not declare kept a row out, the row gets the keys of
// a row that equals it in a unique key that the model declares, or zeros.
//
// Save of a row whose primary key is set is an update first: if another tagged
// key of it is zero, that zero overwrites the stored key.
//
// Foreign keys are checked when a row of the model that has the association is
// inserted. Association("Lines").Append and updates store them unchecked. An
// association that GORM never saves, tagged ->, is not checked.
//
// GORM does not set a pointer to nil if its type is a [database/sql.Scanner], as
// *snow.ID is. So GORM's Association("Company").Delete leaves a foreign key of that
// type in the struct: use [Association], or set the field to nil before the next
// Save. For the same reason, if a row is read into a struct that was used before, a
// NULL column leaves the old value there: read into a new struct.
//
// AutoMigrate creates snow.ID columns as bigint without AUTO_INCREMENT. It does
// not remove AUTO_INCREMENT from a table that has it, nor change the type of its
// key; docs/coming-from-gorm-model.md has the order of steps. SQLite accepts NULL
// in such a primary key unless the tag says not null, as the tags of Model and SoftModel do.
//
// # Inside
//
//	across.go query.go                   pages and time ranges by key
//	create_once.go association.go        a retry that stores one row; deletes of associations
//	check.go check_signs.go              Check: models against their live tables
//	check_mysql.go check_postgres.go check_sqlite.go check_table.go check_shards.go
//	model.go plugin.go                   Model and SoftModel; the plugin and its three callbacks
//	assign.go                            before the insert: fills keys, and refuses rows without one
//	settle.go stored.go witness.go       after the insert: the keys of rows that met an existing row
//	shard.go                             ids that carry the shard of another field
//	rows.go                              the keys in structs, slices and maps
//	numbers.go                           the plugin of numbers for people
//	errors.go                            FieldError and others
//	internal/analysis                    which fields are keys, and which models are refused
package gormsnow
