package gormsnow_test

import (
	"context"
	"database/sql"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

type (
	// OrderID has the kind of snow.ID but not its methods.
	OrderID int64

	Base struct {
		ID snow.ID `gorm:"primaryKey;snowflake"`
	}
	Ref struct {
		Code string `gorm:"snowflake"`
	}
)

type keyed interface{ keys() []any }

func ptr[T any](v T) *T { return &v }

// Models, and the keys that the plugin assigns, in order.
type (
	byType        struct{ ID snow.ID }
	byTypePointer struct{ ID *snow.ID }
	otherName     struct {
		Number snow.ID `gorm:"primaryKey;column:no"`
	}
	tagged struct {
		ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	}
	kinds struct {
		ID      uint64   `gorm:"autoIncrement:false;snowflake"`
		Public  snow.ID  `gorm:"snowflake"`
		Pointer *snow.ID `gorm:"snowflake"`
		Int     *int64   `gorm:"SnowFlake"`
		Uint    *uint64  `gorm:" snowflake ; not null"`
		Text    string   `gorm:"snowflake"`
		TextPtr *string  `gorm:"snowflake"`
		Named   OrderID  `gorm:"snowflake"`
		Other   snow.ID
		Count   int64
	}
	composite struct {
		Tenant int64   `gorm:"primaryKey;autoIncrement:false"`
		ID     snow.ID `gorm:"primaryKey;autoIncrement:false;snowflake"`
	}
	pair struct {
		OrderID snow.ID `gorm:"primaryKey"`
		ItemID  snow.ID `gorm:"primaryKey"`
	}
	modelOfTenant struct {
		gormsnow.Model
		Tenant int64 `gorm:"primaryKey;autoIncrement:false"`
	}
	embedsPointer struct {
		*Base
		Name string
	}
	embedsNamed struct {
		Base Base `gorm:"embedded;embeddedPrefix:own_"`
		Ref  *Ref `gorm:"embedded;embeddedPrefix:ref_"`
	}
	embedsTwo struct {
		ID    snow.ID
		Left  Ref `gorm:"embedded;embeddedPrefix:left_"`
		Right Ref `gorm:"embedded;embeddedPrefix:right_"`
	}
	hides struct {
		Base
		ID string `gorm:"primaryKey;snowflake"`
	}
	plain struct {
		ID   uint64
		Name string
	}
	taggedTrue struct {
		ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake:true"`
	}
	untagged struct {
		ID     int64   `gorm:"primaryKey;snowflake:false"`
		Public snow.ID `gorm:"snowflake:FALSE"`
	}
	byProgram struct {
		ID snow.ID `gorm:"snowflake:false"`
	}
	counting struct {
		ID OrderID `gorm:"autoIncrement"`
	}
)

func (m *taggedTrue) keys() []any    { return []any{m.ID} }
func (m *untagged) keys() []any      { return []any{m.ID, m.Public} }
func (m *byProgram) keys() []any     { return []any{m.ID} }
func (m *counting) keys() []any      { return []any{m.ID} }
func (m *byType) keys() []any        { return []any{m.ID} }
func (m *byTypePointer) keys() []any { return []any{*m.ID} }
func (m *otherName) keys() []any     { return []any{m.Number} }
func (m *tagged) keys() []any        { return []any{m.ID} }

func (m *kinds) keys() []any {
	return []any{m.ID, m.Public, *m.Pointer, *m.Int, *m.Uint, m.Text, *m.TextPtr, m.Named, m.Other, m.Count}
}

func (m *composite) keys() []any     { return []any{m.Tenant, m.ID} }
func (m *pair) keys() []any          { return []any{m.OrderID, m.ItemID} }
func (m *modelOfTenant) keys() []any { return []any{m.ID, m.Tenant} }
func (m *embedsPointer) keys() []any { return []any{m.ID} }
func (m *embedsNamed) keys() []any   { return []any{m.Base.ID, m.Ref.Code} }
func (m *embedsTwo) keys() []any     { return []any{m.ID, m.Left.Code, m.Right.Code} }
func (m *hides) keys() []any         { return []any{m.ID, m.Base.ID} }
func (m *plain) keys() []any         { return []any{m.ID} }

func TestWhichFieldsAreKeys(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		row  keyed
		want []any
	}{
		"typed single primary key":       {&byType{}, []any{snow.ID(1001)}},
		"pointer to an id":               {&byTypePointer{}, []any{snow.ID(1001)}},
		"pointer to a zero id":           {&byTypePointer{ID: new(snow.ID)}, []any{snow.ID(1001)}},
		"other column name":              {&otherName{}, []any{snow.ID(1001)}},
		"tagged integer":                 {&tagged{}, []any{int64(1001)}},
		"every kind, only what is zero":  {&kinds{Int: ptr(int64(-5))}, []any{uint64(1001), snow.ID(1002), snow.ID(1003), int64(-5), uint64(1004), "1005", "1006", OrderID(1007), snow.ID(0), int64(0)}},
		"tagged member of composite key": {&composite{Tenant: 4}, []any{int64(4), snow.ID(1001)}},
		"untagged composite key":         {&pair{4, 5}, []any{snow.ID(4), snow.ID(5)}},
		"tag with a truth":               {&taggedTrue{}, []any{int64(1001)}},
		"tag that is turned off":         {&untagged{}, []any{int64(0), snow.ID(0)}},
		"key that is turned off":         {&byProgram{ID: 6}, []any{snow.ID(6)}},
		"a number that is told apart":    {&counting{}, []any{OrderID(0)}},
		"Model in a composite key":       {&modelOfTenant{Tenant: 4}, []any{snow.ID(1001), int64(4)}},
		"nil embedded pointer":           {&embedsPointer{}, []any{snow.ID(1001)}},
		"named embedded":                 {&embedsNamed{}, []any{snow.ID(1001), "1002"}},
		"one struct embedded twice":      {&embedsTwo{}, []any{snow.ID(1001), "1002", "1003"}},
		"hidden by an outer field":       {&hides{}, []any{"1001", snow.ID(0)}},
		"values that the caller set":     {&kinds{1, 2, ptr(snow.ID(3)), ptr(int64(4)), ptr(uint64(5)), "six", ptr("7"), -8, 9, 10}, []any{uint64(1), snow.ID(2), snow.ID(3), int64(4), uint64(5), "six", "7", OrderID(-8), snow.ID(9), int64(10)}},
		"not our key":                    {&plain{}, []any{uint64(0)}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := dry(t, newSequence()).Create(tt.row).Error; err != nil {
				t.Fatal(err)
			}
			got := tt.row.keys()
			for i, want := range tt.want {
				if got[i] != want {
					t.Errorf("key %d = %#v, want %#v", i, got[i], want)
				}
			}
		})
	}
}

