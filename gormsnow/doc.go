// Package gormsnow gives the rows that GORM inserts keys from a [snow.Source]
// instead of AUTO_INCREMENT, so that tables of several databases never clash.
//
//	db, err := gorm.Open(…)
//	err = db.Use(gormsnow.New(generator))
//
// A generator whose number is its own comes from
// [github.com/shardsnow/snow/sqlsnow.Acquire]. [Check] looks for what is left of
// AUTO_INCREMENT at start-up, [CreateOnce] makes a retry safe, [After] and [Before]
// page by key, [FindAcross] does over all shards, and [Created] asks for a time range.
//
// Rows whose key is zero, or points to zero, get an id before the insert, by one
// call of the source for each INSERT statement; ids ascend in the order of the
// rows. A value that the caller has set, whatever it is, is never replaced.
//
// # Which fields are keys
//
// A field of type [snow.ID] or *[snow.ID] that is the only primary key needs no
// tag. [Model], which embeds like [gorm.Model], brings one.
//
//	type Order struct {
//		ID    snow.ID
//		Buyer string
//	}
//
// Any other key has the tag gorm:"snowflake": a snow.ID, a 64-bit integer, a
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
// A member of a composite primary key is a key only if it is tagged, as that of
// Model is. A snow.ID in a primary key that the plugin does not fill must be set:
// zero is refused. The tag snowflake:false leaves a key to the program. A type
// that is defined as snow.ID has none of its methods, so GORM makes a primary key
// of it AUTO_INCREMENT, and nothing tells it from other types of int64 with a name:
// a zero of these is refused unless the tag says autoIncrement.
//
// Keys in embedded structs, with or without a prefix, are keys of the
// model. A key that is also the foreign key of a belongs-to association gets its
// value from the association, and an insert without either is refused. Join
// tables that GORM makes get no keys.
//
// # Shards
//
// The id of a key with a shard tag carries the logical shard of another field
// of the model, named as in Go, so that both lead to the same database:
//
//	type Order struct {
//		ID      snow.ID `snow:"shard=BuyerID"`
//		BuyerID snow.ID
//	}
//
// The tag of an embedded struct is for the keys in it that have none of their
// own, so gormsnow.Model `snow:"shard=BuyerID"` does the same. A snow tag that
// no key takes is refused.
//
// Of a snow.ID it is the shard of that id, which must be of the same layout
// ([snow.Layout.Shard]); of another integer [snow.HashShardInt], also if ids are
// kept in it; of a string [snow.HashShard]. The source must have a method
// Layout() [snow.Layout] with shard bits, as [snow.Generator] has. The field may
// be set by a hook, or by a belongs-to association that is created with the row:
// then all ids of the statement are assigned just before the INSERT. It must not
// be zero by then; a pointer to zero is set, unless it is to an ID. In a map the
// same holds for its entry.
//
// # Which inserts assign
//
// All that know a model: Create and CreateInBatches of structs, slices, arrays
// and maps, Save and FirstOrCreate of new rows, associations, [gorm.G], with and
// without hooks, transactions, prepared statements and DryRun. Select includes
// the keys without naming them. In a map, a missing, zero or nil key is filled
// in place, under the name that the map has for it or else under the column's.
// For an integer, the text "0" is zero as well; a [database/sql/driver.Valuer]
// counts as its Value.
//
// No model is known to db.Table("orders").Create(map), Raw and Exec: their rows
// pass as they are. Use db.Model(&Order{}).Create(map).
//
// Hooks see the id, so a BeforeCreate can't tell a new row by a zero id, except
// where the id waits for its shard. A row keeps its id when the insert fails:
// repeating it can't store the row twice.
//
// # Rows that exist
//
// After a Create without an error each key that the plugin has set is that of a
// row in the table, or zero. Where ON CONFLICT, ON DUPLICATE KEY, INSERT IGNORE
// or a trigger kept the row out, it gets the keys of the row that is there
// instead, if that is the only one with the same values in the columns of the
// conflict target, or in those of a unique index that the model declares by its
// tags, and, where a key is a member of a composite primary key, in the rest of
// that. Otherwise nobody can tell, and its keys become zero; in a map they are
// zeros of the type of the field. This happens before has-one, has-many and
// many-to-many associations copy them.
//
// GORM itself inserts belongs-to and many-to-many associations with ON CONFLICT
// DO NOTHING. So the foreign key of the owner, or of the join row, is that of
// the row that exists, or zero. A zero is refused where the foreign key is a
// key by these rules or in the primary key, and so in join tables. Declare unique columns with the tag uniqueIndex.
//
// A plain insert costs nothing more. After one that may meet a row there is a
// SELECT of the new ids, and if some are missing another one, in parts of up to
// 200, of the rows that were met, which on MySQL locks them as the insert has.
// PostgreSQL and SQLite need none where all rows are known to be new. They run
// on the connection of the insert; an error there is the error of the insert.
//
// # What is refused
//
// An INSERT that can't get its ids is not sent to the database. A [*FieldError]
// names the model and the field: a key that is too small, that would be
// AUTO_INCREMENT, that has a default, or that is read-only or omitted; a foreign
// key of one of the model's associations that would store another number than
// the id, such as a string or an int32 that refers to a snow.ID; a shard tag
// without a field, a layout or a value; a struct that is not passed by pointer; a
// value of another type than the Model of the statement; a nil map. Any other
// error is the source's, or [ErrBadSource].
//
// # Limits
//
// What later statements do to a row is not undone in its struct. An upsert that
// updates keys beside the primary one, such as UpdateAll, gives a stored row new
// ones; the structs of an earlier batch of CreateInBatches keep the old ones. On
// MySQL, whose ON DUPLICATE KEY takes any unique key, a row that was kept out by
// one that the model doesn't declare gets the keys of the row that it would have
// met by one that it does.
//
// Save of a row whose primary key is set is an update first: where a tagged key
// beside it is zero, that zero overwrites the stored key.
//
// Foreign keys are checked when a row of the model that has the association is
// inserted. Association("Lines").Append and updates store them unchecked. An
// association that GORM never saves, tagged ->, is not checked.
//
// GORM passes over nil where a pointer is a [database/sql.Scanner], as *snow.ID
// is. So its Association("Company").Delete leaves a foreign key of that type in
// the struct: use [Association], or set it to nil before the next Save. And a row
// that is read into a struct that has been used leaves the old value where the
// column is NULL: read into a new one.
//
// AutoMigrate creates snow.ID columns as bigint without AUTO_INCREMENT, but does
// not take AUTO_INCREMENT away from a table that has it, nor change the type of
// its key; docs/coming-from-gorm-model.md has the order of steps. SQLite takes NULL
// in such a primary key unless the tag says not null, as that of Model does.
package gormsnow
