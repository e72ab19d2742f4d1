package plan_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// gameSchema is the plan of a game without any decision.
func gameSchema() *plan.Plan {
	table := func(name string, primary []string, columns ...string) *plan.Table {
		t := &plan.Table{Name: name, PrimaryKey: primary}
		for _, c := range columns {
			t.Columns = append(t.Columns, &plan.Column{Name: c, Type: "int(10) unsigned", Role: plan.RolePlain})
		}
		if len(primary) == 1 {
			t.Column(primary[0]).Role = plan.RoleKey
		}
		return t
	}
	id := []string{"guid"}
	p := &plan.Plan{Version: 1, Dialect: "MySQL", Sources: []string{"eu", "us"}, Tables: []*plan.Table{
		table("character_aura", []string{"guid", "spell"}, "guid", "spell", "caster"),
		table("character_spell", []string{"guid", "spell"}, "guid", "spell"),
		table("character_stats", id, "guid", "level"),
		table("characters", id, "guid", "name", "born", "level"),
		table("dotted.name", id, "guid", "a*b", "c(d)"),
		table("guild", []string{"guildid"}, "guildid", "name", "leader"),
		table("mail", []string{"id"}, "id", "kind", "sender", "receiver", "item1", "item2", "item3"),
		table("trash", nil, "x"),
	}}
	p.Table("characters").Unique = []*plan.Unique{{Name: "name", Columns: []string{"name"}, Rule: plan.RuleFail}}
	p.Table("guild").Unique = []*plan.Unique{{Name: "both", Columns: []string{"name", "leader"}, Rule: plan.RuleFail}}
	p.Table("guild").Columns[1].Suspects = []string{"type differs"}
	p.Table("trash").Sources = []string{"us"}
	return p
}

// schemaLine is what files of decisions say of the tables of gameSchema.
func schemaLine(t testing.TB) string {
	t.Helper()
	d, err := plan.Shorten(gameSchema(), gameSchema())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range d.Schema {
		names = append(names, n.Text)
	}
	return "schema: [" + strings.Join(names, ", ") + "]\n"
}

const head = "version: 2\ndialect: MySQL\nsources: [eu, us]\n"

func complete(t testing.TB, text string) (*plan.Plan, error) {
	t.Helper()
	d, err := plan.ReadDecisions(strings.NewReader(head + text + schemaLine(t)))
	if err != nil {
		return nil, err
	}
	return d.Complete(gameSchema())
}

