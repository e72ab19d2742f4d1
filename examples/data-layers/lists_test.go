//go:build unix

package datalayers

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/shardsnow/snow"
)

func TestPgxLists(t *testing.T) {
	ctx, conn := t.Context(), connect(t)(pgx.QueryExecModeCacheStatement)
	config := conn.Config()
	db := stdlib.OpenDB(*config)
	t.Cleanup(func() { check(t, db.Close()) })
	create(t, db, "CREATE TABLE carts (id BIGINT PRIMARY KEY, items BIGINT[], label TEXT)")
	id, items := snow.ID(7), snow.IDs{1<<62 + 1, 1<<62 + 3}

	_, err := db.ExecContext(ctx, "INSERT INTO carts (id, items) VALUES ($1, $2)", id, items)
	if err == nil {
		err = db.QueryRowContext(ctx, "SELECT items FROM carts WHERE id = $1", id).Scan(&items)
	}

	if want := []snow.ID{1<<62 + 1, 1<<62 + 3}; err != nil || !slices.Equal(items, want) {
		t.Errorf("got %v, %v, want %v", items, err, want)
	}
	var found int
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM carts WHERE id = ANY($1) AND items @> $2", snow.IDs{5, id}, items[:1]).Scan(&found)
	if err != nil || found != 1 {
		t.Errorf("found %d carts, %v, want 1", found, err)
	}
	for _, want := range []snow.IDs{nil, {}} {
		_, err := db.ExecContext(ctx, "UPDATE carts SET items = $1", want)
		check(t, err)
		got := snow.IDs{7}
		err = db.QueryRowContext(ctx, "SELECT items FROM carts").Scan(&got)
		if err != nil || len(got) != 0 || (got == nil) != (want == nil) {
			t.Errorf("got %#v, %v, want %#v", got, err, want)
		}
	}

	// A column of text takes the text of an id only.
	if _, err := conn.Exec(ctx, "UPDATE carts SET label = $1", id); err == nil {
		t.Error("a column of text has an id: the page warns of nothing")
	}
	_, err = conn.Exec(ctx, "UPDATE carts SET label = $1", id.String())
	check(t, err)
	var label snow.ID
	if err := conn.QueryRow(ctx, "SELECT label FROM carts").Scan(&label); err != nil || label != id {
		t.Errorf("the text is read as %d, %v", label, err)
	}
}

// A server compares a string in JSON with a number as unequal.
func TestListsInJSON(t *testing.T) {
	ctx, db := t.Context(), openMariaDB(t)
	create(t, db, "CREATE TABLE carts (id BIGINT PRIMARY KEY, items JSON)")
	items := snow.IDs{1<<62 + 1, 1<<62 + 3}

	numbers, err := json.Marshal(snow.Int64s(items))
	if err == nil {
		_, err = db.ExecContext(ctx, "INSERT INTO carts (id, items) VALUES (?, ?)", 1, string(numbers))
	}

	check(t, err)
	texts, err := json.Marshal(items)
	check(t, err)
	_, err = db.ExecContext(ctx, "INSERT INTO carts (id, items) VALUES (?, ?)", 2, string(texts))
	check(t, err)
	for id, want := range map[int]int{1: 1, 2: 0} {
		var contains int
		var got snow.IDs
		check(t, db.QueryRowContext(ctx, "SELECT JSON_CONTAINS(items, ?), items FROM carts WHERE id = ?", items[1].String(), id).Scan(&contains, &got))
		if contains != want || !slices.Equal(got, items) {
			t.Errorf("cart %d has %v, and JSON_CONTAINS says %d, want %d", id, got, contains, want)
		}
	}
}
