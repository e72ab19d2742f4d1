package mergetest

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
)

var idInJSON = regexp.MustCompile(`"(id|owner)": ?"?[1-9]`)

// missed fails where Inspect takes a column for plain, without a doubt, whose
// values are ids.
func (w *world) missed(t *testing.T, p *plan.Plan, sources []*source) {
	t.Helper()
	for _, pt := range p.Tables {
		wt := w.table(pt.Name)
		if wt == nil {
			t.Errorf("inspect: table %s was not asked for", pt.Name)
			continue
		}
		for _, pc := range pt.Columns {
			c := wt.column(pc.Name)
			if c == nil || c.role == plan.RolePlain || c.role == plan.RoleName || pc.Role != plan.RolePlain || len(pc.Suspects) > 0 || p.Question(pt.Name+"."+pc.Name) != nil {
				continue
			}
			n := 0
			for _, s := range sources {
				for _, r := range s.rows[wt.name] {
					if v := r[c.name]; v != nil && *v != "" && *v != "0" && (c.role != plan.RoleJSON || idInJSON.MatchString(*v)) {
						n++
					}
				}
			}
			if n >= 10 && c.orphans != plan.OrphansNull {
				t.Errorf("inspect: column %s.%s of role %s passes as plain, with %d values", pt.Name, pc.Name, c.role, n)
			}
		}
	}
}

// decide settles the plan by the truth.
func (w *world) decide(t *testing.T, p *plan.Plan, sources []*source) {
	t.Helper()
	p.After = []string{"INSERT INTO afterwards VALUES (1)"}
	for _, wt := range w.tables {
		i := slices.IndexFunc(p.Tables, func(pt *plan.Table) bool { return pt.Name == wt.name })
		if i < 0 {
			t.Fatalf("the plan lacks table %s", wt.name)
		}
		pt := p.Tables[i]
		if !slices.Equal(pt.PrimaryKey, wt.primary) {
			t.Errorf("%s: the plan has the primary key %v, want %v", wt.name, pt.PrimaryKey, wt.primary)
		}
		pt.NewIDs, pt.Created, pt.IDs, pt.Leave = nil, "", wt.newIDs, 0
		if wt.newIDs.AreNumbers() {
			pt.Leave = w.leave
		}
		if wt.ids() {
			for _, s := range sources {
				if s.mints {
					pt.NewIDs = append(pt.NewIDs, s.name)
				}
			}
			if wt.column("made") != nil {
				pt.Created = "made"
			}
		}
		for _, c := range wt.columns {
			i := slices.IndexFunc(pt.Columns, func(pc *plan.Column) bool { return pc.Name == c.name })
			if i < 0 {
				if slices.ContainsFunc(sources, func(s *source) bool { return !s.lacks[wt.name+"."+c.name] }) {
					t.Fatalf("the plan lacks column %s.%s", wt.name, c.name)
				}
				continue
			}
			pc := pt.Columns[i]
			if c.declared && (pc.Role != plan.RoleReference || len(pc.Refers) != 1 || pc.Refers[0].Table != c.refers[0].Table) {
				t.Errorf("%s.%s: the plan has %s %v, and the schema a foreign key to %s", wt.name, c.name, pc.Role, pc.Refers, c.refers[0].Table)
			}
			pc.Role, pc.Refers, pc.By, pc.Separator, pc.Orphans, pc.Gone, pc.None, pc.Decided = c.role, c.refers, c.by, c.separator, c.orphans, c.gone, nil, true
			pc.Combine = c.combine
			if c.zero {
				pc.None = []string{"0"}
			}
		}
		w.decideUnique(t, wt, pt)
		wt.decideLeft(pt)
	}
}

func (w *world) decideUnique(t *testing.T, wt *table, pt *plan.Table) {
	t.Helper()
	for _, pu := range pt.Unique {
		if wt.ids() && slices.Equal(pu.Columns, wt.primary) { // of rows that keep their ids
			pu.Rule, pu.Decided = plan.RuleFail, true
			continue
		}
		i := slices.IndexFunc(wt.unique, func(u *unique) bool { return slices.Equal(u.columns, pu.Columns) })
		if i < 0 {
			t.Errorf("%s: the plan has a unique key %v, and the schema none", pt.Name, pu.Columns)
			continue
		}
		pu.Rule, pu.Decided = wt.unique[i].rule, true
		if pu.Rule == plan.RuleSuffix {
			pu.Rename = wt.unique[i].rename
			wt.unique[i].decideNames(pu)
		}
		if u := wt.unique[i]; pu.Rule == plan.RuleRenumber {
			pu.Rename, pu.Least, pu.Most = u.rename, u.least, u.most
		}
	}
	for _, u := range wt.unique {
		if !slices.ContainsFunc(pt.Unique, func(pu *plan.Unique) bool { return slices.Equal(u.columns, pu.Columns) }) {
			t.Errorf("%s: the plan lacks the unique key %v", pt.Name, u.columns)
		}
	}
}

// reread sends a plan through YAML or JSON, or through its decisions.
func reread(t *testing.T, e Engine, p *plan.Plan, sources []merge.Source, r *rand.Rand) *plan.Plan {
	t.Helper()
	short := shortened(t, e, p, sources)
	var b bytes.Buffer
	write := p.WriteYAML
	switch r.IntN(3) {
	case 0:
		write = p.WriteJSON
	case 1:
		return short
	}
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	again, err := plan.Read(&b)
	if err != nil {
		t.Fatalf("read the plan: %v\n%s", err, text)
	}
	return again
}

// shortened returns the plan that is made from the decisions of p, and fails if
// it is another one.
func shortened(t *testing.T, e Engine, p *plan.Plan, sources []merge.Source) *plan.Plan {
	t.Helper()
	schema, err := merge.ReadSchema(t.Context(), e.Dialect, sources...)
	if err != nil {
		t.Fatalf("read schema: %v", err)
	}
	short, err := plan.Shorten(p, schema)
	if err != nil {
		t.Fatalf("shorten: %v", err)
	}
	var b bytes.Buffer
	if err := short.WriteYAML(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	read, err := plan.ReadDecisions(&b)
	if err != nil {
		t.Fatalf("read decisions: %v\n%s", err, text)
	}
	made, err := read.Complete(schema)
	if err != nil {
		t.Fatalf("complete: %v\n%s", err, text)
	}
	if got, want := asJSON(t, made), asJSON(t, p); got != want {
		t.Errorf("another plan comes of\n%s\ngot\n%s\nwant\n%s", text, got, want)
	}
	return made
}

// asJSON writes a plan without the notes of tables: Inspect has more of them
// than the schema.
func asJSON(t *testing.T, p *plan.Plan) string {
	t.Helper()
	copied := *p
	copied.Tables = nil
	for _, table := range p.Tables {
		without := *table
		without.Notes = nil
		copied.Tables = append(copied.Tables, &without)
	}
	var b bytes.Buffer
	if err := copied.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