// roles lists what columns are that are not what the schema says.
func roles(p *plan.Plan) (lines []string) {
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			was := gameSchema().Table(t.Name).Column(c.Name)
			if c.Role == was.Role && len(c.None) == 0 && !c.Decided {
				continue
			}
			line := t.Name + "." + c.Name + " " + string(c.Role)
			for _, r := range c.Refers {
				line += " " + strings.TrimPrefix(r.Path+r.Value+"="+r.Table, "=")
			}
			if len(c.None) > 0 {
				line += fmt.Sprint(" none ", c.None)
			}
			if c.Orphans != "" {
				line += " orphans " + string(c.Orphans)
			}
			if c.Decided {
				line += " decided"
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func TestComplete(t *testing.T) {
	question := "questions:\n- name: guid\n  columns: ['character_*.guid', mail.sender]\n  proposed: characters\n  none: [0]\n  answer: "
	best := "questions:\n- {name: guid, columns: [mail.sender, mail.receiver], candidates: [{answer: plain, certainty: 0.2}, {answer: guild, certainty: 0.8}], "
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"names and patterns", "references:\n- {to: characters, columns: ['character_*.guid', mail.receiver], none: [0, ~x], orphans: null}\nplain: [mail.item*]\n", []string{
			"character_aura.guid reference characters none [0 ~x] orphans null decided", "character_spell.guid reference characters none [0 ~x] orphans null decided",
			"character_stats.guid reference characters none [0 ~x] orphans null decided", "mail.receiver reference characters none [0 ~x] orphans null decided",
			"mail.item1 plain decided", "mail.item2 plain decided", "mail.item3 plain decided",
		}},
		{"kinds, JSON and lists", "references:\n- {by: kind, kinds: {0: characters, 3: plain}, columns: [mail.sender]}\n" +
			"- {json: {'$.a': guild}, columns: [mail.item1], proposed: true}\n- {list: guild, separator: ;, columns: [mail.item2]}\n", []string{
			"mail.sender polymorphic 0=characters 3= decided", "mail.item1 json $.a=guild", "mail.item2 list guild decided",
		}},
		{"special characters", `plain: [dotted\.name.a\*b, 'dotted\.name.c\(d\)']` + "\n", []string{"dotted.name.a*b plain decided", "dotted.name.c(d) plain decided"}},
		{"the full name counts", "plain: [character_aura.guid]\nreferences:\n- {to: characters, columns: ['character_*.guid']}\n", []string{
			"character_aura.guid plain decided", "character_spell.guid reference characters decided", "character_stats.guid reference characters decided",
		}},
		{"no answer", question + "\n", []string{
			"character_aura.guid reference characters", "character_spell.guid reference characters", "character_stats.guid reference characters",
			"mail.sender reference characters none [0]",
		}},
		{"yes", question + "yes\n", []string{
			"character_aura.guid reference characters decided", "character_spell.guid reference characters decided",
			"character_stats.guid reference characters decided", "mail.sender reference characters none [0] decided",
		}},
		{"the best candidate", best + "none: [0], answer: }\n", []string{"mail.sender reference guild none [0]", "mail.receiver reference guild none [0]"}},
		{"the best candidate, yes", best + "answer: yes}\n", []string{"mail.sender reference guild decided", "mail.receiver reference guild decided"}},
		{"no proposal", best + "proposed: each, answer: }\n", nil},
		{"no proposal, yes", best + "proposed: each, answer: yes}\n", []string{"mail.sender plain decided", "mail.receiver plain decided"}},
		{"another table, and a column that differs", question + "guild\nkeys: [character_stats.guid]\n", []string{
			"character_aura.guid reference guild decided", "character_spell.guid reference guild decided", "character_stats.guid key decided",
			"mail.sender reference guild none [0] decided",
		}},
		{"plain", question + "plain\n", []string{
			"character_aura.guid plain decided", "character_spell.guid plain decided", "character_stats.guid plain decided", "mail.sender plain decided",
		}},
		{"a pattern counts more than an answer", question + "guild\nplain: ['*_stats.guid']\n", []string{
			"character_aura.guid reference guild decided", "character_spell.guid reference guild decided", "character_stats.guid plain decided",
			"mail.sender reference guild none [0] decided",
		}},
		{"a table for a list", "questions:\n- {columns: [mail.item1], suspects: [a list], proposed: {list: guild, separator: ;}, answer: characters}\n", []string{
			"mail.item1 list characters decided",
		}},
		{"several parts", "questions:\n- {name: sender, text: whose?, columns: [mail.sender], answer: {by: kind, kinds: {0: characters}, orphans: drop}}\n", []string{
			"mail.sender polymorphic 0=characters orphans drop decided",
		}},
		{"suspects before a question", "questions:\n- {columns: [mail.sender], suspects: [type differs], answer: yes}\n" +
			"- {name: s, text: '?', columns: [mail.sender], proposed: characters, answer: guild}\n", []string{"mail.sender reference guild decided"}},
		{"suspects", "questions:\n- {columns: [guild.name], suspects: [type differs], answer: yes}\n", []string{"guild.name plain decided"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := complete(t, test.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := roles(p); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestCompleteTables(t *testing.T) {
	_, err := complete(t, `new_ids: [eu]
keep_ids: [guild]
created: [characters.born]
zone: Asia/Shanghai
skip: [trash]
unique:
- {rule: suffix, keys: [characters.name]}
- {rule: keep, prefer: [us, eu], keys: ['guild(name, leader)', guild(guildid)]}
tables:
  mail: {new_ids: [us], columns: {item1: {default: '0', role: list, refers: [{table: guild}]}}}
  guild: {without: [leader], unique: [{columns: [name], rule: match}]}
`)
	if err == nil || !strings.Contains(err.Error(), `line 11: "guild(name, leader)" names no unique key`) {
		t.Errorf("got %v, want an error of a key that a change took away", err)
	}
	p, err := complete(t, `new_ids: [eu]
keep_ids: [guild]
created: [characters.born]
zone: Asia/Shanghai
skip: [trash]
unique:
- {rule: suffix, keys: [characters.name]}
- {rule: keep, prefer: [us, eu], keys: ['guild(name, leader)', guild(guildid)]}
tables:
  mail: {new_ids: [us], columns: {item1: {default: '0', role: list, refers: [{table: guild}]}}}
`)
	if err != nil {
		t.Fatal(err)
	}
	characters, guild, mail := p.Table("characters"), p.Table("guild"), p.Table("mail")
	if !slices.Equal(characters.NewIDs, []string{"eu"}) || characters.Created != "born" || characters.Zone != "Asia/Shanghai" || guild.NewIDs != nil ||
		!slices.Equal(mail.NewIDs, []string{"us"}) || !p.Table("trash").Skip {
		t.Errorf("got %+v, %+v, %+v", characters, guild, mail)
	}
	if u := characters.Unique[1]; u.Rule != plan.RuleSuffix || !u.Decided || characters.Unique[0].Columns[0] != "guid" {
		t.Errorf("characters: got %+v", u)
	}
	if u := guild.Unique; len(u) != 2 || u[0].Rule != plan.RuleKeep || u[1].Rule != plan.RuleKeep || u[1].Prefer[0] != "us" {
		t.Errorf("guild: got %+v", u)
	}
	if c := mail.Column("item1"); c.Role != plan.RoleList || c.Default == nil || *c.Default != "0" {
		t.Errorf("mail.item1: got %+v", c)
	}
}

// One question is about several unique keys, and an entry of unique counts more than its answer.
func TestQuestionOnUniqueKeys(t *testing.T) {
	rules := func(text string) (got []string) {
		t.Helper()
		p, err := complete(t, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range p.Tables {
			for _, u := range of.Unique {
				if u.Decided || len(u.Suspects) > 0 || u.Rule != plan.RuleFail {
					got = append(got, fmt.Sprintf("%s%v %s %v %q", of.Name, u.Columns, u.Rule, u.Decided, u.Suspects))
				}
			}
		}
		return got
	}
	question := "questions:\n- unique:\n    characters.name: 3 clash\n    guild(name, leader): [2 clash, 'type: differs']\n  proposed: keep\n  answer: "
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"open", question + "\n", []string{`characters[name] keep false ["3 clash"]`, `guild[name leader] keep false ["2 clash" "type: differs"]`}},
		{"yes", question + "yes\n", []string{`characters[name] keep true ["3 clash"]`, `guild[name leader] keep true ["2 clash" "type: differs"]`}},
		{"an entry counts", question + "match\nunique: [{rule: suffix, keys: [characters.name]}]\n", []string{
			`characters[name] suffix true ["3 clash"]`, `guild[name leader] match true ["2 clash" "type: differs"]`,
		}},
	} {
		if got := rules(test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestDecisionsErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown key", "refrences: []\n", "refrences"},
		{"unknown key of an entry", "references:\n- {too: characters, columns: [mail.sender]}\n", "too"},
		{"unknown field of a table", "tables:\n  mail: {rows: 3}\n", "rows"},
		{"unknown field of a column", "tables:\n  mail:\n    columns: {id: {roll: key}}\n", "roll"},
		{"unknown table", "plain: [mails.sender]\n", `line 4: "mails.sender" names no table`},
		{"unknown column", "plain:\n- mail.sender\n- mail.sendr\n", `line 6: "mail.sendr" names no column`},
		{"pattern of nothing", "plain: ['x*.y']\n", "names no table"},
		{"unknown table of a reference", "references:\n- {to: mails, columns: [mail.sender]}\n", `"mails" names no table`},
		{"unknown column of a change", "tables:\n  mail: {columns: {x: {role: key}}}\n", `line 5: table "mail" has no column "x"`},
		{"unknown table of a change", "tables:\n  mails: {skip: true}\n", `line 5: "mails" names no table`},
		{"two names", "plain: [mail.sender]\nkeys: [mail.sender]\n", `line 4: "mail.sender" is plain here, and key by "mail.sender" of line 5`},
		{"two patterns", "plain: ['mail.s*']\nkeys: ['mail.*r']\n", `and key by "mail.*r" of line 5`},
		{"a pattern and an answer", "plain: ['*.guid']\nquestions:\n- {name: g, text: '?', columns: [character_aura.guid], answer: guild}\n", `line 6: question "g": the answer "guild" counts for none of its columns, which are in patterns such as "*.guid" of line 4`},
		{"a table for kinds", "questions:\n- {name: sender, text: whose?, columns: [mail.sender], proposed: {by: kind, kinds: {0: characters, 1: guild}}, answer: guild}\n", `line 5: the answer "guild" is a table, but the proposal has several of them`},
		{"two of to, list and json", "references:\n- {to: guild, list: guild, columns: [mail.sender]}\n", "want one of to, list, json, by, format and name"},
		{"no columns", "references:\n- {to: guild}\n", "no columns"},
		{"an answer that is nothing", "questions:\n- {name: g, text: '?', columns: [mail.sender], answer: mails}\n", `line 5: the answer "mails" is no table`},
		{"a bad backslash", `plain: ['mail.\s']` + "\n", "backslash"},
		{"no column in a name", "plain: [mail]\n", "want table.column"},
		{"a column in a name", "skip: [mail.sender]\n", "want the name of a table"},
		{"two dates", "created: [characters.born, characters.level]\n", `dated by "born" already`},
		{"two rules", "unique:\n- {rule: keep, keys: [characters.name]}\n- {rule: match, keys: [characters.name]}\n", "another rule"},
		{"unknown key", "unique:\n- {rule: keep, keys: [characters.born]}\n", "names no unique key"},
		{"an entry against the answer about one key", "unique: [{rule: suffix, keys: [characters.name]}]\nquestions:\n- {unique: {characters.name: }, answer: keep}\n", "is decided as suffix"},
		{"unique keys in a list", "questions:\n- {unique: [characters.name], answer: }\n", "line 5: want a mapping of unique keys"},
		{"a unique key twice", "questions:\n- {unique: {characters.name: a, 'characters.name': b}, answer: }\n", "characters.name"},
		{"a table twice", "tables:\n  mail: {comment: a}\n  mail: {comment: b}\n", `line 6: "mail" is there twice`},
		{"a column twice", "tables: {mail: {columns: {sender: {nullable: true}, sender: {nullable: false}}}}\n", `"sender" is there twice`},
		{"suspects of unique keys", "questions:\n- {unique: {characters.name: }, suspects: [x], answer: }\n", "beside their names"},
		{"two questions about a column", "questions:\n- {name: a, text: '?', columns: [mail.sender], proposed: characters, answer: yes}\n" +
			"- {name: b, text: '?', columns: [mail.receiver, 'mail.s*'], proposed: each, answer: guild}\n", `line 6: "mail.sender" is in two questions`},
		{"a question and an answer to suspects", "questions:\n- {name: a, text: '?', columns: [mail.sender], proposed: characters, answer: yes}\n" +
			"- {columns: [mail.sender], suspects: [a list], answer: plain}\n", `line 6: "mail.sender" is in two questions`},
		{"two questions about a unique key", "questions:\n- {unique: {characters.name: x}, proposed: keep, answer: yes}\n" +
			"- {unique: {characters.name: x, 'guild(name, leader)': y}, answer: match}\n", `line 6: "characters.name" is in two questions`},
		{"a question of nothing", "questions:\n- {name: g, text: '?'}\n", "neither columns nor a unique key"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := complete(t, test.text)
			if err == nil || !strings.HasPrefix(err.Error(), "plan: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	for text, want := range map[string]string{
		"version: 1\n":               "version 1: want 2",
		head:                         "for which tables it was made",
		"version: 2\ndialect: MySQL": `its sources are [], not ["eu" "us"]`,
		strings.Replace(head, "MySQL", "SQLite", 1) + schemaLine(t): "it is for SQLite, not MySQL",
	} {
		d, err := plan.ReadDecisions(strings.NewReader(text))
		if err == nil {
			_, err = d.Complete(gameSchema())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// A plan that meets other tables than it was made for is refused.
func TestCompleteOfAnotherSchema(t *testing.T) {
	d, err := plan.ReadDecisions(strings.NewReader(head + schemaLine(t)))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		change func(p *plan.Plan)
		want   string
	}{
		"new table":      {func(p *plan.Plan) { p.Tables = append(p.Tables, &plan.Table{Name: "pets"}) }, `table "pets": is new`},
		"gone table":     {func(p *plan.Plan) { p.Tables = p.Tables[1:] }, `table "character_aura": is gone`},
		"new column":     {func(p *plan.Plan) { p.Tables[0].Columns = append(p.Tables[0].Columns, &plan.Column{Name: "x"}) }, `table "character_aura": has changed`},
		"another type":   {func(p *plan.Plan) { p.Tables[0].Columns[0].Type = "bigint" }, "has changed"},
		"another width":  {func(p *plan.Plan) { p.Tables[0].Columns[0].Type = "int unsigned" }, ""},
		"another key":    {func(p *plan.Plan) { p.Tables[0].PrimaryKey = nil }, "has changed"},
		"another index":  {func(p *plan.Plan) { p.Tables[0].Indexes = []*plan.Index{{Name: "i"}} }, ""},
		"another source": {func(p *plan.Plan) { p.Tables[0].Sources = []string{"eu"} }, "has changed"},
	}
	for name, test := range tests {
		schema := gameSchema()
		test.change(schema)
		_, err := d.Complete(schema)
		var fault *plan.Error
		if (test.want == "") != (err == nil) || err != nil && (!errors.As(err, &fault) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// disturb changes a plan at random, as Inspect and people may.
func disturb(p *plan.Plan, r *rand.Rand) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if r.IntN(2) == 0 {
				continue
			}
			*c = plan.Column{Name: c.Name, Type: c.Type, Decided: r.IntN(2) == 0}
			switch c.Role = plan.Role(pick("plain", "key", "reference", "json", "list", "polymorphic", "packed", "undecided")); c.Role {
			case plan.RoleReference, plan.RoleList:
				c.Refers = []*plan.Reference{{Table: pick("guild", "characters", "mail")}}
			case plan.RoleJSON:
				c.Refers = []*plan.Reference{{Table: "guild", Path: pick("$.a", "$.b")}, {Table: "mail", Path: pick("$.a", "$.c")}}
			case plan.RolePacked:
				c.Format, c.Separator = pick("php", "regexp (?P<a>x)", "bits 32"), pick("", ";")
				c.Refers = []*plan.Reference{{Path: pick("a", "0"), Table: pick("", "guild")}, {Path: "b", Table: "mail"}}
			case plan.RolePolymorphic:
				c.By, c.Refers = t.Columns[0].Name, []*plan.Reference{{Value: pick("", "1", "x"), Table: pick("", "guild")}, {Value: pick("1", "2"), Table: "mail"}}
			}
			if r.IntN(3) == 0 {
				c.None, c.Orphans = []string{pick("0", "-1", "", "null")}, plan.Orphans(pick("", "null", "drop"))
			}
			if r.IntN(3) == 0 {
				c.Suspects = []string{pick("why?", "who?")}
			}
			if r.IntN(5) == 0 {
				c.Type, c.Separator, c.By = "bigint", pick("", ";"), pick("", "x")
			}
		}
		for _, u := range t.Unique {
			u.Rule, u.Decided = plan.Rule(pick("fail", "keep", "match", "suffix")), r.IntN(2) == 0
			if r.IntN(2) == 0 {
				u.Suspects, u.Suffix, u.Prefer = []string{"clashes"}, pick("", "_x"), []string{"us"}
			}
			if r.IntN(2) == 0 {
				u.Suspects, u.Suffix, u.Prefer = [][]string{{"clashes"}, {"a dictionary", "~"}, nil}[r.IntN(3)], "", nil
			}
		}
		t.NewIDs = [][]string{nil, {"eu"}, {"us"}, {"eu", "us"}}[r.IntN(4)]
		t.Created, t.Zone, t.Skip = pick("", t.Columns[0].Name), pick("", "", "UTC"), r.IntN(8) == 0
		if r.IntN(6) == 0 {
			t.Unique, t.PrimaryKey = nil, []string{t.Columns[0].Name}
		}
		if last := len(t.Columns) - 1; last > 0 && r.IntN(8) == 0 {
			t.Without, t.Columns = []string{t.Columns[last].Name}, t.Columns[:last]
		}
	}
	columns := []string{"mail.item1", "mail.item2", "guild.name", "mail.sender", "mail.receiver", "character_aura.guid", "character_spell.guid", "character_stats.guid"}
	for n := range r.IntN(3) {
		q := &plan.Question{Name: fmt.Sprint(n), Text: "whose?", Evidence: []string{"values"}, Answer: pick("", "", "each", "plain", "key", "guild")}
		for range 1 + r.IntN(3) {
			at := r.IntN(len(columns))
			c := columns[at]
			if columns = slices.Delete(columns, at, at+1); p.Table(strings.Split(c, ".")[0]).Column(strings.Split(c, ".")[1]) != nil {
				q.Columns = append(q.Columns, c)
			}
		}
		if len(q.Columns) > 0 {
			p.Questions = append(p.Questions, q)
		}
		if r.IntN(2) == 0 {
			q.Candidates = []*plan.Candidate{{Answer: pick("guild", "plain", "each", "nobody"), Certainty: 0.5}, {Answer: "key", Certainty: 0.4}}
		}
	}
	p.Accepted = [][]string{nil, {"guid: characters"}}[r.IntN(2)]
}

// withoutSkipped leaves out what skipped tables have beyond their names, which nobody looks at.
func withoutSkipped(p *plan.Plan) *plan.Plan {
	copied := *p
	copied.Tables = nil
	for _, t := range p.Tables {
		if t.Skip {
			t = &plan.Table{Name: t.Name, Skip: true}
		}
		copied.Tables = append(copied.Tables, t)
	}
	return &copied
}

func TestShortenAndComplete(t *testing.T) {
	for seed := range uint64(300) {
		p := gameSchema()
		disturb(p, rand.New(rand.NewPCG(seed, 1)))
		d, err := plan.Shorten(p, gameSchema())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var b bytes.Buffer
		if err := d.WriteYAML(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		read, err := plan.ReadDecisions(&b)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		made, err := read.Complete(gameSchema())
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if got, want := asJSON(t, withoutSkipped(made)), asJSON(t, withoutSkipped(p)); got != want {
			t.Fatalf("seed %d: got\n%s\nwant\n%s\nfrom\n%s", seed, got, want, text)
		}
	}
}

func asJSON(t testing.TB, p *plan.Plan) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func ExampleDecisions_Complete() {
	schema := &plan.Plan{Version: 1, Dialect: "SQLite", Sources: []string{"eu", "us"}, Tables: []*plan.Table{
		{Name: "mails", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "INTEGER", Role: plan.RoleKey}, {Name: "receiver", Type: "INTEGER", Role: plan.RolePlain}}},
		{Name: "players", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "INTEGER", Role: plan.RoleKey}}},
	}}
	d, err := plan.ReadDecisions(strings.NewReader(`
version: 2
dialect: SQLite
sources: [eu, us]
new_ids: [eu, us]
references:
- {to: players, columns: [mails.receiver]}
schema: [mails=dcff8bd8, players=2c5b7788]
`))
	if err != nil {
		panic(err)
	}
	p, err := d.Complete(schema)
	if err != nil {
		panic(err)
	}
	receiver := p.Table("mails").Column("receiver")
	_, _ = fmt.Fprintln(os.Stdout, receiver.Role, receiver.Refers[0].Table, p.Table("mails").NewIDs, reflect.DeepEqual(p.Check(), nil))
	// Output: reference players [eu us] true
}
