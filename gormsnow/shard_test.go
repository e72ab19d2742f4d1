package gormsnow_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/gormtest"
)

// sharded is a source that gives 64, 128, … in a layout with 6 shard bits.
type sharded struct {
	layout snow.Layout
	step   snow.ID
	last   snow.ID
	fills  []int
}

func (s *sharded) Layout() snow.Layout { return s.layout }

func (s *sharded) Next(ctx context.Context) (snow.ID, error) {
	var one [1]snow.ID
	err := s.Fill(ctx, one[:])
	return one[0], err
}

func (s *sharded) Fill(_ context.Context, ids []snow.ID) error {
	s.fills = append(s.fills, len(ids))
	for i := range ids {
		s.last += s.step
		ids[i] = s.last
	}
	return nil
}

func newSharded(t *testing.T) *sharded { return &sharded{layout: gormtest.Layout(t), step: 64} }

type (
	Bid[T any] struct {
		ID    snow.ID `gorm:"primaryKey" snow:"shard=Owner"`
		Owner T
	}
	// A Group has a field of the same name in and around an embedded struct.
	Stamp struct {
		Code string `gorm:"snowflake" snow:"shard=Zone"`
		Zone int
	}
	Group struct {
		ID    snow.ID `snow:"shard=Zone"`
		Stamp Stamp   `gorm:"embedded;embeddedPrefix:stamp_"`
		Zone  snow.ID
	}
	GroupOutside struct {
		ID   snow.ID
		Mark struct {
			Code string `gorm:"snowflake" snow:"shard=Zone"`
		} `gorm:"embedded;embeddedPrefix:mark_"`
		Zone snow.ID
	}
	Seller struct {
		ID    snow.ID `gorm:"primaryKey" snow:"shard=City"` // copied into the join table
		City  string
		Goods []Item `gorm:"many2many:seller_goods"`
	}
	Sale struct {
		ID       snow.ID `snow:"shard=SellerID"`
		SellerID snow.ID
		Seller   *Item
	}
	// A Lodger takes the shard for the key of the struct that it embeds.
	Lodger struct {
		gormsnow.Model `snow:"shard=City"`
		City           string
	}
	SoftLodger struct {
		gormsnow.SoftModel `snow:"shard=City"`
		City               string
	}
	LodgerAround struct {
		Lodger
		Note string
	}
	LodgerByPointer struct {
		*Base `snow:"shard=City"`
		City  string
	}
	// One key in the struct has a tag of its own.
	LodgerOfTwo struct {
		ID  snow.ID
		Own struct {
			Left  snow.ID `gorm:"snowflake"`
			Right snow.ID `gorm:"snowflake" snow:"shard=Zone"`
			Zone  int
		} `gorm:"embedded;embeddedPrefix:own_" snow:"shard=City"`
		City string
	}
	moving struct {
		ID   snow.ID `snow:"shard=City"`
		City string
		to   string
	}
)

func (m *moving) BeforeCreate(*gorm.DB) error {
	if m.to != "" {
		m.City = m.to
	}
	return nil
}

func lodgerOfTwo() *LodgerOfTwo {
	row := &LodgerOfTwo{City: "ulm"}
	row.Own.Zone = 5
	return row
}

