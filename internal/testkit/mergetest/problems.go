package mergetest

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A problem is something that a dry run must tell of.
type problem struct {
	name     string
	do, undo string // in source old
	edit     func(players, items *plan.Table)
	target   *retyped // the target's column for the time being; not in SQLite
	problems int64
	err      any
	orphans  string
	misfits  string
	dropped  int64
}

// A retyped column has another type, where the database has types.
type retyped struct{ table, column, typ, was string }

// set gives the column a type in a database.
func (r *retyped) set(t *testing.T, g *game, db *sql.DB, typ string) {
	t.Helper()
	alter := "ALTER TABLE " + r.table
	if g.Dialect == sqlsnow.MySQL {
		g.exec(t, db, alter+" MODIFY "+r.column+" "+typ)
		return
	}
	bare, required := strings.CutSuffix(typ, " NOT NULL")
	g.exec(t, db, alter+" ALTER "+r.column+" TYPE "+bare, alter+" ALTER "+r.column+map[bool]string{true: " SET NOT NULL", false: " DROP NOT NULL"}[required])
}

// problems sees whether dry runs tell of problems, and runs stop for them.
func (g *game) problems(t *testing.T) {
	column := func(t *plan.Table, name string) *plan.Column {
		for _, c := range t.Columns {
			if c.Name == name {
				return c
			}
		}
		return nil
	}
	for _, p := range []problem{
		{
			name: "an orphan", do: "UPDATE items SET owner_id = 99 WHERE id = 3", undo: "UPDATE items SET owner_id = 4 WHERE id = 3",
			problems: 1, err: new(*report.OrphanError), orphans: `items.owner_id old 1 [row [3]: "99"]`,
		}, {
			name: "orphans in JSON", do: `UPDATE players SET bag = '{"seen": [3, 98, "97"]}' WHERE id = 3`, undo: "UPDATE players SET bag = '[]' WHERE id = 3",
			problems: 2, err: new(*report.OrphanError), orphans: `players.bag old 2 [row [3]: "98" row [3]: "97"]`,
		}, {
			name: "an orphan in a list that has a rule", do: `UPDATE players SET friends = '1,96' WHERE id = 4`, undo: "UPDATE players SET friends = '1' WHERE id = 4",
			edit:    func(players, _ *plan.Table) { column(players, "friends").Orphans = plan.OrphansNull },
			orphans: `players.friends old 1 [row [4]: "96"]`,
		}, {
			name: "a row that is dropped", do: "UPDATE items SET owner_id = 99 WHERE id = 3", undo: "UPDATE items SET owner_id = 4 WHERE id = 3",
			edit:    func(_, items *plan.Table) { column(items, "owner_id").Orphans = plan.OrphansDrop },
			orphans: `items.owner_id old 1 [row [3]: "99"]`, dropped: 1,
		}, {
			name: "no JSON", do: `UPDATE players SET bag = '{' WHERE id = 3`, undo: "UPDATE players SET bag = '[]' WHERE id = 3",
			problems: 1, err: new(*report.RowError), misfits: "players.bag old 1",
		}, {
			name: "NULL", do: "UPDATE items SET kind = NULL WHERE id = 3", undo: "UPDATE items SET kind = 'hat' WHERE id = 3",
			target:   &retyped{"items", "kind", "VARCHAR(20) NOT NULL", "VARCHAR(20)"},
			problems: 1, err: new(*report.RowError), misfits: "items.kind old 1",
		}, {
			name: "a text that is too long", target: &retyped{"items", "kind", "VARCHAR(4)", "VARCHAR(20)"},
			problems: 2, err: new(*report.RowError), misfits: "items.kind new 1, items.kind old 1",
		}, {
			name: "a list that becomes too long", target: &retyped{"players", "friends", "VARCHAR(30)", "TEXT"},
			problems: 1, err: new(*report.RowError), misfits: "players.friends old 1",
		},
	} {
		if p.target != nil && g.Dialect == sqlsnow.SQLite {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			m := g.merge(t, func(merged *plan.Plan) {
				if p.edit != nil {
					p.edit(merged.Tables[1], merged.Tables[0])
				}
			})
			if p.do != "" {
				g.exec(t, g.old, p.do)
				defer g.exec(t, g.old, p.undo)
			}
			if p.target != nil {
				p.target.set(t, g, g.target, p.target.typ)
				defer p.target.set(t, g, g.target, p.target.was)
			}
			f, err := m.DryRun(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if f.Problems != p.problems || p.problems > 0 && !errors.As(f.Err(), p.err) {
				t.Errorf("got %d problems and %v, want %d and a %T", f.Problems, f.Err(), p.problems, p.err)
			}
			list := func(values []report.ValueForecast, samples bool) (text string) {
				for i, v := range values {
					if i > 0 {
						text += ", "
					}
					text += fmt.Sprintf("%s.%s %s %d", v.Table, v.Column, v.Source, v.Rows)
					if samples {
						text += fmt.Sprint(" ", v.Samples)
					}
				}
				return text
			}
			if got := list(f.Orphans, true); got != p.orphans {
				t.Errorf("orphans: got %s, want %s", got, p.orphans)
			}
			if got := list(f.Misfits, false); got != p.misfits {
				t.Errorf("misfits: got %s, want %s", got, p.misfits)
			}
			for _, row := range f.Tables {
				if row.Table == "items" && row.Source == "old" && row.Dropped != p.dropped {
					t.Errorf("got %d dropped, want %d", row.Dropped, p.dropped)
				}
			}
		})
	}
	for name, d := range map[string]struct {
		third string // the date of row 3
		want  report.DateForecast
	}{
		"dates":                  {"2024-02-29 10:00:00", report.DateForecast{Future: 1, Inversions: 1, Largest: 24 * time.Hour}},
		"dates before the epoch": {"2011-05-01 10:00:00", report.DateForecast{Future: 1, Early: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			g.exec(t, g.old, "UPDATE players SET created_at = '"+d.third+"' WHERE id = 3", "UPDATE players SET created_at = '2199-01-01 00:00:00' WHERE id = 4")
			defer g.exec(t, g.old, "UPDATE players SET created_at = NULL WHERE id = 3", "UPDATE players SET created_at = '2024-03-02 10:00:00' WHERE id = 4")
			f, err := g.merge(t, nil).DryRun(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			d.want.Table, d.want.Source, d.want.Column = "players", "old", "created_at"
			if len(f.Dates) != 1 || f.Dates[0] != d.want {
				t.Errorf("got %+v, want %+v", f.Dates, d.want)
			}
		})
	}
}

// droppedWinner has a row that clashes with one which is not copied.
func (g *game) droppedWinner(t *testing.T) {
	g.exec(t, g.new, "UPDATE players SET account_id = 99 WHERE id = 2000002")
	m := g.merge(t, func(p *plan.Plan) {
		for _, c := range p.Tables[1].Columns {
			switch c.Name {
			case "account_id":
				c.Orphans = plan.OrphansDrop
			case "friends":
				c.Orphans = plan.OrphansNull
			}
		}
	})
	f, err := m.DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range found.Tables {
		want := int64(0)
		if row.Table == "players" && row.Source == "new" {
			want = 1
		}
		if row.Renamed != 0 || row.Dropped != want {
			t.Errorf("got %+v, want no names changed and %d rows dropped", row, want)
		}
		if i := slices.IndexFunc(f.Tables, func(f report.TableForecast) bool { return f.Table == row.Table && f.Source == row.Source }); f.Tables[i].Renamed != 0 || f.Tables[i].Dropped != want {
			t.Errorf("dry run: got %+v, want no names changed and %d rows dropped", f.Tables[i], want)
		}
	}
}
