package gormtest

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// Models whose keys the plugin does not fill.
type (
	// A Seat has a composite key that looks like ours.
	Seat struct {
		Tenant int64   `gorm:"primaryKey;autoIncrement:false"`
		ID     snow.ID `gorm:"primaryKey"`
		Name   string  `gorm:"size:40"`
	}
	// TicketID does not have the methods of an id.
	TicketID snow.ID
	// A Ticket would get its key from the database.
	Ticket struct {
		ID   TicketID
		Name string `gorm:"size:40"`
	}
	// A Vault has words that are unique in the table, which the model does not declare.
	Vault struct {
		ID     snow.ID
		Word   string  `gorm:"size:40"`
		Topics []Topic `gorm:"many2many:vault_topics"`
	}
	// A Chosen has a key that the program sets.
	Chosen struct {
		ID   snow.ID `gorm:"snowflake:false"`
		Name string  `gorm:"size:40"`
	}
)

// zeros inserts rows with keys of type snow.ID that nobody has set: none may be stored.
func (s *suite) zeros(t *testing.T) {
	if err := s.db.AutoMigrate(&Seat{}, &Ticket{}, &Chosen{}, &Vault{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.db.Exec("CREATE UNIQUE INDEX vault_words ON vaults (word)").Error, s.db.Create(&Vault{Word: "stored"}).Error); err != nil {
		t.Fatal(err)
	}
	create := func(row any) func(db *gorm.DB) error {
		return func(db *gorm.DB) error { return db.Create(row).Error }
	}
	ofMap := func(model any, row map[string]any) func(db *gorm.DB) error {
		return func(db *gorm.DB) error { return db.Model(model).Create(row).Error }
	}
	for name, tt := range map[string]struct {
		create       func(db *gorm.DB) error
		table, field string
		reason       string
	}{
		"a composite key":                {create(&Seat{Tenant: 1}), "seats", "ID", "add snowflake"},
		"one of a slice":                 {create([]*Seat{{Tenant: 1, ID: 5}, {Tenant: 1}}), "seats", "ID", "add snowflake"},
		"a map":                          {ofMap(&Seat{}, map[string]any{"tenant": 1}), "seats", "ID", "add snowflake"},
		"a map with zero":                {ofMap(&Seat{}, map[string]any{"tenant": 1, "ID": "0"}), "seats", "ID", "add snowflake"},
		"selected columns":               {func(db *gorm.DB) error { return db.Select("Tenant").Create(&Seat{Tenant: 1}).Error }, "seats", "ID", "add snowflake"},
		"an omitted key":                 {func(db *gorm.DB) error { return db.Omit("ID").Create(&Seat{Tenant: 1, ID: 5}).Error }, "seats", "ID", "Omit"},
		"save":                           {func(db *gorm.DB) error { return db.Save(&Seat{Tenant: 1}).Error }, "seats", "ID", "add snowflake"},
		"two ids":                        {create(&Pair{LeftID: 1}), "pairs", "RightID", "add snowflake"},
		"a type that was defined as one": {create(&Ticket{}), "tickets", "ID", "add autoIncrement:false and snowflake"},
		"a key that is turned off":       {create(&Chosen{}), "chosens", "ID", "snowflake:false"},
		"an owner that was kept out": {func(db *gorm.DB) error {
			return db.Clauses(doNothing).Create(&Vault{Word: "stored", Topics: []Topic{{Name: "of nobody"}}}).Error
		}, "vault_topics", "VaultID", "foreign key"},
	} {
		t.Run(name, func(t *testing.T) {
			before := rows(t, s.db, tt.table)
			var field *gormsnow.FieldError
			if err := tt.create(s.db.Session(&gorm.Session{})); !errors.As(err, &field) || field.Field != tt.field || !strings.Contains(field.Reason, tt.reason) {
				t.Errorf("error %v, want a *FieldError for %s that says %q", err, tt.field, tt.reason)
			}
			if after := rows(t, s.db, tt.table); after != before {
				t.Errorf("%d rows, want %d", after, before)
			}
		})
	}
	// What the program sets is stored.
	seat, ticket, chosen, pair := Seat{Tenant: 1, ID: 6}, Ticket{ID: 7}, Chosen{ID: 8}, Pair{LeftID: 9, RightID: 9}
	selected := Seat{Tenant: 1, ID: 7}
	for _, row := range []any{&seat, &ticket, &chosen, &pair} {
		if err := s.db.Create(row).Error; err != nil {
			t.Error(err)
		}
	}
	if err := s.db.Select("Tenant").Create(&selected).Error; err != nil {
		t.Error(err)
	}
	vault := Vault{Word: "new", Topics: []Topic{{Name: "of a vault"}}}
	if err := s.db.Clauses(doNothing).Create(&vault).Error; err != nil {
		t.Error(err)
	}
	column("seats", "id", snow.ID(6), snow.ID(7)).check(t, s.db)
	column("tickets", "id", snow.ID(7)).check(t, s.db)
	column("chosens", "id", snow.ID(8)).check(t, s.db)
	column("vault_topics", "vault_id", vault.ID).check(t, s.db)
}

// rows returns how many rows a table has.
func rows(t *testing.T, db *gorm.DB, table string) (n int) {
	t.Helper()
	if err := db.Raw("SELECT COUNT(*) FROM ?", clause.Table{Name: table}).Scan(&n).Error; err != nil {
		t.Fatal(err)
	}
	return n
}
