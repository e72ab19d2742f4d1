package gormtest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
)

func on(c clause.OnConflict, columns ...string) clause.OnConflict {
	for _, name := range columns {
		c.Columns = append(c.Columns, clause.Column{Name: name})
	}
	return c
}

// plain asserts that inserts that can meet no row cost one statement each.
func (s *suite) plain(t *testing.T) {
	plain := s.db.Session(&gorm.Session{})
	for name, tt := range map[string]struct {
		create func(db *gorm.DB) error
		want   int
	}{
		"struct":  {func(db *gorm.DB) error { return db.Create(&Company{Name: "plain 1"}).Error }, 1},
		"slice":   {func(db *gorm.DB) error { return db.Create(&[]Company{{Name: "plain 2"}, {Name: "plain 3"}}).Error }, 1},
		"batches": {func(db *gorm.DB) error { return db.CreateInBatches(make([]Topic, 5), 2).Error }, 3},
		"map":     {func(db *gorm.DB) error { return db.Model(&Topic{}).Create(map[string]any{"name": "a"}).Error }, 1},
		"maps": {func(db *gorm.DB) error {
			return db.Model(&Topic{}).Create([]map[string]any{{"name": "a"}, {"id": 0}}).Error
		}, 1},
		"four keys": {func(db *gorm.DB) error { return db.Create(&[]Voucher{{}, {}}).Error }, 1},
		"save":      {func(db *gorm.DB) error { return db.Save(&Topic{}).Error }, 1},
		"selected":  {func(db *gorm.DB) error { return db.Select("Name").Create(&Topic{}).Error }, 1},
		"sharded":   {func(db *gorm.DB) error { return db.Create(&Purchase{BuyerID: 77}).Error }, 1},
	} {
		var err error
		if got := s.log.of(func() { err = tt.create(plain) }); err != nil || len(got) != tt.want {
			t.Errorf("%s: %v, sent %q, want %d statements", name, err, got, tt.want)
		}
	}
	if s.db.Name() == "mysql" {
		return
	}
	// Other databases tell what they did to a fresh key.
	for name, create := range map[string]func(db *gorm.DB) error{
		"a new row that may exist": func(db *gorm.DB) error { return db.Clauses(clause.OnConflict{DoNothing: true}).Create(&Topic{}).Error },
		"new rows that may exist": func(db *gorm.DB) error {
			return db.Clauses(clause.OnConflict{DoNothing: true}).Create(make([]Topic, 2)).Error
		},
		"a conflict on the new key": func(db *gorm.DB) error {
			return db.Clauses(on(clause.OnConflict{UpdateAll: true}, "id")).Create(&Topic{}).Error
		},
		"a slice that is saved": func(db *gorm.DB) error { return db.Save(make([]Topic, 2)).Error },
		"a map that may exist": func(db *gorm.DB) error {
			return db.Clauses(clause.OnConflict{DoNothing: true}).Model(&Topic{}).Create(map[string]any{}).Error
		},
	} {
		var err error
		if got := s.log.of(func() { err = create(plain) }); err != nil || len(got) != 1 {
			t.Errorf("%s: %v, sent %q, want 1 statement", name, err, got)
		}
	}
	got := s.log.of(func() {
		if err := plain.Create(&Customer{Carts: make([]Basket, 2), Interest: make([]Topic, 2)}).Error; err != nil {
			t.Error(err)
		}
	})
	if len(got) != 4 {
		t.Errorf("has many and many to many: sent %q, want 4 statements", got)
	}
}

// companies inserts companies of these names and returns the ids that they got.
var companies = map[string]func(db *gorm.DB, names ...string) ([]any, *gorm.DB){
	"structs": func(db *gorm.DB, names ...string) ([]any, *gorm.DB) {
		rows := make([]Company, len(names))
		for i, name := range names {
			rows[i].Name = name
		}
		tx := db.Create(&rows)
		ids := make([]any, len(rows))
		for i := range rows {
			ids[i] = rows[i].ID
		}
		return ids, tx
	},
	"pointers": func(db *gorm.DB, names ...string) ([]any, *gorm.DB) {
		rows := make([]*Company, len(names))
		for i, name := range names {
			rows[i] = &Company{Name: name}
		}
		tx := db.Create(rows)
		ids := make([]any, len(rows))
		for i := range rows {
			ids[i] = rows[i].ID
		}
		return ids, tx
	},
	"maps": func(db *gorm.DB, names ...string) ([]any, *gorm.DB) {
		rows := make([]map[string]any, len(names))
		for i, name := range names {
			rows[i] = map[string]any{"name": name, "motto": "m"}
		}
		tx := db.Model(&Company{}).Create(rows)
		ids := make([]any, len(rows))
		for i := range rows {
			ids[i] = rows[i]["id"]
		}
		return ids, tx
	},
	"one by one": func(db *gorm.DB, names ...string) (ids []any, tx *gorm.DB) {
		for _, name := range names {
			row := Company{Name: name}
			tx = db.Create(&row)
			ids = append(ids, row.ID)
		}
		return ids, tx
	},
	"maps, one by one": func(db *gorm.DB, names ...string) (ids []any, tx *gorm.DB) {
		for _, name := range names {
			row := map[string]any{"Name": name, "ID": nil}
			tx = db.Model(&Company{}).Create(&row)
			ids = append(ids, row["ID"])
		}
		return ids, tx
	},
}

