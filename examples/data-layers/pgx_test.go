//go:build unix

package datalayers

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// connect returns a function that opens connections to one empty database.
func connect(t *testing.T) func(pgx.QueryExecMode) *pgx.Conn {
	t.Helper()
	server := dbtest.Postgres(t)
	dsn := server.DSN(server.CreateDatabase(t))
	return func(mode pgx.QueryExecMode) *pgx.Conn {
		t.Helper()
		cfg, err := pgx.ParseConfig(dsn)
		check(t, err)
		cfg.DefaultQueryExecMode = mode
		conn, err := pgx.ConnectConfig(t.Context(), cfg)
		check(t, err)
		t.Cleanup(func() { _ = conn.Close(t.Context()) })
		return conn
	}
}

func TestPgx(t *testing.T) {
	ctx, keys, conn := t.Context(), newKeys(t), connect(t)(pgx.QueryExecModeCacheStatement)
	_, err := conn.Exec(ctx, table)
	check(t, err)
	order := Order{Buyer: "ann"}

	if order.ID, err = keys.Next(ctx); err == nil {
		_, err = conn.Exec(ctx, "INSERT INTO orders (id, buyer) VALUES ($1, $2)", order.ID, order.Buyer)
	}

	check(t, err)
	orders := []Order{{Buyer: "bob"}, {Buyer: "eve"}}
	check(t, assign(ctx, keys, orders))
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"orders"}, []string{"id", "buyer"},
		pgx.CopyFromSlice(len(orders), func(i int) ([]any, error) { return []any{orders[i].ID, orders[i].Buyer}, nil }))
	check(t, err)
	rows, err := conn.Query(ctx, "SELECT id, buyer FROM orders ORDER BY id")
	check(t, err)
	got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Order])
	if want := append([]Order{order}, orders...); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// Modes without prepared statements, which poolers need, can't encode a slice of a
// type that pgx doesn't know.
func TestPgxArrays(t *testing.T) {
	ctx, open := t.Context(), connect(t)
	ids := []snow.ID{10, 20}
	for mode, encodes := range map[pgx.QueryExecMode]bool{
		pgx.QueryExecModeCacheStatement: true,
		pgx.QueryExecModeCacheDescribe:  true,
		pgx.QueryExecModeDescribeExec:   true,
		pgx.QueryExecModeExec:           false,
		pgx.QueryExecModeSimpleProtocol: false,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			conn := open(mode)
			var n int
			err := conn.QueryRow(ctx, "SELECT cardinality($1::bigint[])", ids).Scan(&n)
			if (err == nil) != encodes {
				t.Errorf("an array of ids: %v", err)
			}
			err = conn.QueryRow(ctx, "SELECT cardinality($1::bigint[])", snow.Int64s(ids)).Scan(&n)
			if err != nil || n != 2 {
				t.Errorf("an array of integers: %d, %v", n, err)
			}
		})
	}
}