func TestShardOf(t *testing.T) {
	t.Parallel()
	layout := gormtest.Layout(t)
	hash, text := layout.Shard(snow.ID(snow.HashShardInt(5))), layout.Shard(snow.ID(snow.HashShard("ulm")))
	zero := layout.Shard(snow.ID(snow.HashShardInt(0)))
	for name, tt := range map[string]struct {
		row  any
		id   func(row any) snow.ID
		want uint64
	}{
		"ID":                     {&Bid[snow.ID]{Owner: 69}, func(r any) snow.ID { return r.(*Bid[snow.ID]).ID }, 5},
		"*ID":                    {&Bid[*snow.ID]{Owner: ptr(snow.ID(70))}, func(r any) snow.ID { return r.(*Bid[*snow.ID]).ID }, 6},
		"int":                    {&Bid[int]{Owner: 5}, func(r any) snow.ID { return r.(*Bid[int]).ID }, hash},
		"int8":                   {&Bid[int8]{Owner: 5}, func(r any) snow.ID { return r.(*Bid[int8]).ID }, hash},
		"uint64":                 {&Bid[uint64]{Owner: 5}, func(r any) snow.ID { return r.(*Bid[uint64]).ID }, hash},
		"named integer":          {&Bid[OrderID]{Owner: 5}, func(r any) snow.ID { return r.(*Bid[OrderID]).ID }, hash},
		"*uint16":                {&Bid[*uint16]{Owner: ptr(uint16(5))}, func(r any) snow.ID { return r.(*Bid[*uint16]).ID }, hash},
		"pointer to zero":        {&Bid[*int]{Owner: new(int)}, func(r any) snow.ID { return r.(*Bid[*int]).ID }, zero},
		"string":                 {&Bid[string]{Owner: "ulm"}, func(r any) snow.ID { return r.(*Bid[string]).ID }, text},
		"*string":                {&Bid[*string]{Owner: ptr("ulm")}, func(r any) snow.ID { return r.(*Bid[*string]).ID }, text},
		"own field of the model": {&Group{Zone: 71, Stamp: Stamp{Zone: 5}}, func(r any) snow.ID { return r.(*Group).ID }, 7},
		"own field of an embedded struct": {&Group{Zone: 71, Stamp: Stamp{Zone: 5}}, func(r any) snow.ID {
			id, _ := snow.ParseID(r.(*Group).Stamp.Code)
			return id
		}, hash},
		"field around an embedded struct": {&GroupOutside{Zone: 72}, func(r any) snow.ID {
			id, _ := snow.ParseID(r.(*GroupOutside).Mark.Code)
			return id
		}, 8},
		"tag on an embedded Model":       {&Lodger{City: "ulm"}, func(r any) snow.ID { return r.(*Lodger).ID }, text},
		"tag on an embedded SoftModel":   {&SoftLodger{City: "ulm"}, func(r any) snow.ID { return r.(*SoftLodger).ID }, text},
		"the same in an embedded struct": {&LodgerAround{Lodger: Lodger{City: "ulm"}}, func(r any) snow.ID { return r.(*LodgerAround).ID }, text},
		"tag on an embedded pointer":     {&LodgerByPointer{City: "ulm"}, func(r any) snow.ID { return r.(*LodgerByPointer).ID }, text},
		"tag on a named embedded struct": {lodgerOfTwo(), func(r any) snow.ID { return r.(*LodgerOfTwo).Own.Left }, text},
		"a key in it that has its own":   {lodgerOfTwo(), func(r any) snow.ID { return r.(*LodgerOfTwo).Own.Right }, hash},
		"copied into a join table":       {&Seller{City: "ulm", Goods: []Item{{}}}, func(r any) snow.ID { return r.(*Seller).ID }, text},
		"set by a hook":                  {&moving{to: "ulm"}, func(r any) snow.ID { return r.(*moving).ID }, text},
		"of the parent":                  {&Sale{Seller: &Item{}}, func(r any) snow.ID { return r.(*Sale).ID }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			src := newSharded(t)
			if err := dry(t, src).Table("rows").Create(tt.row).Error; err != nil {
				t.Fatal(err)
			}
			if id := tt.id(tt.row); id < 64 || layout.Shard(id) != tt.want {
				t.Errorf("id %d has shard %d, want %d", id, layout.Shard(id), tt.want)
			}
		})
	}
}

func TestShardOfMaps(t *testing.T) {
	t.Parallel()
	layout := gormtest.Layout(t)
	for name, tt := range map[string]struct {
		model any
		owner any
		want  uint64
	}{
		"ID":                {&Bid[snow.ID]{}, snow.ID(69), 5},
		"int as an ID":      {&Bid[snow.ID]{}, 69, 5},
		"text as an ID":     {&Bid[snow.ID]{}, "69", 5},
		"pointer to an ID":  {&Bid[*snow.ID]{}, ptr(snow.ID(69)), 5},
		"int":               {&Bid[int64]{}, 5, snow.HashShardInt(5)},
		"uint8 as an int":   {&Bid[int64]{}, uint8(5), snow.HashShardInt(5)},
		"text as an int":    {&Bid[int64]{}, "5", snow.HashShardInt(5)},
		"pointer to zero":   {&Bid[*int64]{}, new(int32), snow.HashShardInt(0)},
		"string":            {&Bid[string]{}, "ulm", snow.HashShard("ulm")},
		"bytes as a string": {&Bid[string]{}, []byte("ulm"), snow.HashShard("ulm")},
		"int as a string":   {&Bid[string]{}, 5, snow.HashShard("5")},
	} {
		t.Run(name, func(t *testing.T) {
			for _, column := range []string{"owner", "Owner"} {
				row := map[string]any{column: tt.owner}
				if err := dry(t, newSharded(t)).Table("rows").Model(tt.model).Create(row).Error; err != nil {
					t.Fatal(err)
				}
				id, _ := row["id"].(snow.ID)
				if want := layout.Shard(snow.ID(tt.want)); id < 64 || layout.Shard(id) != want {
					t.Errorf("%s: id %d has shard %d, want %d", column, id, layout.Shard(id), want)
				}
			}
		})
	}
}

