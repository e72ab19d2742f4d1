//go:build unix

package datalayers

import (
	"slices"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/mysqldialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/shardsnow/snow"
)

type BunOrder struct {
	bun.BaseModel `bun:"orders"`

	ID    snow.ID `bun:",pk"`
	Buyer string
}

func TestBun(t *testing.T) {
	ctx, keys, db := t.Context(), newKeys(t), bun.NewDB(openSQLite(t), sqlitedialect.New())
	create(t, db.DB, table)
	order, err := BunOrder{Buyer: "ann"}, error(nil)

	if order.ID, err = keys.Next(ctx); err == nil {
		_, err = db.NewInsert().Model(&order).Exec(ctx)
	}

	check(t, err)
	orders := []BunOrder{{ID: order.ID + 2, Buyer: "bob"}, {ID: order.ID + 1, Buyer: "eve"}}
	_, err = db.NewInsert().Model(&orders).Exec(ctx)
	check(t, err)
	wantStored(t, db.DB, Order{order.ID, "ann"}, Order{order.ID + 1, "eve"}, Order{order.ID + 2, "bob"})
	var found BunOrder
	err = db.NewSelect().Model(&found).Where("id = ?", order.ID).Scan(ctx)
	if err != nil || found != order {
		t.Errorf("got %v, %v, want %v", found, err, order)
	}
}

// On MySQL, the tag makes bun overwrite the ids of the stored rows with numbers
// that it counts from the server's answer.
func TestBunAutoincrementChangesIDs(t *testing.T) {
	type Order struct {
		ID    snow.ID `bun:",pk,autoincrement"`
		Buyer string
	}
	ctx, db := t.Context(), bun.NewDB(openMariaDB(t), mysqldialect.New())
	create(t, db.DB, "CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, buyer VARCHAR(40))")
	orders := []Order{{ID: 500}, {ID: 900}, {ID: 700}}
	_, err := db.NewInsert().Model(&orders).Exec(ctx)
	check(t, err)
	var got []snow.ID
	for _, o := range orders {
		got = append(got, o.ID)
	}
	if slices.Equal(got, []snow.ID{500, 900, 700}) {
		t.Error("the ids are as they were: the page warns of nothing")
	}
	var stored []snow.ID
	check(t, db.NewSelect().Model((*Order)(nil)).Column("id").Order("id").Scan(ctx, &stored))
	if want := []snow.ID{500, 700, 900}; !slices.Equal(stored, want) {
		t.Errorf("the table has %v, want %v", stored, want)
	}
}

// With nullzero bun stores NULL for the zero id, asks the server what it stored, and
// can't scan NULL into an id.
func TestBunNullzeroReportsAnErrorForAStoredRow(t *testing.T) {
	type Order struct {
		ID       snow.ID `bun:",pk"`
		Buyer    string
		ParentID snow.ID `bun:",nullzero"`
	}
	type Right struct {
		bun.BaseModel `bun:"orders"`

		ID       snow.ID `bun:",pk"`
		Buyer    string
		ParentID *snow.ID
	}
	ctx, db := t.Context(), bun.NewDB(openSQLite(t), sqlitedialect.New())
	create(t, db.DB, table)
	if _, err := db.NewInsert().Model(&Order{ID: 5, Buyer: "ann"}).Exec(ctx); err == nil {
		t.Error("the insert has no error: the page warns of nothing")
	}
	_, err := db.NewInsert().Model(&Right{ID: 6, Buyer: "bob"}).Exec(ctx)
	check(t, err)
	if n, err := db.NewSelect().Model((*Right)(nil)).Where("parent_id IS NULL").Count(ctx); err != nil || n != 2 {
		t.Errorf("%d rows are stored, %v, want 2", n, err)
	}
}
