package gormtest

import (
	"fmt"
	"reflect"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
)

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
	// The conflict target identifies the row.
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