// conflicts inserts rows that meet stored ones.
func (s *suite) conflicts(t *testing.T) {
	if err := s.db.Exec("CREATE UNIQUE INDEX secret_words ON secrets (word)").Error; err != nil {
		t.Fatal(err)
	}
	update := clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"motto"})}
	returning := clause.Returning{Columns: []clause.Column{{Name: "id"}}}
	insertIgnore := map[string]string{"mysql": "IGNORE", "sqlite": "OR IGNORE"}[s.db.Name()]
	n := 0
	for name, clauses := range map[string][]clause.Expression{
		"do nothing":              {clause.OnConflict{DoNothing: true}},
		"do nothing on the name":  {on(clause.OnConflict{DoNothing: true}, "name")},
		"update":                  {on(update, "name")},
		"update all":              {on(clause.OnConflict{UpdateAll: true}, "name")},
		"insert ignore":           {clause.Insert{Modifier: insertIgnore}},
		"do nothing and return":   {clause.OnConflict{DoNothing: true}, returning},
		"update and return":       {on(update, "name"), returning},
		"update nothing by where": {on(clause.OnConflict{DoUpdates: update.DoUpdates, Where: clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "1 = 0"}}}}, "name")},
	} {
		switch {
		case name == "insert ignore" && insertIgnore == "",
			name == "update nothing by where" && s.db.Name() == "mysql":
			continue
		}
		for shape, create := range companies {
			if len(clauses) == 2 && (shape == "maps" || shape == "maps, one by one") {
				continue // GORM scans what is returned into other maps
			}
			t.Run(name+", "+shape, func(t *testing.T) {
				n++
				old, fresh, more := fmt.Sprint("old ", n), fmt.Sprint("fresh ", n), fmt.Sprint("more ", n)
				if err := s.db.Create(&Company{Name: old}).Error; err != nil {
					t.Fatal(err)
				}
				was := id(t, s.db, "companies", "name", old)
				for _, names := range [][]string{{old}, {fresh, old}, {old, more}, {old, fresh}} {
					ids, tx := create(s.db.Clauses(clauses...).Session(&gorm.Session{}), names...)
					if tx.Error != nil {
						t.Fatal(tx.Error)
					}
					for i, name := range names {
						if want := id(t, s.db, "companies", "name", name); ids[i] != want {
							t.Errorf("%q: id %v, want %v", name, ids[i], want)
						}
					}
				}
				if now := id(t, s.db, "companies", "name", old); now != was {
					t.Errorf("the stored row has id %v, had %v", now, was)
				}
			})
		}
	}
	t.Run("rows affected", s.rowsAffected)
	t.Run("a row twice in one statement", s.twice)
	t.Run("more rows than fit in one query", s.many)
	t.Run("rows that are unique in many ways", s.manyUniques)
	t.Run("ids of the caller", s.ownIDs)
	t.Run("a unique column that the model does not declare", s.undeclared)
	t.Run("several keys", s.severalKeys)
	t.Run("a row that meets two", s.ambiguous)
	t.Run("a key beside one of the caller's", s.besideOwn)
	t.Run("a composite key", s.composite)
	t.Run("dry run", s.dryRun)
}

// Inserts count as without the plugin.
func (s *suite) rowsAffected(t *testing.T) {
	nothing := s.db.Clauses(clause.OnConflict{DoNothing: true})
	for shape, create := range companies {
		a, b := shape+" a", shape+" b"
		for _, tt := range []struct {
			names []string
			want  int64
		}{{[]string{a}, 1}, {[]string{a}, 0}, {[]string{a, b}, 1}, {[]string{a, b}, 0}} {
			_, tx := create(nothing.Session(&gorm.Session{}), tt.names...)
			if shape == "one by one" || shape == "maps, one by one" {
				tt.want = min(tt.want, 1)
			}
			if tx.Error != nil || tx.RowsAffected != tt.want {
				t.Errorf("%s, %q: %d rows affected, %v; want %d", shape, tt.names, tx.RowsAffected, tx.Error, tt.want)
			}
		}
	}
}

