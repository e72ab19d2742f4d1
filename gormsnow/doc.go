// Package gormsnow gives the rows that GORM inserts keys from a [snow.Source]
// instead of AUTO_INCREMENT, so that tables of several databases never clash.
//
//	db, err := gorm.Open(…)
//	err = db.Use(gormsnow.New(generator))
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
// Model is. Keys in embedded structs, with or without a prefix, are keys of the
// model. A key that is also the foreign key of a belongs-to association gets its
// value from the association, and an insert without either is refused. Join
// tables that GORM makes get no keys.
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
// Hooks see the id, so a BeforeCreate can't tell a new row by a zero id. A row
// keeps its id when the insert fails: repeating it can't store the row twice.
//
// # What is refused
//
// An INSERT that can't get its ids is not sent to the database. A [*FieldError]
// names the model and the field: a key that is too small, that would be
// AUTO_INCREMENT, that has a default, or that is read-only or omitted; a foreign
// key of one of the model's associations that would store another number than
// the id, such as a string or an int32 that refers to a snow.ID; a struct that
// is not passed by pointer; a value of another type than the Model of the
// statement; a nil map. Any other error is the source's, or [ErrBadSource].
//
// # Limits
//
// An id is that of a row only if the row was inserted. Where ON CONFLICT or ON
// DUPLICATE KEY keeps an existing row, the struct has the new id and the table
// the old one. GORM inserts belongs-to and many-to-many associations with ON
// CONFLICT DO NOTHING: where one meets an existing row, by a unique column other
// than the key, the owner's foreign key or the join row then points to no row,
// and there is no error. Load such a row first, or leave the association out
// with Omit and set the foreign key.
//
// Save of a row whose primary key is set is an update first: where a tagged key
// beside it is zero, that zero overwrites the stored key.
//
// Foreign keys are checked when a row of the model that has the association is
// inserted. Association("Lines").Append and updates store them unchecked. An
// association that GORM never saves, tagged ->, is not checked.
//
// AutoMigrate creates snow.ID columns as bigint without AUTO_INCREMENT, but does
// not take AUTO_INCREMENT away from a table that has it.
package gormsnow
