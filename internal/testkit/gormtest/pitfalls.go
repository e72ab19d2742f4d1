package gormtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// Models whose hooks GORM does not call, or whose hooks see an id too early.
type (
	witness struct {
		ID           snow.ID
		save, create snow.ID
		after        snow.ID
	}
	named struct {
		Model gormsnow.Model `gorm:"embedded"`
	}
	shadowed struct {
		gormsnow.Model
	}
	footnote  struct{ Note string }
	cancelled struct {
		gormsnow.Model
		footnote
	}
	byPointer struct {
		*gormsnow.Model
	}
	// A Tenancy has a composite key.
	Tenancy struct {
		gormsnow.Model
		Tenant int64 `gorm:"primaryKey;autoIncrement:false"`
	}
	// Auto is the model of a table that once was AUTO_INCREMENT.
	Auto struct {
		ID   snow.ID
		Name string `gorm:"size:40"`
	}
)

func (w *witness) BeforeSave(*gorm.DB) error   { w.save = w.ID; return nil }
func (w *witness) BeforeCreate(*gorm.DB) error { w.create = w.ID; return nil }
func (w *witness) AfterCreate(*gorm.DB) error  { w.after = w.ID; return nil }
func (*shadowed) BeforeCreate(*gorm.DB) error  { return nil }
func (*footnote) BeforeCreate(*gorm.DB) error  { return nil }

// pitfalls are known problems of GORM with keys that the client makes.
func (s *suite) pitfalls(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"hooks see the id":                             s.hooksSee,
		"hooks that are not called":                    s.hooksNotCalled,
		"columns are not auto-increment":               s.columns,
		"maps keep their ids in auto-increment tables": s.autoIncrement,
		"a slice of maps does not grow":                s.slicesOfMaps,
		"no model, no id":                              s.noModel,
		"the context of the statement":                 s.context,
		"a retry stores one row":                       s.retry,
		"a duplicate id is an error":                   s.duplicate,
		"first or create beside a deleted row":         s.deleted,
		"save updates a row that has an id":            s.saveUpdates,
	} {
		t.Run(name, test)
	}
}

func (s *suite) hooksSee(t *testing.T) {
	if err := s.db.AutoMigrate(&witness{}); err != nil {
		t.Fatal(err)
	}
	rows := []witness{{}, {}}
	if err := s.db.Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
	for _, w := range rows {
		if w.ID == 0 || w.save != w.ID || w.create != w.ID || w.after != w.ID {
			t.Errorf("the hooks saw %d, %d and %d, want %d", w.save, w.create, w.after, w.ID)
		}
	}
}

func (s *suite) hooksNotCalled(t *testing.T) {
	if err := s.db.AutoMigrate(&named{}, &shadowed{}, &cancelled{}, &byPointer{}); err != nil {
		t.Fatal(err)
	}
	a, b, c, d := named{}, shadowed{}, cancelled{}, byPointer{}
	entry := map[string]any{}
	for name, tx := range map[string]*gorm.DB{
		"nameds": s.db.Create(&a), "shadoweds": s.db.Create(&b), "cancelleds": s.db.Create(&c), "by_pointers": s.db.Create(&d),
		"map": s.db.Model(&shadowed{}).Create(entry),
	} {
		if tx.Error != nil {
			t.Errorf("%s: %v", name, tx.Error)
		}
	}
	if t.Failed() {
		return
	}
	column("nameds", "id", a.Model.ID).check(t, s.db)
	column("shadoweds", "id", b.ID, entry["id"]).check(t, s.db)
	column("cancelleds", "id", c.ID).check(t, s.db)
	column("by_pointers", "id", d.ID).check(t, s.db)
}