func (s *suite) twice(t *testing.T) {
	for shape, create := range companies {
		name := "twice " + shape
		ids, tx := create(s.db.Clauses(clause.OnConflict{DoNothing: true}).Session(&gorm.Session{}), name, "other "+shape, name)
		if tx.Error != nil {
			t.Fatal(tx.Error)
		}
		if want := id(t, s.db, "companies", "name", name); ids[0] != want || ids[2] != want {
			t.Errorf("%s: ids %v, want %v at both ends", shape, ids, want)
		}
	}
}

func (s *suite) many(t *testing.T) {
	rows := make([]Company, 230)
	for i := range rows {
		rows[i].Name = fmt.Sprint("many ", i)
	}
	if err := s.db.Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
	again := slices.Clone(rows)
	for i := range again {
		again[i] = Company{Name: rows[i].Name, Motto: "again"}
	}
	var err error
	upsert := s.db.Clauses(on(clause.OnConflict{UpdateAll: true}, "name"))
	sent := s.log.of(func() { err = upsert.Create(&again).Error })
	if err != nil || len(sent) > 1+1+3 {
		t.Fatalf("%v, sent %d statements", err, len(sent))
	}
	for i := range again {
		if again[i].ID != rows[i].ID {
			t.Fatalf("row %d: id %d, want %d", i, again[i].ID, rows[i].ID)
		}
	}
}

func (s *suite) manyUniques(t *testing.T) {
	const n = 120 // times 6 is more than SQLite takes
	parts, again := make([]Part, n), make([]Part, n)
	for i := range parts {
		parts[i] = Part{A: i, B: i, C: i, D: i, E: i, F: i}
		again[i] = parts[i]
	}
	if err := s.db.Create(&parts).Error; err != nil {
		t.Fatal(err)
	}
	if err := s.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&again).Error; err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again, parts) {
		t.Error("rows that exist in six ways did not get their ids")
	}
}

func (s *suite) ownIDs(t *testing.T) {
	if err := s.db.Create(&Company{Name: "own"}).Error; err != nil {
		t.Fatal(err)
	}
	own, err := nextID(s.db)
	if err != nil {
		t.Fatal(err)
	}
	rows := []Company{{ID: own, Name: "own"}, {Name: "own"}}
	entry := map[string]any{"id": own, "name": "own"}
	nothing := s.db.Clauses(clause.OnConflict{DoNothing: true}).Session(&gorm.Session{})
	if err := nothing.Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
	if err := nothing.Model(&Company{}).Create(entry).Error; err != nil {
		t.Fatal(err)
	}
	if rows[0].ID != own || entry["id"] != own {
		t.Errorf("the caller's id %d became %d and %v", own, rows[0].ID, entry["id"])
	}
	if want := id(t, s.db, "companies", "name", "own"); rows[1].ID != want {
		t.Errorf("id %d, want %d", rows[1].ID, want)
	}
}

func (s *suite) undeclared(t *testing.T) {
	if err := s.db.Create(&Secret{Word: "known"}).Error; err != nil {
		t.Fatal(err)
	}
	nothing := s.db.Clauses(clause.OnConflict{DoNothing: true}).Session(&gorm.Session{})
	rows := []Secret{{Word: "known"}, {Word: "unknown"}}
	one, entry := Secret{Word: "known"}, map[string]any{"word": "known"}
	for _, tx := range []*gorm.DB{nothing.Create(&rows), nothing.Create(&one), nothing.Model(&Secret{}).Create(entry)} {
		if tx.Error != nil {
			t.Fatal(tx.Error)
		}
	}
	if rows[0].ID != 0 || one.ID != 0 || entry["id"] != snow.ID(0) {
		t.Errorf("ids %d, %d and %v of rows that were skipped, want 0", rows[0].ID, one.ID, entry["id"])
	}
	if want := id(t, s.db, "secrets", "word", "unknown"); rows[1].ID != want {
		t.Errorf("id %d, want %d", rows[1].ID, want)
	}
	// The target tells.
	one = Secret{Word: "known"}
	if err := s.db.Clauses(on(clause.OnConflict{DoNothing: true}, "word")).Create(&one).Error; err != nil {
		t.Fatal(err)
	}
	if want := id(t, s.db, "secrets", "word", "known"); one.ID != want {
		t.Errorf("with a target: id %d, want %d", one.ID, want)
	}
}

