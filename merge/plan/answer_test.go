package plan_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// askedGame is gameSchema with what Inspect would ask.
func askedGame() *plan.Plan {
	p := gameSchema()
	for _, t := range p.Tables {
		if t.Key() != nil {
			t.NewIDs = []string{"eu", "us"}
		}
	}
	p.Table("mail").Column("sender").None = []string{"0"}
	p.Table("mail").Column("sender").Role = plan.RoleReference
	p.Table("mail").Column("sender").Refers = []*plan.Reference{{Table: "characters"}}
	p.Questions = []*plan.Question{
		{Name: "guid", Text: "?", Columns: []string{"character_aura.guid", "character_stats.guid"}, Candidates: []*plan.Candidate{{Answer: "characters", Certainty: 0.97}, {Answer: "guild", Certainty: 0.1}}},
		{Name: "sender", Text: "?", Columns: []string{"mail.sender", "mail.receiver"}, Candidates: []*plan.Candidate{{Answer: "characters", Certainty: 0.99}}},
		{Name: "items", Text: "?", Columns: []string{"mail.item1", "mail.item2"}, Candidates: []*plan.Candidate{{Answer: "plain", Certainty: 0.6}}},
		{Name: "caster", Text: "?", Columns: []string{"character_aura.caster"}},
	}
	return p
}

func TestAcceptCertain(t *testing.T) {
	p := askedGame()
	taken, err := p.AcceptCertain(0.95)
	if err != nil {
		t.Fatal(err)
	}
	if len(taken) != 2 || taken[0].Name != "sender" || taken[1].Answer != "characters" {
		t.Errorf("got %+v", taken)
	}
	want := []string{
		"sender: characters, certain to 0.99, for mail.sender, mail.receiver",
		"guid: characters, certain to 0.97, for character_aura.guid, character_stats.guid",
	}
	if !slices.Equal(p.Accepted, want) {
		t.Errorf("got %q, want %q", p.Accepted, want)
	}
	lines := []string{
		"character_aura.guid reference characters decided", "character_stats.guid reference characters decided",
		"mail.sender reference characters none [0] decided", "mail.receiver reference characters decided",
	}
	if got := roles(p); !slices.Equal(got, lines) {
		t.Errorf("got %q, want %q", got, lines)
	}
	stats := p.Table("character_stats")
	if stats.NewIDs != nil || len(stats.Unique) != 1 || stats.Unique[0].Columns[0] != "guid" {
		t.Errorf("the key of character_stats is one of characters now: got %+v", stats)
	}
	if p.Settle(); len(p.Questions) != 2 || p.Questions[0].Name != "items" {
		t.Errorf("got questions %+v", p.Questions)
	}
}

// What people have decided on a column counts more than an answer that nobody has looked at.
func TestAcceptCertainKeepsDecisions(t *testing.T) {
	p := askedGame()
	sender := p.Table("mail").Column("sender")
	sender.Role, sender.Refers, sender.None, sender.Decided = plan.RolePlain, nil, nil, true
	if _, err := p.AcceptCertain(0.98); err != nil {
		t.Fatal(err)
	}
	if receiver := p.Table("mail").Column("receiver"); sender.Role != plan.RolePlain || receiver.Role != plan.RoleReference {
		t.Errorf("got the roles %s and %s, want plain and reference", sender.Role, receiver.Role)
	}
}

