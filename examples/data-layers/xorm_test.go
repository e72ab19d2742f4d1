//go:build unix

package datalayers

import (
	"path/filepath"
	"testing"

	"xorm.io/xorm"

	"github.com/shardsnow/snow"
)

type XormOrder struct {
	ID    snow.ID `xorm:"pk 'id'"`
	Buyer string
}

func (XormOrder) TableName() string { return "orders" }

func openXorm(t *testing.T) *xorm.Engine {
	t.Helper()
	engine, err := xorm.NewEngine("sqlite3", "file:"+filepath.Join(t.TempDir(), "shop.db"))
	check(t, err)
	t.Cleanup(func() { check(t, engine.Close()) })
	return engine
}

func TestXorm(t *testing.T) {
	ctx, keys, engine := t.Context(), newKeys(t), openXorm(t)
	create(t, engine.DB().DB, table)
	order, err := XormOrder{Buyer: "ann"}, error(nil)

	if order.ID, err = keys.Next(ctx); err == nil {
		_, err = engine.Context(ctx).Insert(&order)
	}

	check(t, err)
	orders := []XormOrder{{ID: order.ID + 2, Buyer: "bob"}, {ID: order.ID + 1, Buyer: "eve"}}
	_, err = engine.Context(ctx).Insert(orders)
	check(t, err)
	wantStored(t, engine.DB().DB, Order{order.ID, "ann"}, Order{order.ID + 1, "eve"}, Order{order.ID + 2, "bob"})
	var found XormOrder
	if ok, err := engine.Context(ctx).ID(order.ID).Get(&found); err != nil || !ok || found != order {
		t.Errorf("got %v, %v, %v, want %v", found, ok, err, order)
	}
}

// A field that is called Id needs the tag pk, or xorm makes it a counter.
func TestXormCountsWithoutATag(t *testing.T) {
	type Untagged struct{ Id snow.ID } //nolint:revive // the name is what this is about
	type Tagged struct {
		Id snow.ID `xorm:"pk"`
	}
	engine := openXorm(t)
	for want, model := range map[bool]any{true: new(Untagged), false: new(Tagged)} {
		info, err := engine.TableInfo(model)
		check(t, err)
		if got := info.GetColumn("id"); got.IsAutoIncrement != want || !got.IsPrimaryKey {
			t.Errorf("%T: column %+v, want autoincrement %v", model, got, want)
		}
	}
}

// Hooked is an order whose hook assigns.
type Hooked struct {
	Id    snow.ID `xorm:"pk"` //nolint:revive // xorm's own name
	Buyer string
}

// BeforeInsert is a hook of xorm.
func (h *Hooked) BeforeInsert() { h.Id = snow.ID(h.Buyer[0]) }

func TestXormHookNeedsPointers(t *testing.T) {
	engine := openXorm(t)
	check(t, engine.Sync(new(Hooked)))
	pointers := []*Hooked{{Buyer: "ann"}, {Buyer: "bob"}}
	_, err := engine.Insert(&pointers)
	if err != nil || pointers[0].Id == 0 || pointers[1].Id == 0 {
		t.Errorf("pointers have ids %d and %d, %v", pointers[0].Id, pointers[1].Id, err)
	}
	values := []Hooked{{Buyer: "eve"}}
	_, err = engine.Insert(&values)
	check(t, err)
	var got Hooked
	if ok, err := engine.Where("buyer = ?", "eve").Get(&got); err != nil || !ok || got.Id != 0 {
		t.Errorf("the value has id %d, %v, %v: the page warns of nothing", got.Id, ok, err)
	}
}
