package gormsnow_test

import (
	"database/sql"
	"sync"
	"testing"

	"github.com/shardsnow/snow"
)

// Associations of a House by the type of the foreign key.
type (
	House[FK any] struct {
		ID    snow.ID
		Doors []Door[FK] `gorm:"foreignKey:HouseID"`
	}
	Door[FK any] struct {
		ID      snow.ID
		HouseID FK
	}
	Villa[FK any] struct {
		ID   snow.ID
		Gate Gate[FK] `gorm:"foreignKey:VillaID"`
	}
	Gate[FK any] struct {
		ID      snow.ID
		VillaID FK
	}
	Guest[FK any] struct {
		ID      int32
		HouseID FK
		House   *Hotel `gorm:"foreignKey:HouseID"`
	}
	Hotel        struct{ ID snow.ID }
	Shed[FK any] struct {
		ID    snow.ID
		Tools []Tool[FK] `gorm:"polymorphic:Owner"`
	}
	Barn[FK any] struct {
		ID   snow.ID
		Tool Tool[FK] `gorm:"polymorphic:Owner"`
	}
	Tool[FK any] struct {
		ID        snow.ID
		OwnerID   FK
		OwnerType string
	}
	Street struct {
		ID     snow.ID
		Hotels []Hotel `gorm:"many2many:street_hotels"`
	}
	StreetHotel[Own, Ref any] struct {
		ID       snow.ID
		StreetID Own
		HotelID  Ref
	}
	// By the type of the key.
	Block[Key, FK any] struct {
		ID    Key        `gorm:"primaryKey;autoIncrement:false;snowflake"`
		Flats []Flat[FK] `gorm:"foreignKey:BlockID"`
	}
	Flat[FK any] struct {
		ID      snow.ID
		BlockID FK
	}
	// A Camp is embedded and brings its association along.
	Camp struct {
		Tents []Flat[string] `gorm:"foreignKey:BlockID"`
	}
	Site struct {
		ID snow.ID
		Camp
	}
	Museum struct {
		ID    snow.ID
		Rooms []Flat[string] `gorm:"foreignKey:BlockID;->"`
	}
	// The foreign key refers to an id that is no key of the plugin.
	Depot struct {
		ID     int64 `gorm:"primaryKey;autoIncrement:false"`
		Public snow.ID
		Racks  []Flat[int32] `gorm:"foreignKey:BlockID;references:Public"`
	}
	Legacy struct {
		ID    int64         `gorm:"primaryKey;autoIncrement:false"`
		Flats []Flat[int32] `gorm:"foreignKey:BlockID"`
	}
)

func TestForeignKeysThatHoldNoIDAreRefused(t *testing.T) {
	t.Parallel()
	const character, small = "would get a character", "is too small"
	const pkg = "gormsnow_test."
	for name, tt := range map[string]struct {
		row                  any
		model, field, reason string
	}{
		"has many, string":              {&House[string]{}, pkg + "Door[string]", "HouseID", "string " + character},
		"has many, *string":             {&House[*string]{}, pkg + "Door[*string]", "HouseID", "string " + character},
		"has many, int8":                {&House[int8]{}, pkg + "Door[int8]", "HouseID", "int8 " + small},
		"has many, int16":               {&House[int16]{}, pkg + "Door[int16]", "HouseID", "int16 " + small},
		"has many, int32":               {&House[int32]{}, pkg + "Door[int32]", "HouseID", "int32 " + small},
		"has many, *int32":              {&House[*int32]{}, pkg + "Door[*int32]", "HouseID", "int32 " + small},
		"has many, uint8":               {&House[uint8]{}, pkg + "Door[uint8]", "HouseID", "uint8 " + small},
		"has many, uint16":              {&House[uint16]{}, pkg + "Door[uint16]", "HouseID", "uint16 " + small},
		"has many, uint32":              {&House[uint32]{}, pkg + "Door[uint32]", "HouseID", "uint32 " + small},
		"has many, float64":             {&House[float64]{}, pkg + "Door[float64]", "HouseID", "float64 " + small},
		"has many, bool":                {&House[bool]{}, pkg + "Door[bool]", "HouseID", "bool " + small},
		"has one, string":               {&Villa[string]{}, pkg + "Gate[string]", "VillaID", "string " + character},
		"has one, int32":                {&Villa[int32]{}, pkg + "Gate[int32]", "VillaID", "int32 " + small},
		"belongs to, string":            {&Guest[string]{}, pkg + "Guest[string]", "HouseID", "string " + character},
		"belongs to, int32":             {&Guest[int32]{}, pkg + "Guest[int32]", "HouseID", "int32 " + small},
		"polymorphic has many, string":  {&Shed[string]{}, pkg + "Tool[string]", "OwnerID", "string " + character},
		"polymorphic has many, uint32":  {&Shed[uint32]{}, pkg + "Tool[uint32]", "OwnerID", "uint32 " + small},
		"polymorphic has one, string":   {&Barn[string]{}, pkg + "Tool[string]", "OwnerID", "string " + character},
		"named integer to string":       {&Block[OrderID, string]{}, pkg + "Flat[string]", "BlockID", "string " + character},
		"integer to int32":              {&Block[int64, int32]{}, pkg + "Flat[int32]", "BlockID", "int32 " + small},
		"text to int32":                 {&Block[string, int32]{}, pkg + "Flat[int32]", "BlockID", "int32 " + small},
		"of an embedded struct":         {&Site{}, pkg + "Flat[string]", "BlockID", "string " + character},
		"reference to an id, not a key": {&Depot{}, pkg + "Flat[int32]", "BlockID", "int32 " + small},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, tt.row, tt.model, tt.field, tt.reason) })
	}
}

func TestJoinRowsThatHoldNoIDAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		join                 any
		model, field, reason string
	}{
		"own side":       {&StreetHotel[string, snow.ID]{}, "gormsnow_test.StreetHotel[string,github.com/shardsnow/snow.ID]", "StreetID", "would get a character"},
		"referring side": {&StreetHotel[snow.ID, int32]{}, "gormsnow_test.StreetHotel[github.com/shardsnow/snow.ID,int32]", "HotelID", "is too small"},
	} {
		t.Run(name, func(t *testing.T) {
			db := dry(t, newSequence())
			if err := db.SetupJoinTable(&Street{}, "Hotels", tt.join); err != nil {
				t.Fatal(err)
			}
			wantFieldError(t, db.Create(&Street{Hotels: []Hotel{{}}}), tt.model, tt.field, tt.reason)
		})
	}
}

func TestForeignKeysThatHoldTheID(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		row any
		got func(row any) any
		// What the foreign key holds then. The first id is the parent's.
		want any
	}{
		"snow.ID":           {&House[snow.ID]{Doors: make([]Door[snow.ID], 1)}, func(r any) any { return r.(*House[snow.ID]).Doors[0].HouseID }, snow.ID(1001)},
		"*snow.ID":          {&House[*snow.ID]{Doors: make([]Door[*snow.ID], 1)}, func(r any) any { return *r.(*House[*snow.ID]).Doors[0].HouseID }, snow.ID(1001)},
		"int64":             {&House[int64]{Doors: make([]Door[int64], 1)}, func(r any) any { return r.(*House[int64]).Doors[0].HouseID }, int64(1001)},
		"*uint64":           {&House[*uint64]{Doors: make([]Door[*uint64], 1)}, func(r any) any { return *r.(*House[*uint64]).Doors[0].HouseID }, uint64(1001)},
		"sql.NullInt64":     {&House[sql.NullInt64]{Doors: make([]Door[sql.NullInt64], 1)}, func(r any) any { return r.(*House[sql.NullInt64]).Doors[0].HouseID }, sql.NullInt64{Int64: 1001, Valid: true}},
		"belongs to":        {&Guest[int64]{House: new(Hotel)}, func(r any) any { return r.(*Guest[int64]).HouseID }, int64(1001)},
		"polymorphic":       {&Shed[int64]{Tools: make([]Tool[int64], 1)}, func(r any) any { return r.(*Shed[int64]).Tools[0].OwnerID }, int64(1001)},
		"integer to string": {&Block[int64, string]{Flats: make([]Flat[string], 1)}, func(r any) any { return r.(*Block[int64, string]).Flats[0].BlockID }, "1001"},
		"uint64 to string":  {&Block[uint64, string]{Flats: make([]Flat[string], 1)}, func(r any) any { return r.(*Block[uint64, string]).Flats[0].BlockID }, "1001"},
		"text to text":      {&Block[string, string]{Flats: make([]Flat[string], 1)}, func(r any) any { return r.(*Block[string, string]).Flats[0].BlockID }, "1001"},
		"text to integer":   {&Block[string, int64]{Flats: make([]Flat[int64], 1)}, func(r any) any { return r.(*Block[string, int64]).Flats[0].BlockID }, int64(1001)},
		"never saved":       {&Museum{Rooms: make([]Flat[string], 1)}, func(r any) any { return r.(*Museum).Rooms[0].BlockID }, ""},
		"no id":             {&Legacy{ID: 5, Flats: make([]Flat[int32], 1)}, func(r any) any { return r.(*Legacy).Flats[0].BlockID }, int32(5)},
	} {
		t.Run(name, func(t *testing.T) {
			if err := dry(t, newSequence()).Table("rows").Create(tt.row).Error; err != nil {
				t.Fatal(err)
			}
			if got := tt.got(tt.row); got != tt.want {
				t.Errorf("foreign key = %#v, want %#v", got, tt.want)
			}
		})
	}
}

// Parsing a parent writes to the fields and relations of its child. For
// polymorphic associations and join tables GORM does so without a lock.
func TestConcurrentChecks(t *testing.T) {
	t.Parallel()
	for range 50 {
		db := dry(t, newSequence()) // knows no schema yet
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				wantFieldError(t, db.Create(&House[string]{}), "gormsnow_test.Door[string]", "HouseID", "character")
			})
			wg.Go(func() {
				wantFieldError(t, db.Create(&Guest[int32]{}), "gormsnow_test.Guest[int32]", "HouseID", "small")
			})
			for _, row := range []any{&Door[string]{}, &Hotel{}, &Cart{}, &Line{}} {
				wg.Go(func() {
					if err := db.Create(row).Error; err != nil {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
	}
}