func TestDecide(t *testing.T) {
	p := askedGame()
	if err := p.Decide(p.Questions[0], "nobody"); err == nil || p.Questions[0].Answer != "" {
		t.Errorf("got %v, want an error", err)
	}
	for n, answer := range []string{"guild", "each", "plain", "key"} {
		if err := p.Decide(p.Questions[n], answer); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"character_aura.guid reference guild decided", "character_aura.caster key decided", "character_stats.guid reference guild decided",
		"mail.sender reference characters none [0] decided", "mail.receiver plain decided", "mail.item1 plain decided", "mail.item2 plain decided",
	}
	if got := roles(p); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A template answers what it names, in a schema that lacks some of it and has more.
func TestApply(t *testing.T) {
	const template = `
version: 2
dialect: MySQL
keep_ids: [guild, realms]
created: [characters.born]
references:
- {to: characters, columns: ['character_*.guid', mail.sender, pets.owner]}
- {to: pets, columns: [mail.item3]}
- {to: guild, proposed: true, columns: [mail.item2]}
plain: [mail.item1]
unique:
- {rule: suffix, keys: [characters.name, pets.name]}
tables:
  pets: {skip: true}
`
	d, err := plan.ReadDecisions(strings.NewReader(template))
	if err != nil {
		t.Fatal(err)
	}
	p := askedGame()
	left, err := d.Apply(p)
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	for _, n := range left {
		missing = append(missing, n.Text)
	}
	if want := []string{"pets.owner", "mail.item3", "pets", "realms", "pets.name"}; !slices.Equal(missing, want) {
		t.Errorf("got %q, want %q", missing, want)
	}
	want := []string{
		"character_aura.guid reference characters decided", "character_spell.guid reference characters decided", "character_stats.guid reference characters decided",
		"mail.sender reference characters none [0] decided", "mail.item1 plain decided",
	}
	if got := roles(p); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var asked []string
	for _, q := range p.Questions {
		asked = append(asked, q.Columns...)
	}
	if want := []string{"mail.receiver", "mail.item2", "character_aura.caster"}; !slices.Equal(asked, want) {
		t.Errorf("still asked: got %q, want %q", asked, want)
	}
	characters, guild := p.Table("characters"), p.Table("guild")
	if characters.Created != "born" || len(characters.NewIDs) != 2 || guild.NewIDs != nil || p.Table("character_stats").NewIDs != nil {
		t.Errorf("got %+v, %+v", characters, guild)
	}
	if u := characters.Unique; len(u) != 1 || u[0].Rule != plan.RuleSuffix || !u[0].Decided {
		t.Errorf("got unique keys %+v", u)
	}
	if _, err := plan.Shorten(p, gameSchema()); err != nil {
		t.Error(err)
	}
}

// A finished plan is a template: what is decided stays decided.
func TestPlanAsTemplate(t *testing.T) {
	p := askedGame()
	if _, err := p.AcceptCertain(0.5); err != nil {
		t.Fatal(err)
	}
	p.Settle()
	d, err := plan.Shorten(p, gameSchema())
	if err != nil {
		t.Fatal(err)
	}
	again := askedGame()
	if left, err := d.Apply(again); err != nil || len(left) > 0 {
		t.Fatalf("got %v, %v", left, err)
	}
	if got, want := roles(again), roles(p); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !slices.Equal(again.Accepted, p.Accepted) {
		t.Errorf("accepted: got %q, want %q", again.Accepted, p.Accepted)
	}
}

// TestTemplateOfDates decides that a column says when rows were made, if somebody has said so in the template.
func TestTemplateOfDates(t *testing.T) {
	const doubt = "questions:\n- columns: [characters.born]\n  suspects: [does it say when a row was made?]\n  answer: "
	for _, test := range []struct {
		text string
		want bool
	}{
		{"created: [characters.born]\n", true},
		{doubt + "yes\ncreated: [characters.born]\n", true},
		{doubt + "\ncreated: [characters.born]\n", false},
		{"created: [mail.id]\n", false},
	} {
		d, err := plan.ReadDecisions(strings.NewReader("version: 2\n" + test.text))
		if err != nil {
			t.Fatal(err)
		}
		p := askedGame()
		born := p.Table("characters").Column("born")
		born.Suspects = append(born.Suspects, "does it say when a row was made?")
		if _, err := d.Apply(p); err != nil {
			t.Fatal(err)
		}
		if born.Decided != test.want {
			t.Errorf("%s: decided %t, want %t", test.text, born.Decided, test.want)
		}
	}
}

// FuzzReadDecisions checks that decisions which can be read and completed are
// found again in the plan, and that none make a function panic.
func FuzzReadDecisions(f *testing.F) {
	schema := schemaLine(f)
	for seed := range 3 {
		p := askedGame()
		if seed > 0 {
			if _, err := p.AcceptCertain(1 - float64(seed)*0.4); err != nil {
				f.Fatal(err)
			}
		}
		d, err := plan.Shorten(p, gameSchema())
		if err != nil {
			f.Fatal(err)
		}
		var b bytes.Buffer
		if err := d.WriteYAML(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(strings.Replace(b.String(), schema, "", 1))
	}
	f.Add(head + "references: [{by: kind, kinds: {1: guild, 2: plain}, columns: ['mail.s*'], none: [~x], orphans: null}]\ntables: {mail: {columns: {id: {default: ~}}}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := plan.ReadDecisions(strings.NewReader(text))
		if err != nil {
			return
		}
		_, _ = d.Apply(askedGame())
		with, err := plan.ReadDecisions(strings.NewReader(head + schema))
		if err != nil {
			t.Fatal(err)
		}
		d.Schema, d.Sources, d.Dialect = with.Schema, with.Sources, with.Dialect
		p, err := d.Complete(gameSchema())
		if err != nil {
			return
		}
		_ = p.Check()
		again, err := plan.Shorten(p, gameSchema())
		if err != nil {
			return // such as two questions of one name, or a reference to no table
		}
		var b bytes.Buffer
		if err := again.WriteYAML(&b); err != nil {
			t.Fatal(err)
		}
		written := b.String()
		read, err := plan.ReadDecisions(&b)
		if err != nil {
			t.Fatalf("read back: %v\n%s", err, written)
		}
		made, err := read.Complete(gameSchema())
		if err != nil {
			t.Fatalf("complete again: %v\n%s", err, written)
		}
		if got, want := asJSON(t, withoutSkipped(made)), asJSON(t, withoutSkipped(p)); got != want {
			t.Errorf("got\n%s\nwant\n%s\nfrom\n%s", got, want, written)
		}
	})
}

// A unique key under tables without a rule has that of the entry of unique; one that is new fails, and keeps what
// it says itself.
func TestUniqueKeysUnderTablesKeepTheirRules(t *testing.T) {
	p, err := complete(t, `unique:
- {rule: suffix, template: '{name}[{n}]', keys: [characters.name]}
- {rule: suffix, both: true, keys: [mail.kind]}
tables:
  characters: {unique: [{name: name, columns: [name]}]}
  mail: {unique: [{columns: [kind]}, {columns: [receiver, kind]}, {columns: [sender], rule: keep}]}
`)
	if err != nil {
		t.Fatal(err)
	}
	if u := p.Table("characters").Unique; len(u) != 1 || u[0].Rule != plan.RuleSuffix || u[0].Template != "{name}[{n}]" || !u[0].Decided {
		t.Errorf("characters: got %+v", u[0])
	}
	got := ""
	for _, u := range p.Table("mail").Unique {
		got += fmt.Sprintf("%v %s %t; ", u.Columns, u.Rule, u.Both)
	}
	if want := "[kind] suffix true; [receiver kind] fail false; [sender] keep false; "; got != want {
		t.Errorf("mail: got %s, want %s", got, want)
	}
}
