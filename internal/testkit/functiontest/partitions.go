//go:build unix

package functiontest

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/functions"
)

// testPartitions runs the statements and inserts rows at the bounds.
func testPartitions(t *testing.T, target Target) {
	server := target.server(t)
	for name, l := range map[string]snow.Layout{"plain": snow.DefaultLayout(), "lanes": snow.Clustered(), "epoch": snow.Twitter()} {
		t.Run(name, func(t *testing.T) {
			db := target.open(t, server, server.CreateDatabase(t))
			first := time.Date(2025, 11, 15, 0, 0, 0, 0, time.UTC)
			if name == "epoch" {
				first = l.Epoch() // inside a month
			}
			if target.Dialect == sqlsnow.MySQL {
				exec(t, db, "CREATE TABLE events (id BIGINT NOT NULL PRIMARY KEY)")
				statement, err := functions.Partition(target.Dialect, l, "events", "id", first, 2)
				if err != nil {
					t.Fatal(err)
				}
				exec(t, db, statement)
			} else {
				exec(t, db, "CREATE TABLE events (id bigint PRIMARY KEY) PARTITION BY RANGE (id)")
				target.add(t, db, l, first, 2)
			}
			start := time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, time.UTC)
			beyond := start.AddDate(0, 2, 0).Add(time.Hour)
			if _, err := db.ExecContext(t.Context(), fmt.Sprint("INSERT INTO events VALUES (", compose(t, l, beyond, 0), ")")); err == nil {
				t.Error("a row was inserted that no partition has")
			}
			target.add(t, db, l, start.AddDate(0, 2, 0), 12)
			rows := make(map[string]int)
			// the last before the bound and the first after it, with the highest and the lowest sequence
			for month := 1; month < 14; month++ {
				at := start.AddDate(0, month, 0)
				if span := l.Tick() << l.Bits().Span; l.Bits().Lane > 0 {
					since := at.Sub(l.Epoch())
					if at = l.Epoch().Add((since + span - 1) / span * span); at.Sub(start.AddDate(0, month, 0)) >= span {
						t.Fatal("the bound is further than a span")
					}
				}
				exec(t, db, fmt.Sprint("INSERT INTO events VALUES (", compose(t, l, at.Add(-l.Tick()), 4095), "), (", compose(t, l, at, 0), ")"))
				rows[start.AddDate(0, month-1, 0).Format("p200601")]++
				rows[start.AddDate(0, month, 0).Format("p200601")]++
			}
			for partition, want := range rows {
				query := "SELECT COUNT(*) FROM events PARTITION (" + partition + ")"
				if target.Dialect == sqlsnow.Postgres {
					query = "SELECT COUNT(*) FROM events_" + partition
				}
				var got int
				if err := db.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
					t.Errorf("%s: got %d rows and %v, want %d", partition, got, err, want)
				}
			}
		})
	}
}

func (target Target) add(t *testing.T, db *sql.DB, l snow.Layout, first time.Time, months int) {
	t.Helper()
	statements, err := functions.AddPartitions(target.Dialect, l, "events", first, months)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, statements...)
}

func compose(t *testing.T, l snow.Layout, at time.Time, sequence uint64) snow.ID {
	t.Helper()
	id, err := l.Compose(snow.Parts{Time: at, Sequence: sequence})
	if err != nil {
		t.Fatal(err)
	}
	return id
}
