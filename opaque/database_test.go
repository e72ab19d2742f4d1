package opaque_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/opaque"
)

// newDB returns a database that expects no statement.
func newDB(t *testing.T) (*gorm.DB, *sql.DB) {
	t.Helper()
	pool, _, err := sqlmock.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	db, err := gorm.Open(mysql.New(mysql.Config{Conn: pool, SkipInitializeWithVersion: true}),
		&gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true})
	if err != nil {
		t.Fatal(err)
	}
	return db, pool
}

type plainField struct {
	ID     snow.ID `gorm:"primaryKey"`
	Public opaque.ID
}

type pointerField struct {
	ID     snow.ID `gorm:"primaryKey"`
	Public *opaque.ID
}

type keyField struct {
	ID opaque.ID `gorm:"primaryKey"`
}

type typedField struct {
	ID     snow.ID   `gorm:"primaryKey"`
	Public opaque.ID `gorm:"type:varchar(30)"`
}

type ignoredField struct {
	ID     snow.ID   `gorm:"primaryKey"`
	Public opaque.ID `gorm:"-"`
}

func TestGORMRefusesAnID(t *testing.T) {
	db, pool := newDB(t)
	out := newType(t, "ord", newKey(t, 1, 16, 1)).Encode(5)
	const noField, noArgument = "invalid field found", "unsupported type opaque.ID, a struct"
	for _, test := range []struct {
		name string
		do   func() error
		want string
	}{
		{"a field", func() error { return db.Create(&plainField{1, out}).Error }, noField},
		{"a pointer", func() error { return db.Create(&pointerField{1, &out}).Error }, noField},
		{"a key", func() error { return db.Create(&keyField{out}).Error }, noField},
		{"a migration", func() error { return db.AutoMigrate(&plainField{}) }, noField},
		{"a field with a type", func() error { return db.Create(&typedField{1, out}).Error }, noArgument},
		{"an argument", func() error { return db.Find(&ignoredField{}, "id = ?", out).Error }, noArgument},
		{"a list", func() error { return db.Find(&ignoredField{}, "id IN ?", []opaque.ID{out}).Error }, noArgument},
		{"a map", func() error { return db.Where(map[string]any{"id": out}).Find(&ignoredField{}).Error }, noArgument},
		{"an update", func() error { return db.Model(&ignoredField{ID: 1}).Update("id", out).Error }, noArgument},
		{"database/sql", func() error { _, err := pool.Exec("UPDATE t SET id = ?", out); return err }, noArgument},
		{"a pointer for database/sql", func() error { _, err := pool.Exec("UPDATE t SET id = ?", &out); return err }, noArgument},
	} {
		if err := test.do(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		} else {
			t.Logf("%s: %v", test.name, err)
		}
	}
}
