//go:build unix

package mysqlexec

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A MySQL server makes the ids that this process makes, whatever the rows' keys
// and dates are, and finds them as late.
func TestFormulaOfServer(t *testing.T) {
	server := dbtest.MariaDB(t)
	db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	e, err := dialect.Of(sqlsnow.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := chunk.OpenConns(t.Context(), e, chunk.Database{DB: db}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	exec := func(text string) {
		t.Helper()
		if _, err := c.Target.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	exec("SET SESSION sql_mode = 'ALLOW_INVALID_DATES'")
	dates := []string{
		"NULL", "'0000-00-00'", "'2024-00-00'", "'2024-05-00'", "'0000-05-07'", "'0001-01-01'", "'0002-01-01'", "'1000-01-01'", "'1969-12-31 23:59:59.999999'",
		"'2023-12-31 23:59:59.9995'", "'2024-01-01'", "'2024-02-29 23:59:59'", "'2023-02-29'", "'2024-02-31'", "'2024-04-31 01:00:00'", "'2025-12-31'", "'9999-12-31 23:59:59'",
	}
	r := rand.New(rand.NewPCG(3, 4))
	numbers := []string{
		"0", "-5", "1", "99999999999", "100000000000", "99999999999999", "100000000000000", "99999999999999999", "100000000000000000", "9223372036854775807",
		"-9223372036854775808", "1704067200", "1704067199", "1704067199999", "1704067199999999", "1704067199999999999", "1704067200000000001", "20240601",
	}
	for i, typ := range []string{"DATETIME(6)", "DATETIME", "DATE", "TIMESTAMP(3) NULL", "", "INT UNSIGNED", "BIGINT", "INT"} {
		column := typ
		if typ == "" {
			column = "INT"
		}
		table := fmt.Sprintf("t%d", i)
		exec("CREATE TABLE " + table + " (id BIGINT PRIMARY KEY, created " + column + ")")
		exec("INSERT INTO " + table + " VALUES (-9223372036854775808, NULL), (9223372036854775807, NULL), (0, NULL)")
		for range 300 {
			date := dates[r.IntN(len(dates))]
			if r.IntN(3) > 0 {
				date = fmt.Sprintf("TIMESTAMPADD(MICROSECOND, %d, '2024-06-01')", r.Int64N(1000)*r.Int64N(1e9))
			}
			if typ == "" || i == 3 && date != "NULL" && date[0] == '\'' {
				date = "NULL"
			}
			if i > 4 { // since 1970: what the type can't hold becomes the nearest that it can
				at := layoutEpoch.Add(time.Duration(r.Int64N(int64(1200*24*time.Hour)) - int64(100*24*time.Hour)))
				date = append(numbers, fmt.Sprint(at.Unix()), fmt.Sprint(at.UnixMilli()), fmt.Sprint(at.UnixMicro()), fmt.Sprint(at.UnixNano()))[r.IntN(len(numbers)+4)]
			}
			exec(fmt.Sprintf("INSERT IGNORE INTO %s VALUES (%d, %s)", table, r.Int64()>>r.IntN(63)-r.Int64N(100), date))
		}
		for _, layout := range []snow.Layout{
			layoutFor(t, time.Millisecond, snow.Bits{Timestamp: 41, Worker: 10, Sequence: 12}),
			layoutFor(t, time.Second, snow.Bits{Timestamp: 33, Datacenter: 2, Worker: 8, Sequence: 1}),
			snow.Clustered(),
			layoutFor(t, 1500*time.Microsecond, snow.Bits{Timestamp: 42, Worker: 4, Sequence: 8}),
		} {
			ids, ok := ledger.IDRange{Layout: layout, Worker: 3}.Part(0, 1)
			if part, more := ids.Part(1, 3); more && r.IntN(2) == 0 {
				ids = part
			}
			if !ok {
				t.Fatal("no range")
			}
			plan := &plan.Table{Name: table, Created: "created", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "bigint", Role: plan.RoleKey}, {Name: "created", Type: typ, Role: plan.RolePlain}}}
			if typ == "" {
				plan.Created = ""
			}
			of := ledger.NewSourceTable(1, "s", plan)
			of.Ids = ids
			from, err := readStoredTable(t.Context(), c.Target, c.Engine, table)
			if err != nil {
				t.Fatal(err)
			}
			facts := ledger.Facts{Now: layoutEpoch.Add(1000 * 24 * time.Hour).UnixMicro()}
			server := newRowIDs(c.Engine, &ledger.Run{Facts: facts}, of, from)
			if server == nil {
				t.Fatalf("%s: the server can't make ids", typ)
			}
			if err := setPlace(t.Context(), c.Target, server.Start()); err != nil {
				t.Fatal(err)
			}
			text := "SELECT s.id, CAST(s.created AS CHAR), " + server.LateExpression("s.id", server.tick) + ", @snow_merge_late FROM " + table + " AS s FORCE INDEX (PRIMARY) ORDER BY s.id"
			rows, err := c.Target.QueryContext(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			process := rekey.NewIDs{Formula: rekey.NewFormula(ids, facts.Now)}
			process.Place = process.Start()
			n := 0
			for ; rows.Next(); n++ {
				var old, got, late int64
				var date sql.NullString
				if err := rows.Scan(&old, &date, &got, &late); err != nil {
					t.Fatal(err)
				}
				created, dated := sqlvalue.ParseDate(date.String, time.UTC)
				id, err := process.Make(old, created, dated && typ != "")
				if err != nil {
					t.Fatal(err)
				}
				if int64(id) != got || process.Late != process.Ahead(late) {
					t.Fatalf("%s, %v, row %d of %q: the server makes %d, %d ticks late, and this process %d, %v late", typ, layout, old, date.String, got, late, id, process.Late)
				}
				if ids.Place(got) != process.Place {
					t.Fatalf("id %d has place %d, want %d", got, ids.Place(got), process.Place)
				}
			}
			if err := rows.Err(); err != nil || n < 250 {
				t.Fatalf("%d rows, %v", n, err)
			}
		}
	}
	if d := newRowIDs(c.Engine, &ledger.Run{}, &ledger.SourceTable{Table: &plan.Table{}, Ids: ledger.IDRange{Layout: layoutFor(t, time.Millisecond, snow.Bits{Timestamp: 41, Worker: 4, Sequence: 8, Shard: 2}), End: 256}}, &storedTable{}); d != nil {
		t.Error("the server makes ids with a shard")
	}
}

// So it does with numbers.
func TestNumbersOfServer(t *testing.T) {
	server := dbtest.MariaDB(t)
	db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	e, err := dialect.Of(sqlsnow.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := chunk.OpenConns(t.Context(), e, chunk.Database{DB: db}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	for i, typ := range []string{"SMALLINT", "INT UNSIGNED", "BIGINT"} {
		table := fmt.Sprintf("t%d", i)
		for _, text := range []string{
			"CREATE TABLE " + table + " (id " + typ + " PRIMARY KEY, created DATETIME)",
			"INSERT INTO " + table + " SELECT seq * 7, '2024-06-01' FROM seq_1_to_100",
		} {
			if _, err := c.Target.ExecContext(t.Context(), dbtest.Sequences(text)); err != nil {
				t.Fatal(err)
			}
		}
		for _, ids := range []ledger.IDRange{{IDs: plan.IDsDense, First: 30, End: 130}, {IDs: plan.IDsOffset, Offset: 1 << 40, First: 1<<40 + 7, End: 1<<40 + 701}, {IDs: plan.IDsOffset, First: 7, End: 701}} {
			of := ledger.NewSourceTable(1, "s", &plan.Table{
				Name: table, IDs: ids.IDs, Created: "created", PrimaryKey: []string{"id"},
				Columns: []*plan.Column{{Name: "id", Type: typ, Role: plan.RoleKey}, {Name: "created", Type: "datetime", Role: plan.RolePlain}},
			})
			of.Ids = ids
			server := newRowIDs(c.Engine, &ledger.Run{}, of, nil)
			if err := setPlace(t.Context(), c.Target, server.Start()); err != nil {
				t.Fatal(err)
			}
			process := rekey.NewIDs{Formula: rekey.NewFormula(ids, 0), Place: server.Start()}
			rows, err := c.Target.QueryContext(t.Context(), "SELECT s.id, "+server.LateExpression("s.id", server.tick)+", @snow_merge_place, @snow_merge_late, "+
				ids.Condition("s.id + "+fmt.Sprint(ids.Offset), "s.id")+" FROM "+table+" AS s FORCE INDEX (PRIMARY) ORDER BY s.id")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			n := 0
			for ; rows.Next(); n++ {
				var old, got, place, late int64
				var own bool
				if err := rows.Scan(&old, &got, &place, &late, &own); err != nil {
					t.Fatal(err)
				}
				id, err := process.Make(old, time.Time{}, false)
				if err != nil || int64(id) != got || place != process.Place || late != 0 || own != ids.Has(old, old+ids.Offset) {
					t.Fatalf("%s, %+v, row %d: the server makes %d in place %d, %d late, its own: %v; and this process %d in place %d, %v", typ, ids, old, got, place, late, own, id, process.Place, err)
				}
			}
			if err := rows.Err(); err != nil || n != 100 {
				t.Fatalf("%d rows, %v", n, err)
			}
			if _, err := process.Make(702, time.Time{}, false); err == nil {
				t.Errorf("%+v: there is one id more", ids)
			}
		}
	}
}

var layoutEpoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

func layoutFor(t *testing.T, tick time.Duration, b snow.Bits) snow.Layout {
	t.Helper()
	l, err := snow.NewLayout(layoutEpoch, tick, b)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