// Every kind of field must hold the largest id.
func TestKindsHoldTheLargestID(t *testing.T) {
	t.Parallel()
	src := sourceFunc(func(_ context.Context, ids []snow.ID) error { ids[0] = math.MaxInt64; return nil })
	db := dry(t, src)
	rows := []keyed{&byType{}, &tagged{}, &hides{}, &byTypePointer{}}
	want := []any{snow.ID(math.MaxInt64), int64(math.MaxInt64), "9223372036854775807", snow.ID(math.MaxInt64)}
	for i, row := range rows {
		if err := db.Create(row).Error; err != nil {
			t.Fatal(err)
		}
		if got := row.keys()[0]; got != want[i] {
			t.Errorf("%T: %#v, want %#v", row, got, want[i])
		}
	}
}

func TestModelsRefused(t *testing.T) {
	t.Parallel()
	type (
		small struct {
			ID int32 `gorm:"autoIncrement:false;snowflake"`
		}
		auto struct {
			ID int64 `gorm:"primaryKey;snowflake"`
		}
		named struct {
			ID OrderID `gorm:"snowflake"`
		}
		autoTyped struct {
			ID snow.ID `gorm:"primaryKey;autoIncrement"`
		}
		readOnly struct {
			ID snow.ID `gorm:"->"`
		}
		updateOnly struct {
			ID snow.ID `gorm:"<-:update"`
		}
		twice struct {
			ID **snow.ID `gorm:"primaryKey"`
		}
		wrong struct {
			ID snow.ID `gorm:"snowflake:yes"`
		}
	)
	type empty struct {
		ID snow.ID `gorm:"snowflake:"`
	}
	type around struct {
		ID  snow.ID
		Ref struct{ Name string } `gorm:"embedded;snowflake"`
	}
	type second[T any] struct {
		ID  snow.ID
		Key T `gorm:"snowflake"`
	}
	const small64 = "can't hold an id"
	for name, tt := range map[string]struct {
		row    any
		model  string
		field  string
		reason string
	}{
		"int32 key":                 {&small{}, "gormsnow_test.small", "ID", "int32 " + small64},
		"int64 key":                 {&auto{}, "gormsnow_test.auto", "ID", "add autoIncrement:false"},
		"named integer key":         {&named{}, "gormsnow_test.named", "ID", "add autoIncrement:false"},
		"typed auto-increment key":  {&autoTyped{}, "gormsnow_test.autoTyped", "ID", "AUTO_INCREMENT"},
		"read-only key":             {&readOnly{}, "gormsnow_test.readOnly", "ID", "read-only"},
		"update-only key":           {&updateOnly{}, "gormsnow_test.updateOnly", "ID", "read-only"},
		"pointer to a pointer":      {&twice{}, "gormsnow_test.twice", "ID", "**snow.ID " + small64},
		"tag with a value":          {&wrong{}, "gormsnow_test.wrong", "ID", `not "snowflake:yes"`},
		"tag with an empty value":   {&empty{}, "gormsnow_test.empty", "ID", `not "snowflake:"`},
		"tag on an embedded struct": {&around{}, "gormsnow_test.around", "Name", "tag the field itself"},
		"int8":                      {&second[int8]{}, "gormsnow_test.second[int8]", "Key", "int8 " + small64},
		"int16":                     {&second[int16]{}, "gormsnow_test.second[int16]", "Key", "int16 " + small64},
		"uint8":                     {&second[uint8]{}, "gormsnow_test.second[uint8]", "Key", "uint8 " + small64},
		"uint16":                    {&second[uint16]{}, "gormsnow_test.second[uint16]", "Key", "uint16 " + small64},
		"uint32":                    {&second[uint32]{}, "gormsnow_test.second[uint32]", "Key", "uint32 " + small64},
		"*int32":                    {&second[*int32]{}, "gormsnow_test.second[*int32]", "Key", "*int32 " + small64},
		"float":                     {&second[float64]{}, "gormsnow_test.second[float64]", "Key", "float64 " + small64},
		"bytes":                     {&second[[]byte]{}, "gormsnow_test.second[[]uint8]", "Key", small64},
		"time":                      {&second[time.Time]{}, "gormsnow_test.second[time.Time]", "Key", small64},
		"sql.NullInt64":             {&second[sql.NullInt64]{}, "gormsnow_test.second[database/sql.NullInt64]", "Key", small64},
		"association": {&struct {
			ID    snow.ID
			RefID snow.ID
			Ref   Order `gorm:"snowflake"`
		}{}, "struct { ID snow.ID; RefID snow.ID; Ref gormsnow_test.Order \"gorm:\\\"snowflake\\\"\" }", "Ref", "no column"},
		"serializer": {&struct {
			ID int64 `gorm:"autoIncrement:false;snowflake;serializer:json"`
		}{}, "struct { ID int64 \"gorm:\\\"autoIncrement:false;snowflake;serializer:json\\\"\" }", "ID", "serializer"},
		"two wrong keys, the first": {&struct {
			A int8 `gorm:"snowflake"`
			B int8 `gorm:"snowflake"`
		}{}, "struct { A int8 \"gorm:\\\"snowflake\\\"\"; B int8 \"gorm:\\\"snowflake\\\"\" }", "A", small64},
		"default of the database": {&struct {
			ID snow.ID `gorm:"default:(uuid_short())"`
		}{}, "struct { ID snow.ID \"gorm:\\\"default:(uuid_short())\\\"\" }", "ID", "default"},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, tt.row, tt.model, tt.field, tt.reason) })
	}
}