func (s *suite) columns(t *testing.T) {
	if err := s.db.AutoMigrate(&Tenancy{}); err != nil {
		t.Fatal(err)
	}
	for model, names := range map[any][]string{
		&Customer{}: {"id"}, &Topic{}: {"id"}, &Visit{}: {"id"}, &Basket{}: {"id", "customer_id"},
		&Voucher{}: {"id", "serial", "public"}, &Lot{}: {"id"}, &Parcel{}: {"box_id"}, &Tool{}: {"id", "owner_id"},
	} {
		types, err := s.db.Migrator().ColumnTypes(model)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			for _, c := range types {
				if auto, ok := c.AutoIncrement(); c.Name() == name && ok && auto {
					t.Errorf("%T: column %s is auto-increment", model, name)
				}
			}
		}
		// A column that generates numbers would accept a row without an id.
		if err := s.db.Session(&gorm.Session{}).Exec("INSERT INTO ? (?) VALUES (?)", clause.Table{Name: "topics"}, clause.Column{Name: "name"}, "no id").Error; err == nil && s.db.Name() != "sqlite" {
			t.Error("topics takes rows without an id")
		}
		// Model declares NOT NULL, which SQLite does not imply.
		if err := s.db.Session(&gorm.Session{}).Exec("INSERT INTO ? (?) VALUES (?)", clause.Table{Name: "tenancies"}, clause.Column{Name: "tenant"}, 1).Error; err == nil {
			t.Error("tenancies takes rows without an id")
		}
	}
}

func (s *suite) autoIncrement(t *testing.T) {
	column1 := map[string]string{"mysql": "BIGINT AUTO_INCREMENT PRIMARY KEY", "postgres": "BIGSERIAL PRIMARY KEY", "sqlite": "INTEGER PRIMARY KEY AUTOINCREMENT"}
	if err := s.db.Exec("CREATE TABLE autos (id " + column1[s.db.Name()] + ", name TEXT)").Error; err != nil {
		t.Fatal(err)
	}
	maps := []map[string]any{{"name": "a"}, {"name": "b"}, {"name": "c"}}
	if err := s.db.Model(&Auto{}).Create(maps).Error; err != nil {
		t.Fatal(err)
	}
	batches := []map[string]any{{"name": "d"}, {"name": "e"}, {"name": "f"}}
	if err := s.db.Model(&Auto{}).CreateInBatches(&batches, 2).Error; err != nil {
		t.Fatal(err)
	}
	rows := []Auto{{Name: "g"}, {Name: "h"}}
	if err := s.db.Select("Name").Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
	for i, row := range append(maps, batches...) {
		if want := id(t, s.db, "autos", "name", string(rune('a'+i))); row["id"] != want {
			t.Errorf("map %d has id %v, want %v", i, row["id"], want)
		}
	}
	for i, row := range rows {
		if want := id(t, s.db, "autos", "name", string(rune('g'+i))); row.ID != want {
			t.Errorf("row %d has id %v, want %v", i, row.ID, want)
		}
	}
}

func (s *suite) slicesOfMaps(t *testing.T) {
	rows := []map[string]any{{"name": "a"}, {"name": "b"}, {"name": "c"}}
	if err := s.db.Model(&Topic{}).Create(&rows).Error; err != nil || len(rows) != 3 {
		t.Errorf("%d maps, %v; want 3", len(rows), err)
	}
	rows = []map[string]any{{"name": "a"}, {"name": "b"}, {"name": "c"}}
	if err := s.db.Model(&Topic{}).CreateInBatches(&rows, 2).Error; err != nil || len(rows) != 3 {
		t.Errorf("in batches: %d maps, %v; want 3", len(rows), err)
	}
}

func (s *suite) noModel(t *testing.T) {
	row := map[string]any{"name": "no model"}
	err := s.db.Table("topics").Create(row).Error
	if id, ok := row["id"]; ok {
		t.Errorf("the map got the id %v", id)
	}
	if err == nil && s.db.Name() != "sqlite" { // whose keys may be NULL
		t.Error("the database took a row without an id")
	}
}

