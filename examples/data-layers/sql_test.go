//go:build unix

package datalayers

import (
	"database/sql"
	"testing"

	"github.com/shardsnow/snow"
)

func TestDatabaseSQL(t *testing.T) {
	ctx, keys, db := t.Context(), newKeys(t), openSQLite(t)
	create(t, db, table)
	order, err := Order{Buyer: "ann"}, error(nil)

	if order.ID, err = keys.Next(ctx); err == nil {
		_, err = db.ExecContext(ctx, "INSERT INTO orders (id, buyer) VALUES (?, ?)", order.ID, order.Buyer)
	}

	check(t, err)
	wantStored(t, db, order)
}

func TestCheckRefusesAForgottenKey(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *sql.DB{"SQLite": openSQLite, "MariaDB": openMariaDB} {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			create(t, db, table)
			if _, err := db.ExecContext(t.Context(), "INSERT INTO orders (id, buyer) VALUES (?, ?)", snow.ID(0), "ann"); err == nil {
				t.Error("the zero id was stored")
			}
			wantStored(t, db)
		})
	}
}

// The column is not AUTO_INCREMENT, so the server returns no id.
func TestLastInsertIDIsNotTheKey(t *testing.T) {
	ctx, db := t.Context(), openMariaDB(t)
	create(t, db, table)
	id, err := newKeys(t).Next(ctx)
	check(t, err)
	result, err := db.ExecContext(ctx, "INSERT INTO orders (id, buyer) VALUES (?, ?)", id, "ann")
	check(t, err)
	if last, err := result.LastInsertId(); err != nil || last != 0 {
		t.Errorf("LastInsertId is %d, %v, want 0", last, err)
	}
}

func TestNullNeedsAPointer(t *testing.T) {
	ctx, db := t.Context(), openSQLite(t)
	create(t, db, table)
	create(t, db, "INSERT INTO orders (id, buyer) VALUES (1, 'ann')")
	row := func() *sql.Row { return db.QueryRowContext(ctx, "SELECT parent_id FROM orders") }

	var id snow.ID
	if err := row().Scan(&id); err == nil {
		t.Errorf("NULL reads as %d", id)
	}
	parent := &id
	if err := row().Scan(&parent); err != nil || parent != nil {
		t.Errorf("a pointer reads NULL as %v, %v", parent, err)
	}
	null := sql.Null[snow.ID]{Valid: true}
	if err := row().Scan(&null); err != nil || null.Valid {
		t.Errorf("sql.Null reads NULL as %v, %v", null, err)
	}
}
