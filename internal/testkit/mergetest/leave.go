package mergetest

import (
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// The condition of the tables that have one, in SQL and here: it chooses rows by their tags.
const (
	leftWhere  = "tag LIKE '%3'"
	leftExcept = "tag LIKE '%13'"
)

func (t *table) chooses(r row) bool {
	return t.empty || t.chosen && strings.HasSuffix(*r["tag"], "3") && !strings.HasSuffix(*r["tag"], "13")
}

// loseRows gives some tables conditions, and says for each reference to rows that may be left out what becomes of
// it. If that can't be said for one, no row is left out.
func (w *world) loseRows(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7)) // worlds are as they were without it
	if r.IntN(3) == 0 {
		return
	}
	for _, t := range w.tables {
		followed := slices.ContainsFunc(w.tables, func(other *table) bool { return other.follows == t })
		switch {
		case t.shape == dictionary || followed:
		case (t.shape == leaf || t.shape == heap) && r.IntN(5) == 0:
			t.empty = true
		default:
			t.chosen = r.IntN(3) == 0
		}
	}
	for range w.tables { // as long as the longest path of references
		for i, t := range w.tables {
			for _, c := range t.columns {
				if c.role == plan.RoleName || !slices.ContainsFunc(c.refers, func(ref *plan.Reference) bool { return w.table(ref.Table).loses() }) || c.gone != "" {
					continue
				}
				later := slices.ContainsFunc(c.refers, func(ref *plan.Reference) bool { return slices.Index(w.tables, w.table(ref.Table)) >= i })
				followed := slices.ContainsFunc(w.tables, func(other *table) bool { return other.follows == t })
				drop := !later && (!followed || slices.Contains(t.primary, c.name))
				null := c.nullable || c.zero || c.role == plan.RoleList || c.role == plan.RoleJSON
				switch {
				case drop && (!null || r.IntN(2) == 0):
					c.gone = plan.OrphansDrop
				case null:
					c.gone = plan.OrphansNull
				default:
					w.loseNone()
					return
				}
			}
		}
	}
}

func (w *world) loseNone() {
	for _, t := range w.tables {
		t.empty, t.chosen = false, false
		for _, c := range t.columns {
			c.gone = ""
		}
	}
}

// loses reports whether rows of the table may be left out.
func (t *table) loses() bool {
	return t.empty || t.chosen || slices.ContainsFunc(t.columns, func(c *column) bool { return c.gone == plan.OrphansDrop })
}

// decideLeft writes into the plan which rows are left out.
func (t *table) decideLeft(pt *plan.Table) {
	pt.Empty = t.empty
	if t.chosen {
		pt.WithoutRows = []*plan.Condition{{Where: leftWhere, Except: leftExcept}}
	}
}

// An old is a row of a source that has an id.
type old struct {
	source *source
	table  string
	id     int64
}

// lost reports whether a row is left out.
func (o *oracle) lost(s *source, table string, id int64) bool { return o.left[old{s, table, id}] }

// leave finds the rows that are left out: the chosen ones and then, again and again, rows that follow one.
func (o *oracle) leave() {
	o.left = make(map[old]bool)
	for more := true; more; {
		more = false
		for _, s := range o.order {
			for _, t := range o.w.tables {
				for _, r := range s.rows[t.name] {
					if t.shape == dictionary || o.gone[t.mark(r)] || !t.chooses(r) && !o.follows(s, t, r) {
						continue
					}
					more = true
					o.gone[t.mark(r)] = true
					if t.ids() {
						o.left[old{s, t.name, number(r["id"])}] = true
					}
				}
			}
		}
	}
}

// follows reports whether a row belongs to one that is left out.
func (o *oracle) follows(s *source, t *table, r row) bool {
	for _, c := range t.columns {
		if c.gone != plan.OrphansDrop || s.lacks[t.name+"."+c.name] {
			continue
		}
		gone := false
		o.looking = func(ref *plan.Reference, id int64) { gone = gone || o.left[old{s, ref.Table, id}] }
		o.mapped(s, c, r)
		o.looking = nil
		if gone {
			return true
		}
	}
	return false
}

