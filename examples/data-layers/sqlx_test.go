//go:build unix

package datalayers

import (
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/shardsnow/snow"
)

func TestSQLX(t *testing.T) {
	ctx, keys, db := t.Context(), newKeys(t), sqlx.NewDb(openSQLite(t), "sqlite3")
	create(t, db.DB, table)
	order, err := Order{Buyer: "ann"}, error(nil)

	if order.ID, err = keys.Next(ctx); err == nil {
		_, err = db.NamedExecContext(ctx, "INSERT INTO orders (id, buyer) VALUES (:id, :buyer)", order)
	}

	check(t, err)
	orders := []Order{{Buyer: "bob"}, {Buyer: "eve"}}
	check(t, assign(ctx, keys, orders))
	_, err = db.NamedExecContext(ctx, "INSERT INTO orders (id, buyer) VALUES (:id, :buyer)", orders)
	check(t, err)
	wantStored(t, db.DB, order, orders[0], orders[1])

	query, args, err := sqlx.In("SELECT id, buyer FROM orders WHERE id IN (?)", []snow.ID{order.ID, orders[1].ID})
	check(t, err)
	var found []Order
	if err := db.SelectContext(ctx, &found, query, args...); err != nil || len(found) != 2 {
		t.Errorf("In found %v, %v", found, err)
	}
}

// sqlx maps a field without a tag to its name in lower case, without underscores.
func TestSQLXNamesOfForeignKeys(t *testing.T) {
	ctx, db := t.Context(), sqlx.NewDb(openSQLite(t), "sqlite3")
	create(t, db.DB, table)
	const insert = "INSERT INTO orders (id, buyer, parent_id) VALUES (:id, :buyer, :parent_id)"
	untagged := struct {
		Order
		ParentID *snow.ID
	}{Order: Order{ID: 1}}
	if _, err := db.NamedExecContext(ctx, insert, untagged); err == nil {
		t.Error("ParentID without a tag is parent_id")
	}
	tagged := struct {
		Order
		ParentID *snow.ID `db:"parent_id"`
	}{Order: Order{ID: 1}}
	_, err := db.NamedExecContext(ctx, insert, tagged)
	check(t, err)
}
