package gormtest

import (
	"fmt"
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

func on(c clause.OnConflict, columns ...string) clause.OnConflict {
	for _, name := range columns {
		c.Columns = append(c.Columns, clause.Column{Name: name})
	}
	return c
}

// companies are functions that insert companies with these names and return their ids.
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

// RowsAffected is the same as without the plugin.
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