func (s *suite) context(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	topic := Topic{}
	if err := s.db.WithContext(ctx).Create(&topic).Error; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func (s *suite) retry(t *testing.T) {
	c := Company{Name: "retried"}
	if err := s.db.Create(&c).Error; err != nil {
		t.Fatal(err)
	}
	first := c.ID
	if err := s.db.Create(&c).Error; !errors.Is(err, gorm.ErrDuplicatedKey) || c.ID != first {
		t.Errorf("again: id %d, %v; want %d and gorm.ErrDuplicatedKey", c.ID, err, first)
	}
	tx := s.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&c)
	if tx.Error != nil || tx.RowsAffected != 0 || c.ID != first {
		t.Errorf("do nothing: id %d, %d rows, %v; want %d and 0", c.ID, tx.RowsAffected, tx.Error, first)
	}
	if n := count(t, s.db, "companies", "name", "retried"); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

func (s *suite) duplicate(t *testing.T) {
	first := Topic{}
	if err := s.db.Create(&first).Error; err != nil {
		t.Fatal(err)
	}
	second := Topic{ID: first.ID}
	if err := s.db.Create(&second).Error; !errors.Is(err, gorm.ErrDuplicatedKey) {
		t.Errorf("error %v, want gorm.ErrDuplicatedKey", err)
	}
}

func (s *suite) deleted(t *testing.T) {
	c := Customer{Name: "deleted"}
	if err := errors.Join(s.db.Create(&c).Error, s.db.Delete(&c).Error); err != nil {
		t.Fatal(err)
	}
	var again Customer
	if err := s.db.Where(Customer{Name: "deleted"}).FirstOrCreate(&again).Error; err != nil || again.ID == c.ID {
		t.Errorf("id %d, %v; want a new one", again.ID, err)
	}
	column("customers", "id", c.ID, again.ID).check(t, s.db)
	// Save of a row with an id writes all columns, including that it is not deleted.
	c.DeletedAt = gorm.DeletedAt{}
	if err := s.db.Save(&c).Error; err != nil {
		t.Fatal(err)
	}
	var n int64
	if err := s.db.Model(&Customer{}).Where("id = ?", c.ID).Count(&n).Error; err != nil || n != 1 {
		t.Errorf("%d rows, %v; want 1", n, err)
	}
}

func (s *suite) saveUpdates(t *testing.T) {
	g := Gadget{Maker: "saved", Serial: "saved"}
	if err := s.db.Create(&g).Error; err != nil {
		t.Fatal(err)
	}
	// An update makes no keys: zeros in other keys than the id are stored.
	part := Gadget{ID: g.ID, Maker: "saved", Serial: "saved"}
	if err := s.db.Save(&part).Error; err != nil {
		t.Fatal(err)
	}
	var stored Gadget
	if err := s.db.First(&stored, g.ID).Error; err != nil || stored.Public != "" || stored.Trace != nil {
		t.Errorf("stored %+v, %v; want no keys but the id", stored, err)
	}
	// If the row does not exist, Save inserts it, which makes keys.
	fresh, err := nextID(s.db)
	if err != nil {
		t.Fatal(err)
	}
	part = Gadget{ID: int64(fresh), Maker: "saved fresh", Serial: "saved fresh"}
	if err := s.db.Save(&part).Error; err != nil {
		t.Fatal(err)
	}
	column("gadgets", "public", part.Public).check(t, s.db)
	column("gadgets", "trace", part.Trace).check(t, s.db)
}

// goroutines share one *gorm.DB.
func (s *suite) goroutines(t *testing.T) {
	const goroutines, inserts = 32, 4
	var mu sync.Mutex
	all := column("topics", "id")
	upsert := s.db.Clauses(on(clause.OnConflict{UpdateAll: true}, "name")).Session(&gorm.Session{})
	want := make(map[string]snow.ID)
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for i := range inserts {
				topics, entry := []Topic{{}, {}}, map[string]any{}
				company := Company{Name: fmt.Sprint("shared ", i)}
				purchase := Purchase{Buyer: &Buyer{Name: company.Name}}
				for _, tx := range []*gorm.DB{s.db.Create(&topics), s.db.Model(&Topic{}).Create(entry), upsert.Create(&company), s.db.Create(&purchase)} {
					if tx.Error != nil {
						t.Error(tx.Error)
						return
					}
				}
				mu.Lock()
				all.ids = append(all.ids, topics[0].ID, topics[1].ID, entry["id"])
				for name, id := range map[string]snow.ID{company.Name: company.ID, "buyer of " + company.Name: purchase.BuyerID} {
					if first, ok := want[name]; ok && first != id {
						t.Errorf("%s has the ids %d and %d", name, first, id)
					}
					want[name] = id
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	all.check(t, s.db)
}
