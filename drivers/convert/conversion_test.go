package convert_test

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/convert"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/testkit/fuse"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/sqlsnow"
)

// A conversion is carried out in a world.
type conversion struct {
	*world
	plan   *plan.Plan
	blocks map[string]string // by step: what it says before it is done
	gates  []string          // that are open
	kills  int               // so many runs die before one comes to its end
	died   int
	last   string // the step that was under way last
	events int
}

// inspect proposes a plan, answers its questions, and reads it from its file again. If online is true, tables are
// changed online even if they are small.
func (w *world) inspect(online bool) *conversion {
	w.Helper()
	p, err := convert.Inspect(w.Context(), w.dialect, w.db, convert.InspectConfig{})
	if err != nil {
		w.Fatal(err)
	}
	for _, q := range p.Questions {
		q.Answer = plan.Leave
		if w.found[q.Column] != "" {
			q.Answer = plan.Widen
		}
		w.Logf("question: %s, which may refer to %q: %s", q.Column, q.Proposed, q.Answer)
	}
	for _, t := range p.Tables {
		computed := w.dialect == sqlsnow.Postgres && slices.ContainsFunc(w.tables[t.Name].columns, func(c *column) bool { return c.generated })
		if online && t.Method == plan.Alter && t.Why == "it is small" && !computed { // what is computed of them would be refused
			t.Method, t.Why = plan.Online, ""
		}
	}
	var file bytes.Buffer
	if err := p.WriteYAML(&file); err != nil {
		w.Fatal(err)
	}
	if dir := os.Getenv("SNOW_TEST_PLANS"); dir != "" {
		name := strings.ReplaceAll(w.Name(), "/", "_") + ".yaml"
		if err := os.WriteFile(filepath.Join(dir, name), file.Bytes(), 0o600); err != nil {
			w.Fatal(err)
		}
	}
	if p, err = plan.Read(&file); err != nil {
		w.Fatal(err)
	}
	if err := p.Check(); err != nil {
		w.Fatal(err)
	}
	w.expect(p)
	for _, t := range p.Tables {
		if t.Key != "" {
			w.wide[t.Name] = t.Key
		}
		w.Logf("%s: key %q, counted by %q, %s, group %d, %d columns, %s", t.Name, t.Key, t.Counter, t.Method, t.Group, len(t.Columns), t.Why)
	}
	return &conversion{world: w, plan: p, blocks: make(map[string]string)}
}

// expect sees whether the plan has all that must change: each counted key, unless it is a small one of a lookup table,
// and each reference to one.
func (w *world) expect(p *plan.Plan) {
	w.Helper()
	keys := make(map[string]string)
	for _, t := range p.Tables {
		keys[t.Name] = t.Key
	}
	for _, t := range w.tables {
		if c := t.column(t.counted); c != nil && strings.HasPrefix(c.kind, "int") && keys[t.name] != c.name {
			w.Errorf("%s: the plan has no key, want %s", t.name, c.name)
		}
		for _, f := range t.foreign {
			for i, name := range f.columns {
				if keys[f.table] != f.target[i] || !strings.HasPrefix(t.column(name).kind, "int") {
					continue
				}
				if at := slices.IndexFunc(p.Tables, func(each *plan.Table) bool { return each.Name == t.name }); at < 0 || p.Tables[at].Column(name) == nil {
					w.Errorf("%s.%s refers to %s.%s, and the plan does not widen it", t.name, name, f.table, f.target[i])
				}
			}
		}
	}
}

// make returns a conversion by the plan through a pool.
func (c *conversion) make(db *sql.DB, until string) *convert.Conversion {
	c.Helper()
	made, err := convert.New(c.dialect, db, c.plan, convert.Config{
		Holder: "test", Lease: time.Second, Gates: c.gates, Until: until, MaxBusy: -1, MaxLag: -1,
		Confirm: func(_ context.Context, q convert.Question) error {
			c.blocks[q.Step] = q.Blocks
			return nil
		},
		Events: func(e report.Event) {
			switch c.events++; e.Kind {
			case report.StepBegins:
				c.last = e.Step
				c.Logf("step %q", e.Step)
				c.blocked.begin(e.Step)
			case report.StepUndone:
				c.blocked.begin("back: " + e.Step)
			}
		},
	})
	if err != nil {
		c.Fatal(err)
	}
	return made
}

