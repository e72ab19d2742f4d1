package gormtest

import (
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// plain checks that an insert that can meet no row costs one statement.
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
	// Databases report whether they inserted a row with a new key, and MySQL whether it met
	// a row.
	upserts := map[string]func(db *gorm.DB) error{
		"a conflict on the new key": func(db *gorm.DB) error {
			return db.Clauses(on(clause.OnConflict{UpdateAll: true}, "id")).Create(&Topic{}).Error
		},
		"a slice that is saved": func(db *gorm.DB) error { return db.Save(make([]Topic, 2)).Error },
	}
	if s.db.Name() == "mysql" {
		clear(upserts)
	}
	for name, create := range map[string]func(db *gorm.DB) error{
		"a new row that may exist": func(db *gorm.DB) error { return db.Clauses(clause.OnConflict{DoNothing: true}).Create(&Topic{}).Error },
		"new rows that may exist": func(db *gorm.DB) error {
			return db.Clauses(clause.OnConflict{DoNothing: true}).Create(make([]Topic, 2)).Error
		},
		"a new key and an update of another column": func(db *gorm.DB) error {
			return db.Clauses(on(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"name"})}, "id")).Create(&Topic{}).Error
		},
		"a map that may exist": func(db *gorm.DB) error {
			return db.Clauses(clause.OnConflict{DoNothing: true}).Model(&Topic{}).Create(map[string]any{}).Error
		},
	} {
		upserts[name] = create
	}
	for name, create := range upserts {
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
