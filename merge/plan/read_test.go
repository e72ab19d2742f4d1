package plan_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

func TestPlanReadsBack(t *testing.T) {
	value := "current_timestamp() ON UPDATE current_timestamp()"
	p := goodPlan()
	p.Tables[0].Columns[2].Default = &value
	p.Tables[0].Columns[3].None = []string{"0", "", "null", "-1", "1e3", " x", "no: #1"}
	p.Tables[0].Columns[4].Separator = " | "
	p.Tables[0].Notes = []string{"trigger\nin two lines", "- [a, b]: {c}"}
	for name, write := range map[string]func(*plan.Plan, io.Writer) error{
		"YAML": (*plan.Plan).WriteYAML,
		"JSON": (*plan.Plan).WriteJSON,
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(p, &b); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			got, err := plan.Read(&b)
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			if !reflect.DeepEqual(got, p) {
				t.Errorf("another plan was read from\n%s", text)
			}
		})
	}
}

// In YAML null is not a text, but people write it as they do drop.
func TestReadPlanOrphans(t *testing.T) {
	for text, want := range map[string]plan.Orphans{
		"orphans: null": plan.OrphansNull, "orphans: 'null'": plan.OrphansNull, `orphans: "null"`: plan.OrphansNull, "orphans: Null": plan.OrphansNull,
		"orphans: ~": plan.OrphansNull, "{orphans: null, name: b}": plan.OrphansNull, "orphans: drop": plan.OrphansDrop,
		"orphans:": plan.OrphansFail, "orphans: ''": plan.OrphansFail, "name: b": plan.OrphansFail, "default: null": plan.OrphansFail,
	} {
		p, err := plan.Read(strings.NewReader("tables:\n- name: a\n  columns:\n  - " + text + "\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if c := p.Tables[0].Columns[0]; c.Orphans != want || c.Default != nil {
			t.Errorf("%s: got %+v, want orphans %q", text, c, want)
		}
	}
	p, err := plan.Read(strings.NewReader(`{"tables": [{"name": "a", "columns": [{"name": "b", "orphans": null}]}]}`))
	if err != nil || p.Tables[0].Columns[0].Orphans != plan.OrphansFail {
		t.Errorf("JSON's null: got %v, want nothing", err)
	}
}

func TestReadPlanErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"no plan", "hello", ""},
		{"unknown field", "version: 1\ntabels: []", "tabels"},
		{"unknown field of a column", "tables: [{name: a, columns: [{name: b, roll: key}]}]", "roll"},
		{"unknown field in JSON", `{"tables": [{"name": "a", "rows": 3}]}`, "rows"},
		{"field twice", "version: 1\nversion: 1", "version"},
		{"more behind it", `{"version": 1} {"version": 1}`, "follows"},
		{"two documents", "version: 1\n---\nversion: 1", ""},
		{"empty table", "tables: [null]", "tables is empty"},
		{"empty column", "tables: [{name: a, columns: [null]}]", "columns is empty"},
		{"empty reference", `{"tables": [{"name": "a", "columns": [{"name": "b", "refers": [null]}]}]}`, "refers is empty"},
		{"empty key", "tables: [{name: a, foreign_keys: [null]}]", "foreign_keys is empty"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := plan.Read(strings.NewReader(test.text))
			if err == nil || !strings.HasPrefix(err.Error(), "plan: read: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

// FuzzReadPlan checks that a plan which can be read is written and read back
// the same, and that no plan makes Check or Schema panic.
func FuzzReadPlan(f *testing.F) {
	var b bytes.Buffer
	if err := goodPlan().WriteYAML(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Add(`{"version": 1, "tables": [{"name": "a", "columns": [{"name": "\u0085", "default": ""}]}]}`)
	f.Add("tables: [{name: a, unique: [{columns: [b], rule: suffix}], primary_key: [a, b], columns: [{name: b, none: [0, ~, 2001-01-01]}]}]")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := plan.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		_ = p.Check()
		_, _ = p.Schema()
		var yaml, json, again bytes.Buffer
		if err := p.WriteJSON(&json); err != nil {
			t.Fatal(err)
		}
		if err := p.WriteYAML(&yaml); err != nil {
			t.Fatal(err)
		}
		got, err := plan.Read(&yaml)
		if err != nil {
			t.Fatalf("read back: %v", err)
		}
		if err := got.WriteJSON(&again); err != nil {
			t.Fatal(err)
		}
		if json.String() != again.String() {
			t.Errorf("written\n%s\nread back\n%s", json.String(), again.String())
		}
	})
}

func ExamplePlan_WriteYAML() {
	p := &plan.Plan{
		Version: 1, Dialect: "SQLite", Sources: []string{"eu", "us"},
		Tables: []*plan.Table{{
			Name: "players", PrimaryKey: []string{"id"}, NewIDs: []string{"eu", "us"}, Created: "created_at",
			Columns: []*plan.Column{
				{Name: "id", Type: "INTEGER", Role: plan.RoleKey},
				{Name: "friends", Type: "TEXT", Role: plan.RoleList, Refers: []*plan.Reference{{Table: "players"}}, Suspects: []string{"a list of ids?"}},
				{Name: "created_at", Type: "TEXT", Role: plan.RolePlain},
			},
		}},
	}
	var b strings.Builder
	if err := p.WriteYAML(&b); err != nil {
		panic(err)
	}
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "#") {
			_, _ = os.Stdout.WriteString(line)
		}
	}
	// Output:
	// version: 1
	// dialect: SQLite
	// sources: [eu, us]
	// tables:
	// - name: players
	//   primary_key: [id]
	//   new_ids: [eu, us]
	//   created: created_at
	//   columns:
	//   - name: id
	//     type: INTEGER
	//     role: key
	//   - name: friends
	//     type: TEXT
	//     role: list
	//     refers:
	//     - table: players
	//     suspects:
	//     - a list of ids?
	//   - name: created_at
	//     type: TEXT
	//     role: plain
}

func ExamplePlan_Check() {
	p, err := plan.Read(strings.NewReader(`
version: 1
dialect: SQLite
sources: [eu, us]
tables:
- name: players
  primary_key: [id]
  new_ids: [eu, us]
  columns:
  - {name: id, type: INTEGER, role: key}
  - {name: boss_id, type: INTEGER, role: reference, refers: [{table: players}], suspects: [named like an id]}
`))
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(p.Check().Error())
	// Output: plan: column "players.boss_id": not decided: named like an id
}

// A plan that nobody has reviewed.
func ExampleRead() {
	p, err := plan.Read(strings.NewReader(`
version: 1
dialect: MySQL
sources: [eu, us]
tables:
- name: players
  primary_key: [id]
  new_ids: [eu, us]
  columns:
  - {name: id, type: bigint, role: key}
  - name: invited_by
    type: bigint
    nullable: true
    role: reference
    refers: [{table: players}]
    suspects: ['a reference without a foreign key? 998 of 1000 sampled values are ids of players']
`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Check())
	// Output: plan: column "players.invited_by": not decided: a reference without a foreign key? 998 of 1000 sampled values are ids of players
}