// exported compares what the program tells of old rows with what was learned.
func (o *oracle) exported() {
	o.Helper()
	var want, left []string
	for _, s := range o.order {
		for table, ids := range o.ids[s] {
			for old, id := range ids {
				if old != id || s.mints {
					want = append(want, s.name+","+table+","+strconv.FormatInt(old, 10)+","+strconv.FormatInt(id, 10))
				}
				if o.w.random.IntN(20) > 0 {
					continue
				}
				if got, err := merge.Lookup(o.Context(), o.e.Dialect, o.target, s.name, table, old); err != nil || int64(got) != id {
					o.Errorf("look up %s %s %d: got %d, %v; want %d", s.name, table, old, got, err, id)
				}
			}
		}
	}
	for row := range o.left {
		if !o.w.table(row.table).empty {
			want = append(want, row.source.name+","+row.table+","+strconv.FormatInt(row.id, 10)+",")
		}
		if o.w.random.IntN(5) > 0 {
			continue
		}
		var out *report.LeftOutError
		if got, err := merge.Lookup(o.Context(), o.e.Dialect, o.target, row.source.name, row.table, row.id); !errors.As(err, &out) || out.Reason == "" {
			o.Errorf("look up %s %s %d, which was left out: got %d, %v", row.source.name, row.table, row.id, got, err)
		}
	}
	var b strings.Builder
	if err := merge.Export(o.Context(), o.e.Dialect, o.target, &b); err != nil {
		o.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(b.String()), "\n")[1:]
	o.same("exported map", got, want)
	for _, s := range o.order {
		for _, t := range o.w.tables {
			for _, r := range s.rows[t.name] {
				switch {
				case t.empty || !o.leftOut[t.mark(r)]:
				case t.ids():
					left = append(left, s.name+","+t.name+","+*r["id"])
				default:
					left = append(left, s.name+","+t.name+",key")
				}
			}
		}
	}
	o.same("list of rows left out", o.listed(), left)
}

// listed reads the list of rows that were left out, without their reasons, and without the keys that are no ids.
func (o *oracle) listed() (lines []string) {
	o.Helper()
	var b strings.Builder
	if err := merge.ExportLeftOut(o.Context(), o.e.Dialect, o.target, &b); err != nil {
		o.Fatal(err)
	}
	all, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		o.Fatal(err)
	}
	for _, line := range all[1:] {
		if line[3] == "" {
			o.Errorf("row %v was left out without a reason", line)
		}
		if !o.w.table(line[1]).ids() {
			line[2] = "key"
		}
		lines = append(lines, strings.Join(line[:3], ","))
	}
	return lines
}

func (o *oracle) same(what string, got, want []string) {
	o.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		o.Errorf("the %s has %d rows, want %d:\n%s\nwant:\n%s", what, len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// droppedRows has rows that clash with others which are left out, in a table whose rows have no ids: no row is
// merged into one that is not copied.
func droppedRows(t *testing.T, e Engine) {
	g := &game{Engine: e}
	target, eu, us := e.Open(t), e.Open(t), e.Open(t)
	for _, db := range []*sql.DB{target, eu, us} {
		g.exec(t, db, "CREATE TABLE players (id BIGINT NOT NULL PRIMARY KEY)",
			"CREATE TABLE settings (name VARCHAR(20) NOT NULL, place INT NOT NULL, owner_id BIGINT NOT NULL, PRIMARY KEY (name, place))")
	}
	g.exec(t, eu, "INSERT INTO players VALUES (1)", "INSERT INTO settings VALUES ('sound', 1, 99), ('music', 1, 1)")
	g.exec(t, us, "INSERT INTO players VALUES (5)", "INSERT INTO settings VALUES ('sound', 1, 5), ('music', 1, 5)")
	p := &plan.Plan{Version: 1, Dialect: e.Dialect.String(), Sources: []string{"eu", "us"}, Tables: []*plan.Table{
		{Name: "players", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "bigint", Role: plan.RoleKey}}},
		{
			Name: "settings", PrimaryKey: []string{"name", "place"}, Unique: []*plan.Unique{{Columns: []string{"name", "place"}, Rule: plan.RuleKeep}},
			Columns: []*plan.Column{
				{Name: "name", Type: "varchar(20)", Role: plan.RolePlain, Decided: true},
				{Name: "place", Type: "int", Role: plan.RolePlain, Decided: true},
				{Name: "owner_id", Type: "bigint", Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "players"}}, Orphans: plan.OrphansDrop},
			},
		},
	}}
	m, err := merge.New(e.Dialect, target, []merge.Source{{Name: "eu", DB: eu}, {Name: "us", DB: us}}, p, merge.Config{})
	if err != nil {
		t.Fatal(err)
	}
	forecast, err := m.DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range found.Tables {
		f := forecast.Tables[slices.IndexFunc(forecast.Tables, func(f report.TableForecast) bool { return f.Table == row.Table && f.Source == row.Source })]
		if got, want := fmt.Sprint(f.Table, f.Source, f.Merged, f.Dropped), fmt.Sprint(row.Table, row.Source, row.Merged, row.Dropped); got != want {
			t.Errorf("dry run says %s, and the run did %s", got, want)
		}
	}
	for name, want := range map[string]int64{"sound": 5, "music": 1} {
		var got sql.NullInt64
		if err := target.QueryRowContext(t.Context(), "SELECT MAX(owner_id) FROM settings WHERE name = '"+name+"'").Scan(&got); err != nil || got.Int64 != want {
			t.Errorf("%s: got the owner %v, %v; want %d", name, got, err, want)
		}
	}
}
