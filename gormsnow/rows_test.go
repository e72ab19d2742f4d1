package gormsnow_test

import (
	"database/sql"
	"errors"
	"testing"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
)

func TestRowsRefused(t *testing.T) {
	t.Parallel()
	type Other struct {
		ID    snow.ID
		Buyer string
	}
	var nilMap map[string]any
	order := Order{}
	for name, tt := range map[string]struct {
		create func(db *gorm.DB) *gorm.DB
		reason string
	}{
		"a struct by value":            {func(db *gorm.DB) *gorm.DB { return db.Create(Order{}) }, "pass a pointer"},
		"an array by value":            {func(db *gorm.DB) *gorm.DB { return db.Create([1]Order{}) }, "pass a pointer"},
		"a value of another type":      {func(db *gorm.DB) *gorm.DB { return db.Model(Order{}).Create(&Other{}) }, "of type gormsnow_test.Other"},
		"a slice of another type":      {func(db *gorm.DB) *gorm.DB { return db.Model(Order{}).Create([]Other{{}}) }, "of type gormsnow_test.Other"},
		"a slice of interfaces":        {func(db *gorm.DB) *gorm.DB { return db.Model(Order{}).Create([]any{&order}) }, "of type interface {}"},
		"a slice of double pointers":   {func(db *gorm.DB) *gorm.DB { return db.Create([]**Order{ptr(&order)}) }, "of type *gormsnow_test.Order"},
		"a nil map":                    {func(db *gorm.DB) *gorm.DB { return db.Model(Order{}).Create(nilMap) }, "nil map"},
		"a pointer to a nil map":       {func(db *gorm.DB) *gorm.DB { return db.Model(Order{}).Create(&nilMap) }, "nil map"},
		"a nil map among maps":         {func(db *gorm.DB) *gorm.DB { return db.Model(Order{}).Create([]map[string]any{{}, nil}) }, "nil map"},
		"a map with the key twice":     {func(db *gorm.DB) *gorm.DB { return db.Model(Order{}).Create(map[string]any{"ID": 1, "id": 0}) }, "under two names"},
		"the key omitted":              {func(db *gorm.DB) *gorm.DB { return db.Omit("ID").Create(&Order{}) }, "Omit"},
		"the column omitted":           {func(db *gorm.DB) *gorm.DB { return db.Omit("id").Create(&Order{ID: 5}) }, "Omit"},
		"the key omitted from a map":   {func(db *gorm.DB) *gorm.DB { return db.Model(Order{}).Omit("ID").Create(map[string]any{}) }, "Omit"},
		"the key selected and omitted": {func(db *gorm.DB) *gorm.DB { return db.Select("*").Omit("ID").Create(&Order{}) }, "Omit"},
	} {
		t.Run(name, func(t *testing.T) {
			src := newSequence()
			db, _ := mock(t, src, &gorm.Config{SkipDefaultTransaction: true}) // expects nothing
			wantFieldError(t, tt.create(db), "gormsnow_test.Order", "ID", tt.reason)
			if len(src.fills) != 0 || order.ID != 0 {
				t.Errorf("asked the source for %v, set id %d", src.fills, order.ID)
			}
		})
	}
}

// What GORM refuses by itself stays its own error.
func TestRowsLeftToGORM(t *testing.T) {
	t.Parallel()
	type strange map[string]any
	var none *Order
	var noMap *map[string]any
	for name, tt := range map[string]struct {
		create func(db *gorm.DB) *gorm.DB
		want   error
	}{
		"a nil pointer":                        {func(db *gorm.DB) *gorm.DB { return db.Create(none) }, gorm.ErrInvalidValue},
		"a nil pointer to a map":               {func(db *gorm.DB) *gorm.DB { return db.Model(Order{}).Create(noMap) }, gorm.ErrInvalidValue},
		"a nil element":                        {func(db *gorm.DB) *gorm.DB { return db.Create([]*Order{{}, nil}) }, gorm.ErrInvalidData},
		"a nil element of a model with a hook": {func(db *gorm.DB) *gorm.DB { return db.Create([]*Ticket{{}, nil}) }, gorm.ErrInvalidData},
		"no rows":                              {func(db *gorm.DB) *gorm.DB { return db.Create(&[]Order{}) }, gorm.ErrEmptySlice},
		"no maps":                              {func(db *gorm.DB) *gorm.DB { return db.Model(Order{}).Create([]map[string]any{}) }, gorm.ErrEmptySlice},
		"a map of another type":                {func(db *gorm.DB) *gorm.DB { return db.Model(Order{}).Create(strange{}) }, gorm.ErrInvalidData},
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := mock(t, newSequence(), &gorm.Config{SkipDefaultTransaction: true})
			if err := tt.create(db).Error; !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}

func TestCopyWithPointerToZero(t *testing.T) {
	t.Parallel()
	tx := dry(t, newSequence()).Create(byTypePointer{ID: new(snow.ID)})
	wantFieldError(t, tx, "gormsnow_test.byTypePointer", "ID", "pass a pointer")
}

// An array of pointers can be set although the array is a copy.
func TestArrayOfPointersByValue(t *testing.T) {
	t.Parallel()
	order := Order{}
	if err := dry(t, newSequence()).Create([1]*Order{&order}).Error; err != nil || order.ID != 1001 {
		t.Errorf("Create: id %d, %v; want 1001", order.ID, err)
	}
}

// A copy that needs no id can be inserted.
func TestValueWithItsID(t *testing.T) {
	t.Parallel()
	if err := dry(t, newSequence()).Create(Order{ID: 5}).Error; err != nil {
		t.Error(err)
	}
}

// The caller chooses the types in a map.
func TestZeroEntriesOfMaps(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		model any
		entry any
		want  any
	}{
		"integer":                  {&Order{}, 0, snow.ID(1001)},
		"pointer to zero":          {&Order{}, ptr(int64(0)), snow.ID(1001)},
		"text":                     {&Order{}, "0", snow.ID(1001)},
		"empty text":               {&Order{}, "", snow.ID(1001)},
		"pointer to text":          {&Order{}, ptr("0"), snow.ID(1001)},
		"null":                     {&Order{}, sql.NullInt64{Int64: 5}, snow.ID(1001)},
		"valid zero":               {&Order{}, sql.NullInt64{Valid: true}, snow.ID(1001)},
		"pointer to a valid zero":  {&Order{}, &sql.NullInt64{Valid: true}, snow.ID(1001)},
		"valid text":               {&Order{}, sql.NullString{String: "0", Valid: true}, snow.ID(1001)},
		"a set value":              {&Order{}, 5, 5},
		"a set text":               {&Order{}, "5", "5"},
		"a set Valuer":             {&Order{}, sql.NullInt64{Int64: 5, Valid: true}, sql.NullInt64{Int64: 5, Valid: true}},
		"null for a text":          {&Coupon{}, sql.NullString{String: "a"}, "1001"},
		"empty Valuer for a text":  {&Coupon{}, sql.NullString{Valid: true}, "1001"},
		"the digit zero as a text": {&Coupon{}, "0", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			key := "id"
			row := map[string]any{}
			if _, ok := tt.model.(*Coupon); ok {
				key, row["token"] = "code", 7
			}
			row[key] = tt.entry
			if err := dry(t, newSequence()).Model(tt.model).Create(row).Error; err != nil || row[key] != tt.want {
				t.Errorf("%s = %#v, %v; want %#v", key, row[key], err, tt.want)
			}
		})
	}
}
