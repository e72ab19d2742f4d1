package plan_test

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// A reference to a table whose key is itself a reference is one to the rows that this leads to.
func TestFollowedReferences(t *testing.T) {
	const schema = `version: 1
dialect: MySQL
sources: [a]
tables:
- {name: chars, primary_key: [id], columns: [{name: id, type: int, role: key}]}
- {name: horses, primary_key: [rider], columns: [{name: rider, type: int, role: key}]}
- {name: names, primary_key: [id], columns: [{name: id, type: int, role: key}]}
- name: races
  primary_key: [id]
  columns: [{name: id, type: int, role: key}, {name: first, type: int, role: reference, refers: [{table: names}]}, {name: rest, type: text, role: plain}]
  foreign_keys: [{columns: [first], table: names, refers: [id]}]
`
	p, err := plan.Read(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	d, err := plan.Shorten(p, p)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := d.WriteYAML(&text); err != nil {
		t.Fatal(err)
	}
	d, err = plan.ReadDecisions(strings.NewReader(text.String() + `references:
- {to: horses, columns: [names.id]}
- {to: chars, columns: [horses.rider]}
- {list: names, columns: [races.rest]}
unique:
- {rule: keep, keys: [horses.rider, names.id]}
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Complete(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"names.id", "races.first", "races.rest", "horses.rider"} {
		table, column, _ := strings.Cut(name, ".")
		if refers := got.Table(table).Column(column).Refers; len(refers) != 1 || refers[0].Table != "chars" {
			t.Errorf("%s refers to %v, want chars", name, refers)
		}
	}
	if err := got.Check(); err != nil {
		t.Error(err)
	}
	if p.Table("races").Column("first").Refers[0].Table != "names" {
		t.Error("the schema has changed")
	}
}

// So it is in a complete plan, whose answers may name the table whose key leads on.
func TestFollowedReferencesOfACompletePlan(t *testing.T) {
	const text = `version: 1
dialect: MySQL
sources: [a]
questions:
- {name: horse, columns: [races.horse, races.second], candidates: [{answer: horses, certainty: 0.8}], answer: horses}
tables:
- {name: chars, primary_key: [id], columns: [{name: id, type: int, role: key}]}
- name: horses
  primary_key: [rider]
  columns: [{name: rider, type: int, role: reference, refers: [{table: chars}], decided: true}]
  unique: [{columns: [rider], rule: keep, decided: true}]
- name: races
  primary_key: [id]
  columns:
  - {name: id, type: int, role: key}
  - {name: horse, type: int, role: reference, refers: [{table: horses}]}
  - {name: second, type: int, role: reference, refers: [{table: chars}]}
`
	p, err := plan.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"horse", "second"} {
		if refers := p.Table("races").Column(name).Refers; refers[0].Table != "chars" {
			t.Errorf("%s refers to %v", name, refers[0])
		}
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	p.Table("races").Column("horse").Refers[0].Table = "horses" // as a program could
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), `refers to table "horses", whose key holds ids of "chars": refer to that`) {
		t.Errorf("got %v", err)
	}
}