func TestIntegersWithoutSize(t *testing.T) {
	t.Parallel()
	type row struct {
		ID  snow.ID
		Int int   `gorm:"snowflake"`
		Ptr *uint `gorm:"snowflake"`
	}
	r := row{}
	tx := dry(t, newSequence()).Create(&r)
	if strconv.IntSize < 64 {
		wantFieldError(t, tx, "gormsnow_test.row", "Int", "can't hold an id")
		return
	}
	if tx.Error != nil || r.Int != 1002 || *r.Ptr != 1003 {
		t.Errorf("Create = %+v, %v; want 1002 and 1003", r, tx.Error)
	}
}

// GORM copies the key fields of both models into the join table, tags included.
type (
	Student struct {
		ID      int64    `gorm:"primaryKey;autoIncrement:false;snowflake"`
		Courses []Course `gorm:"many2many:enrolments"`
	}
	Course struct {
		Base
		Title string
	}
)

// An Enrolment is a join table with a key of its own.
type Enrolment struct {
	ID        snow.ID
	StudentID int64
	CourseID  snow.ID
}

// A Profile has the key of its user.
type (
	User struct {
		ID snow.ID
	}
	Profile struct {
		UserID snow.ID `gorm:"primaryKey"`
		User   *User
		Bio    string
	}
	Account struct {
		gormsnow.Model
		User User `gorm:"foreignKey:ID;belongsTo:x"`
	}
	// An Owner gives its key to its card.
	Owner struct {
		ID   snow.ID
		Card User `gorm:"foreignKey:ID"`
	}
)