func TestOneFillWithShards(t *testing.T) {
	t.Parallel()
	src := newSharded(t)
	db := dry(t, src)
	rows := []Sale{{SellerID: 5}, {SellerID: 6}, {SellerID: 7}}
	mixed := []Sale{{SellerID: 5}, {Seller: &Item{}}}
	group := Group{Zone: 1, Stamp: Stamp{Zone: 2}}
	for _, row := range []any{&rows, &mixed, &group} {
		if err := db.Create(row).Error; err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{3, 1, 2, 2}; !slices.Equal(src.fills, want) { // the parent of mixed before its children
		t.Errorf("fills = %v, want %v", src.fills, want)
	}
}

func TestShardsRefused(t *testing.T) {
	t.Parallel()
	type (
		noField struct {
			ID snow.ID `snow:"shard=Nobody"`
		}
		column struct {
			ID      snow.ID `snow:"shard=buyer_id"`
			BuyerID snow.ID
		}
		empty struct {
			ID snow.ID `snow:"shard="`
		}
		typo struct {
			ID    snow.ID `snow:"shrad=Owner"`
			Owner snow.ID
		}
		itself struct {
			ID snow.ID `snow:"shard=ID"`
		}
		noKey struct {
			ID    snow.ID
			Other snow.ID `snow:"shard=ID"`
		}
		ignored struct {
			ID    snow.ID `snow:"shard=Owner"`
			Owner snow.ID `gorm:"-"`
		}
		association struct {
			ID      snow.ID `snow:"shard=Owner"`
			OwnerID snow.ID
			Owner   *Item
		}
		serialized struct {
			ID    snow.ID `snow:"shard=Owner"`
			Owner string  `gorm:"serializer:json"`
		}
		around struct {
			ID   snow.ID
			Mark struct{ City string } `gorm:"embedded" snow:"shard=Owner"`
		}
		aroundTagged struct {
			Stamp `snow:"shard=Owner"`
			ID    snow.ID
			Owner int
		}
		onAssociation struct {
			ID      snow.ID
			OwnerID snow.ID
			Owner   *Item `snow:"shard=OwnerID"`
		}
		onIgnored struct {
			ID   snow.ID
			Memo string `gorm:"-" snow:"shard=ID"`
		}
		onUnexported struct {
			ID   snow.ID
			memo string `snow:"shard=ID"`
		}
		small struct {
			*small         //nolint:unused // a struct within itself, which GORM passes over
			Zone   snow.ID `snow:"shard=ID"`
		}
		inUnexported struct {
			small
			ID snow.ID
		}
		hidden struct {
			Lodger
			ID snow.ID `gorm:"primaryKey"`
		}
		foreign struct {
			UserID snow.ID `gorm:"primaryKey" snow:"shard=City"`
			User   *User
			City   string
		}
	)
	_ = onUnexported{memo: ""}
	const pkg = "gormsnow_test."
	for name, tt := range map[string]struct {
		row    any
		model  string
		field  string
		reason string
	}{
		"no field":                         {&noField{}, pkg + "noField", "ID", `"Nobody", which is no field`},
		"a column":                         {&column{}, pkg + "column", "ID", `"buyer_id", which is no field`},
		"an empty name":                    {&empty{}, pkg + "empty", "ID", "no field"},
		"another tag":                      {&typo{}, pkg + "typo", "ID", `shard=Field, not "shrad=Owner"`},
		"itself":                           {&itself{}, pkg + "itself", "ID", "shard tag itself"},
		"on no key":                        {&noKey{}, pkg + "noKey", "Other", "no key"},
		"a field that is no column":        {&ignored{}, pkg + "ignored", "ID", "no column"},
		"an association":                   {&association{}, pkg + "association", "ID", "no column"},
		"a serializer":                     {&serialized{}, pkg + "serialized", "ID", "serializer"},
		"an embedded struct without a key": {&around{}, pkg + "around", "Mark", "no key"},
		"around a key that has its own":    {&aroundTagged{}, pkg + "aroundTagged", "Stamp", "no key"},
		"on an association":                {&onAssociation{}, pkg + "onAssociation", "Owner", "no key"},
		"on no column":                     {&onIgnored{}, pkg + "onIgnored", "Memo", "no key"},
		"on a field with a small letter":   {&onUnexported{}, pkg + "onUnexported", "memo", "no key"},
		"in a struct with a small letter":  {&inUnexported{}, pkg + "inUnexported", "small.Zone", "no key"},
		"around a hidden key":              {&hidden{}, pkg + "hidden", "Lodger.Model", "no key"},
		"on a foreign key":                 {&foreign{UserID: 5, City: "ulm"}, pkg + "foreign", "UserID", "foreign key"},
		"float":                            {&Bid[float64]{}, pkg + "Bid[float64]", "ID", "float64 gives no shard"},
		"bool":                             {&Bid[bool]{}, pkg + "Bid[bool]", "ID", "bool gives no shard"},
		"time":                             {&Bid[time.Time]{}, pkg + "Bid[time.Time]", "ID", "time.Time gives no shard"},
		"bytes":                            {&Bid[[]byte]{}, pkg + "Bid[[]uint8]", "ID", "gives no shard"},
		"no value":                         {&Bid[snow.ID]{}, pkg + "Bid[github.com/shardsnow/snow.ID]", "ID", "Owner, which is not set"},
		"no pointer":                       {&Bid[*int]{}, pkg + "Bid[*int]", "ID", "not set"},
		"pointer to no id":                 {&Bid[*snow.ID]{Owner: new(snow.ID)}, pkg + "Bid[*github.com/shardsnow/snow.ID]", "ID", "not set"},
		"zero":                             {&Bid[int]{}, pkg + "Bid[int]", "ID", "not set"},
		"no text":                          {&Bid[string]{}, pkg + "Bid[string]", "ID", "not set"},
		"changed by a hook":                {&moving{City: "ulm", to: "bonn"}, pkg + "moving", "ID", "has changed"},
		"another parent":                   {&Sale{SellerID: 5, Seller: &Item{ID: 6}}, pkg + "Sale", "ID", "has changed"},
	} {
		t.Run(name, func(t *testing.T) {
			src := newSharded(t)
			tx := dry(t, src).Table("rows").Create(tt.row)
			wantFieldError(t, tx, tt.model, tt.field, tt.reason)
			if len(src.fills) != 0 && tt.reason != "has changed" {
				t.Errorf("asked the source for %v", src.fills)
			}
		})
	}
	for name, row := range map[string]map[string]any{
		"no entry": {}, "nil": {"owner": nil}, "zero": {"owner": 0}, "nil pointer": {"owner": (*int)(nil)},
		"text": {"owner": "ulm"}, "struct": {"owner": Item{}}, "negative": {"owner": -5}, "two names": {"owner": 1, "Owner": 2},
	} {
		tx := dry(t, newSharded(t)).Table("rows").Model(&Bid[snow.ID]{}).Create(row)
		var field *gormsnow.FieldError
		if !errors.As(tx.Error, &field) || row["id"] != nil {
			t.Errorf("map, %s: error %v, row %v; want a *FieldError and no id", name, tx.Error, row)
		}
	}
}

func TestShardsNeedALayout(t *testing.T) {
	t.Parallel()
	flat := newSharded(t)
	flat.layout = snow.DefaultLayout()
	for _, src := range []snow.Source{newSequence(), flat} {
		wantFieldError(t, dry(t, src).Create(&Sale{SellerID: 5}), "gormsnow_test.Sale", "ID", "Layout has shard bits")
		// Other models don't.
		if err := dry(t, src).Create(&Order{}).Error; err != nil {
			t.Error(err)
		}
	}
}

// Ids that differ in nothing but the shard would become one.
func TestShardsNeedIDsThatDiffer(t *testing.T) {
	t.Parallel()
	src := newSharded(t)
	src.step = 1
	rows := []Sale{{SellerID: 5}, {SellerID: 5}}
	if err := dry(t, src).Create(&rows).Error; !errors.Is(err, gormsnow.ErrBadSource) || rows[0].ID != 0 {
		t.Errorf("error %v, ids %d and %d; want ErrBadSource and none", err, rows[0].ID, rows[1].ID)
	}
	if err := dry(t, src).Create(&[]Order{{}, {}}).Error; err != nil {
		t.Error(err)
	}
}