// run continues to the next gate, or to the end, and returns the gate's name. As long as there are kills left, runs die
// after some statements, and another one continues.
func (c *conversion) run(until string) (gate string) {
	c.Helper()
	return c.survive(func(db *sql.DB) error { return c.make(db, until).Run(c.Context()) })
}

// back takes all back, or down to a step or phase.
func (c *conversion) back(until string) {
	c.Helper()
	if gate := c.survive(func(db *sql.DB) error { return c.make(db, until).Back(c.Context()) }); gate != "" {
		c.Fatalf("back stops at gate %q", gate)
	}
}

func (c *conversion) survive(do func(*sql.DB) error) (gate string) {
	c.Helper()
	for {
		c.blocked.begin("between the steps")
		db, f := c.open(8), &fuse.Fuse{Left: 1 + int(c.random.ExpFloat64()*float64(testscale.Of(60, 120))), Done: c.random.IntN(2) == 0}
		if c.kills > 0 {
			db = f.Pool(db)
		}
		err := do(db)
		if c.kills > 0 {
			_ = db.Close() // the sessions of the dead process end
		}
		var at *report.GateError
		switch {
		case err == nil:
			return ""
		case errors.As(err, &at):
			c.Logf("gate %q: %s", at.Gate, at.What)
			return at.Gate
		case c.kills > 0 && errors.Is(err, fuse.ErrBlown):
			c.kills--
			c.died++
			c.Logf("run %d died in step %q", c.died, c.last)
		default:
			c.Fatalf("after step %q: %v", c.last, err)
		}
	}
}

// open opens the gate.
func (c *conversion) pass(gate string) { c.gates = append(c.gates, gate) }

// verify asks the conversion itself.
func (c *conversion) verify() {
	c.Helper()
	faults, err := c.make(c.open(8), "").Verify(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	for _, f := range faults {
		if c.found[f.Table+"."+f.Column] == "" { // writers delete rows to which no foreign key refers
			c.Errorf("verify: %v", f)
		}
	}
}

// same sees whether the tables are as before, but for their widths.
func (c *conversion) same(counted bool) {
	c.Helper()
	now, err := catalog(c.Context(), c.db, c.dialect, nil)
	if err != nil {
		c.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(c.tables)); !slices.Equal(got, want) {
		c.Fatalf("tables are %q, want %q", got, want)
	}
	for name, before := range c.tables {
		after := now[name]
		if !slices.Equal(after.key, before.key) || counted && after.counted != before.counted {
			c.Errorf("%s: the key is %q, counted %q, want %q, %q", name, after.key, after.counted, before.key, before.counted)
		}
		for _, column := range before.columns {
			switch got := after.column(column.name); {
			case got == nil:
				c.Errorf("%s.%s is not there", name, column.name)
			case got.nullable != column.nullable || got.generated != column.generated || got.unique != column.unique:
				c.Errorf("%s.%s is %+v, want %+v", name, column.name, got, column)
			}
		}
		for _, f := range before.foreign {
			if f.onDelete != "" && !slices.ContainsFunc(after.foreign, func(g *reference) bool {
				return slices.Equal(f.columns, g.columns) && slices.Equal(f.target, g.target) && f.table == g.table && f.onDelete == g.onDelete
			}) {
				c.Errorf("%s: the foreign key of %q is not there any more: %+v", name, f.columns, after.foreign)
			}
		}
	}
}

// widths returns the type of each column of the plan.
func (c *conversion) widths() map[string]string {
	c.Helper()
	now, err := catalog(c.Context(), c.db, c.dialect, nil)
	if err != nil {
		c.Fatal(err)
	}
	kinds := make(map[string]string)
	for _, t := range c.plan.Tables {
		for _, column := range t.Columns {
			kinds[t.Name+"."+column.Name] = now[t.Name].column(column.Name).kind
		}
	}
	return kinds
}

// eachSchema calls do for each schema on each server, or for some of them in a test that must not take long.
func eachSchema(t *testing.T, usual []string, do func(*testing.T, *world)) {
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if !testscale.Long() && !slices.Contains(usual, name) {
			continue
		}
		for _, on := range slices.Sorted(maps.Keys(servers)) {
			t.Run(on+" "+name, func(t *testing.T) {
				s, server := schemas[name], servers[on]
				do(t, newWorld(t, server, s.statements(t, server.dialect), s.found[on], cmp.Or(*seed, 1)))
			})
		}
	}
}