// keys are the keys of a gadget.
func (g Gadget) keys() []any { return []any{g.ID, g.Public, *g.Token, *g.Trace} }

func (s *suite) severalKeys(t *testing.T) {
	for i, c := range []clause.OnConflict{
		{DoNothing: true},
		on(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"note"})}, "maker", "number"),
		on(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"public", "token"})}, "maker", "number"),
		on(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"id", "token"})}, "maker", "number"),
		on(clause.OnConflict{UpdateAll: true}, "maker", "number"),
	} {
		maker := fmt.Sprint("maker ", i)
		first := Gadget{Maker: maker, Number: 1, Serial: maker + " first"}
		if err := s.db.Create(&first).Error; err != nil {
			t.Fatal(err)
		}
		rows := []Gadget{{Maker: maker, Number: 1, Serial: maker + " second"}, {Maker: maker, Number: 2, Serial: maker + " third"}}
		entry := map[string]any{"Maker": maker, "number": 1, "serial": maker + " fourth"}
		if err := s.db.Clauses(c).Create(&rows).Error; err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			var stored Gadget
			if err := s.db.Where("maker = ? AND number = ?", maker, row.Number).First(&stored).Error; err != nil {
				t.Fatal(err)
			}
			if got, want := row.keys(), stored.keys(); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v: keys %v, stored are %v", c, got, want)
			}
		}
		if err := s.db.Clauses(c).Model(&Gadget{}).Create(entry).Error; err != nil {
			t.Fatal(err)
		}
		var stored Gadget
		if err := s.db.Where("maker = ? AND number = ?", maker, 1).First(&stored).Error; err != nil {
			t.Fatal(err)
		}
		if got, want := []any{entry["id"], entry["public"], entry["token"], entry["trace"]}, stored.keys(); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: the map has keys %v, stored are %v", c, got, want)
		}
	}
}

func (s *suite) ambiguous(t *testing.T) {
	for _, serial := range []string{"ambiguous 1", "ambiguous 2"} {
		if err := s.db.Create(&Gadget{Maker: serial, Serial: serial}).Error; err != nil {
			t.Fatal(err)
		}
	}
	both := Gadget{Maker: "ambiguous 1", Serial: "ambiguous 2"}
	if err := s.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&both).Error; err != nil {
		t.Fatal(err)
	}
	if both.ID != 0 || both.Public != "" || both.Token != nil || both.Trace != nil {
		t.Errorf("keys %v %v %v %v, want none", both.ID, both.Public, both.Token, both.Trace)
	}
}

func (s *suite) besideOwn(t *testing.T) {
	first := Country{Code: "de", Name: "first"}
	if err := s.db.Create(&first).Error; err != nil {
		t.Fatal(err)
	}
	nothing := s.db.Clauses(clause.OnConflict{DoNothing: true}).Session(&gorm.Session{})
	rows := []Country{{Code: "fr"}, {Code: "de"}}
	entry := map[string]any{"code": "de"}
	for _, tx := range []*gorm.DB{nothing.Create(&rows), nothing.Model(&Country{}).Create(entry)} {
		if tx.Error != nil {
			t.Fatal(tx.Error)
		}
	}
	if rows[1].Public != first.Public || entry["public"] != first.Public {
		t.Errorf("public %v and %v, want %v", rows[1].Public, entry["public"], first.Public)
	}
	column("countries", "public", first.Public, rows[0].Public).check(t, s.db)
}

func (s *suite) composite(t *testing.T) {
	first := Lot{Tenant: 1, Name: "lot"}
	if err := s.db.Create(&first).Error; err != nil {
		t.Fatal(err)
	}
	rows := []Lot{{Tenant: 1, Name: "lot"}, {Tenant: 2, Name: "lot"}, {Tenant: 2, Name: "another lot"}}
	if err := s.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
	if rows[0].ID != first.ID || rows[1].ID != 0 { // the stored id is none of tenant 2
		t.Errorf("ids %v and %v, want %v and 0", rows[0].ID, rows[1].ID, first.ID)
	}
	column("lots", "id", first.ID, rows[2].ID).check(t, s.db)
}

func (s *suite) dryRun(t *testing.T) {
	row := Company{Name: "own"}
	sent := s.log.of(func() {
		err := s.db.Session(&gorm.Session{DryRun: true}).Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error
		if err != nil {
			t.Error(err)
		}
	})
	if len(sent) != 1 || row.ID == 0 {
		t.Errorf("built %q, id %d; want 1 statement and an id", sent, row.ID)
	}
}
