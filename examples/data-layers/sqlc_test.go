//go:build unix

package datalayers

import (
	"os"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/examples/data-layers/sqlcorders"
)

func TestSqlc(t *testing.T) {
	ctx, keys, conn := t.Context(), newKeys(t), connect(t)(pgx.QueryExecModeExec)
	schema, err := os.ReadFile("sqlcorders/schema.sql")
	check(t, err)
	_, err = conn.Exec(ctx, string(schema))
	check(t, err)
	queries := sqlcorders.New(conn)
	order := Order{Buyer: "ann"}

	if order.ID, err = keys.Next(ctx); err == nil {
		err = queries.CreateOrder(ctx, sqlcorders.CreateOrderParams{ID: order.ID, Buyer: order.Buyer})
	}

	check(t, err)
	child, err := keys.Next(ctx)
	check(t, err)
	check(t, queries.CreateOrder(ctx, sqlcorders.CreateOrderParams{ID: child, Buyer: "bob", ParentID: &order.ID}))
	if got, err := queries.Order(ctx, child); err != nil || got.ParentID == nil || *got.ParentID != order.ID {
		t.Errorf("got %+v, %v, want an order with parent %d", got, err, order.ID)
	}

	// The parameter is []int64 in spite of the overrides.
	ids := []snow.ID{order.ID, child}
	found, err := queries.Orders(ctx, snow.Int64s(ids))

	check(t, err)
	got := make([]snow.ID, 0, 2)
	for _, o := range found {
		got = append(got, o.ID)
	}
	if !slices.Equal(got, ids) || found[0].ParentID != nil {
		t.Errorf("got %v, %+v, want %v, the first without a parent", got, found, ids)
	}
}
