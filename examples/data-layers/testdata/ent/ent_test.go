//go:build unix

package datalayers

import (
	"database/sql"
	"slices"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/examples/data-layers/ent"
)

func openEnt(t *testing.T, name string, db *sql.DB) *ent.Client {
	t.Helper()
	client := ent.NewClient(ent.Driver(entsql.OpenDB(name, db)))
	check(t, client.Schema.Create(t.Context()))
	return client
}

func testEnt(t *testing.T, name string, db *sql.DB) {
	ctx, keys, client := t.Context(), newKeys(t), openEnt(t, name, db)

	var id snow.ID
	var err error

	if id, err = keys.Next(ctx); err == nil {
		err = client.Order.Create().SetID(int64(id)).SetBuyer("ann").Exec(ctx)
	}

	check(t, err)
	made, err := client.Order.CreateBulk(
		client.Order.Create().SetID(int64(id)+2).SetBuyer("bob"),
		client.Order.Create().SetID(int64(id)+1).SetBuyer("eve"),
	).Save(ctx)
	if err != nil || made[0].ID != int64(id)+2 || made[1].ID != int64(id)+1 {
		t.Errorf("CreateBulk made %v, %v", made, err)
	}
	wantStored(t, db, Order{id, "ann"}, Order{id + 1, "eve"}, Order{id + 2, "bob"})
}

func TestEnt(t *testing.T) {
	db := openSQLite(t)
	create(t, db, "PRAGMA foreign_keys = on") // ent insists
	db.SetMaxOpenConns(1)
	testEnt(t, dialect.SQLite, db)
}

func TestEntMariaDB(t *testing.T) { testEnt(t, dialect.MySQL, openMariaDB(t)) }

func TestEntCountsWithoutTheAnnotation(t *testing.T) {
	db := openMariaDB(t)
	openEnt(t, dialect.MySQL, db)
	for table, want := range map[string]string{"orders": "", "plains": "auto_increment"} {
		var got string
		check(t, db.QueryRowContext(t.Context(), `SELECT extra FROM information_schema.columns
			WHERE table_schema = DATABASE() AND table_name = ? AND column_name = 'id'`, table).Scan(&got))
		if got != want {
			t.Errorf("%s.id is %q, want %q", table, got, want)
		}
	}
}

// On MySQL ent takes the ids of a type with a Scan method from the server,
// which has none to tell.
func TestEntTypedKeysComeBackWrong(t *testing.T) {
	ctx, client := t.Context(), openEnt(t, dialect.MySQL, openMariaDB(t))
	made, err := client.Typed.CreateBulk(
		client.Typed.Create().SetID(500).SetCode("a"),
		client.Typed.Create().SetID(900).SetCode("b"),
	).Save(ctx)
	check(t, err)
	if want := []snow.ID{500, 900}; slices.Equal(want, []snow.ID{made[0].ID, made[1].ID}) {
		t.Error("the ids are right: the page warns of nothing")
	}
	id, err := client.Typed.Create().SetID(700).SetCode("a").OnConflict().UpdateNewValues().ID(ctx)
	if err != nil || id != 0 {
		t.Errorf("the id of an upsert is %d, %v: the page says 0", id, err)
	}
	if stored, err := client.Typed.Query().IDs(ctx); err != nil || !slices.Equal(stored, []snow.ID{500, 900}) {
		t.Errorf("the table has %v, %v", stored, err)
	}
}
