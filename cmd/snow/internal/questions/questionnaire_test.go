package questions

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// planText has questions of all kinds, and comments of a person.
const planText = `# what we know of the servers
version: 2
dialect: SQLite
sources: [eu, us]
questions:
- name: owner_id # asked in the forum
  columns: ['*.owner_id']
  candidates: [{answer: plain, certainty: 0.08}, {answer: players, certainty: 0.84}]
  evidence: ['owner_id of houses, items: named like somebody', 'a view joins them']
  answer:
- columns: [players.made]
  suspects: ['does it say when a row was made? The plan takes it as created']
  answer:
- columns: [items.kind]
  suspects: ['all of 31 sampled values could be ids of guilds']
  proposed: plain
  answer:
- columns: [houses.kind]
  suspects: ['all of 99 sampled values could be ids of players']
  proposed: plain
  answer:
- unique:
    guilds.name: 'clashes: 3 of 40 sampled values are in two sources'
    players.name: 'clashes: 12 of 900 sampled values are in two sources'
  proposed: suffix
  answer:
new_ids: [eu, us]
created: [players.made]
schema: [guilds=0, houses=0, items=0, players=0]
`

// schema is what planText is about.
func schema() *plan.Plan {
	table := func(name string, columns ...*plan.Column) *plan.Table {
		id := &plan.Column{Name: "id", Type: "INTEGER", Role: plan.RoleKey}
		return &plan.Table{Name: name, PrimaryKey: []string{"id"}, Columns: append([]*plan.Column{id}, columns...)}
	}
	number := func(name string) *plan.Column { return &plan.Column{Name: name, Type: "INTEGER", Role: plan.RolePlain} }
	text := func(name string) *plan.Column { return &plan.Column{Name: name, Type: "TEXT", Role: plan.RolePlain} }
	named := func(t *plan.Table) *plan.Table {
		t.Unique = []*plan.Unique{{Columns: []string{"name"}, Rule: plan.RuleFail}}
		return t
	}
	return &plan.Plan{Version: 1, Dialect: "SQLite", Sources: []string{"eu", "us"}, Tables: []*plan.Table{
		named(table("guilds", text("name"))),
		table("houses", number("owner_id"), number("kind")),
		table("items", number("owner_id"), number("kind")),
		named(table("players", text("name"), number("made"))),
	}}
}

// writePlan writes planText with what belongs to the schema.
func writePlan(t *testing.T) string {
	t.Helper()
	return writeText(t, schema(), planText)
}

func writeText(t *testing.T, is *plan.Plan, text string) string {
	t.Helper()
	d, err := plan.Shorten(is, is)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ = strings.Cut(text, "schema:")
	text += "schema: ["
	for _, n := range d.Schema {
		text += n.Text + ", "
	}
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte(strings.TrimSuffix(text, ", ")+"]\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	return file
}

// openedAt writes planText for some schema, and opens it.
func openedAt(t *testing.T, is *plan.Plan) (*Questionnaire, string) {
	t.Helper()
	file := writeText(t, is, planText)
	s, err := Open(file, is)
	if err != nil {
		t.Fatal(err)
	}
	return s, file
}

func opened(t *testing.T, schema *plan.Plan) (*Questionnaire, string) {
	t.Helper()
	file := writePlan(t)
	s, err := Open(file, schema)
	if err != nil {
		t.Fatal(err)
	}
	return s, file
}

func contents(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// described is the questions in short.
func described(s *Questionnaire) (all []string) {
	for _, q := range s.All {
		var parts, choices []string
		for _, p := range q.Parts {
			parts = append(parts, p.Name)
		}
		for _, c := range q.Choices() {
			choices = append(choices, c.Answer)
		}
		all = append(all, strings.Join(parts, " ")+": "+strings.Join(choices, " ")+"; "+q.Answer())
	}
	return all
}

func TestQuestionsOfAPlan(t *testing.T) {
	s, _ := opened(t, schema())
	want := []string{
		"houses.owner_id items.owner_id: players plain; ",
		"players.made: yes {created: ''}; ",
		"houses.kind items.kind: yes; ", // two entries that are alike
		"guilds(name) players(name): suffix keep match fail; ",
	}
	if got := described(s); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if s.Open() != 4 {
		t.Errorf("%d are open", s.Open())
	}
	for _, q := range s.All {
		if s.Find(q.ID) != q || q.Choices()[0].Mark == "" || q.Choices()[0].Follows == "" {
			t.Errorf("%s: %+v", q.Name, q.Choices()[0])
		}
	}
	if got := s.All[0].Choices()[0]; got.Certainty != 0.84 || !strings.Contains(got.Follows, "eu, us") {
		t.Errorf("%+v", got)
	}
}

// Without the sources, the questions are as the file has them.
// A table that is the same on both may be copied twice, if new ids tell its rows apart.
func TestBothIsAChoice(t *testing.T) {
	file := writePlan(t)
	for keys, want := range map[string]string{"guilds.id: a dictionary?": "guilds(id): match keep fail both; ", "guilds.name: a dictionary?": "guilds(name): match suffix keep fail; "} {
		text, _, _ := strings.Cut(planText, "- unique:")
		text += "- unique: {'" + strings.Replace(keys, ": ", "': '", 1) + "'}\n  proposed: match\n  answer:\nkeep_ids: [guilds]\nnew_ids" + strings.SplitN(contents(t, writePlan(t)), "new_ids", 2)[1]
		if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		s, err := Open(file, schema())
		if err != nil {
			t.Fatal(err)
		}
		if got := described(s); got[len(got)-1] != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestQuestionsWithoutSources(t *testing.T) {
	s, file := opened(t, nil)
	if got := described(s); len(got) != 4 || got[0] != "*.owner_id: players plain; " {
		t.Errorf("%q", got)
	}
	if _, err := s.Answer(s.All[0], "players"); err != nil || !strings.Contains(contents(t, file), "answer: players") {
		t.Errorf("%v: %s", err, contents(t, file))
	}
	if _, err := s.Answer(s.All[3].Apart()[1], "keep"); err != nil { // keys have no patterns
		t.Error(err)
	}
}

// An answer changes its line, and nothing else.
func TestAnswerKeepsTheFile(t *testing.T) {
	s, file := opened(t, schema())
	before := contents(t, file)
	if wrong, err := s.Answer(s.All[0], "players"); err != nil || wrong != nil {
		t.Fatal(wrong, err)
	}
	after := contents(t, file)
	for _, want := range []string{"# what we know of the servers", "# asked in the forum", "columns: ['*.owner_id']", "answer: players"} {
		if !strings.Contains(after, want) {
			t.Errorf("no %q in %s", want, after)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if s.Open() != 3 || s.All[0].Answer() != "players" {
		t.Errorf("%d open, %q", s.Open(), s.All[0].Answer())
	}
	if _, err := s.Answer(s.All[0], ""); err != nil {
		t.Fatal(err)
	}
	if again := contents(t, file); lines(again) != lines(before) {
		t.Errorf("taken back, the file is %s", again)
	}
	if _, err := s.Answer(s.All[0], ""); err == nil {
		t.Error("an answer that is not there was taken back")
	}
}

// lines is a text without differences in the space between its words.
func lines(text string) string { return strings.Join(strings.Fields(text), " ") }

// One column or key of a question may have another answer than the others: the entry is divided. Several entries that
// are one question are answered together.
func TestAnswersOfParts(t *testing.T) {
	s, file := opened(t, schema())
	ids := func() (ids []string) {
		for _, q := range s.All {
			ids = append(ids, q.ID)
		}
		return ids
	}
	before := ids()
	for _, one := range []struct {
		question, part int
		answer         string
	}{{0, 1, "plain"}, {0, 0, "players"}, {2, -1, "yes"}, {3, 0, "keep"}, {3, 1, "suffix"}, {3, 0, "match"}} {
		q := s.All[one.question]
		if one.part >= 0 {
			q = q.Apart()[one.part]
		}
		if s.Find(q.ID) == nil {
			t.Fatalf("%s is not found", q.ID)
		}
		if _, err := s.Answer(q, one.answer); err != nil {
			t.Fatalf("%+v: %v", one, err)
		}
		if !slices.Equal(ids(), before) {
			t.Errorf("after %+v the questions have other ids", one)
		}
	}
	if s.All[0].Answer() != "different ones" || s.All[2].Answer() != "yes" || s.Open() != 1 {
		t.Errorf("%q", described(s))
	}
	p := s.plan
	if c := p.Table("items").Column("owner_id"); c.Role != plan.RolePlain || !c.Decided {
		t.Errorf("items.owner_id: %+v", c)
	}
	if c := p.Table("houses").Column("owner_id"); c.Role != plan.RoleReference || !c.Decided {
		t.Errorf("houses.owner_id: %+v", c)
	}
	if g, u := p.Table("guilds").Unique[0], p.Table("players").Unique[0]; g.Rule != plan.RuleMatch || u.Rule != plan.RuleSuffix || !g.Decided || !u.Decided {
		t.Errorf("%+v, %+v", g, u)
	}
	if _, err := s.Answer(s.All[1], "yes"); err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); s.Open() != 0 {
		t.Error(err, contents(t, file))
	}
	if err := s.plan.Check(); err != nil {
		t.Error(err)
	}
}

// An answer that can't be is not written, and one that makes the plan wrong is told.
func TestWrongAnswers(t *testing.T) {
	s, file := opened(t, schema())
	before := contents(t, file)
	for _, answer := range []string{"boats", "{to: boats}", "{to: players, list: players}", "{", "each: 1}"} {
		if _, err := s.Answer(s.All[0], answer); err == nil {
			t.Errorf("%q is an answer", answer)
		}
	}
	if contents(t, file) != before || s.Open() != 4 {
		t.Error("a wrong answer was written")
	}
	q := s.All[0].Apart()[0]
	if wrong := s.Wrong(q, "key"); len(wrong) == 0 {
		t.Error("a table may have two keys")
	}
	if wrong := s.Wrong(q, "plain"); len(wrong) != 0 || contents(t, file) != before {
		t.Errorf("%q", wrong)
	}
	if wrong, err := s.Answer(q, "key"); err != nil || len(wrong) == 0 {
		t.Errorf("%q, %v", wrong, err)
	}
	if wrong, err := s.Answer(s.All[0].Apart()[0], "{to: players, orphans: 'null'}"); err != nil || len(wrong) != 0 && !strings.Contains(wrong[0], "null") {
		t.Errorf("%q, %v", wrong, err)
	}
}

// An answer to questions that are not those of the file any more is not written.
func TestFileOfSomebodyElse(t *testing.T) {
	s, file := opened(t, schema())
	changed := strings.Replace(contents(t, file), "proposed: suffix\n  answer:", "proposed: suffix\n  answer: keep", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Answer(s.All[0], "players"); !errors.Is(err, ErrChanged) {
		t.Fatal(err)
	}
	if contents(t, file) != changed || s.All[3].Answer() != "keep" {
		t.Errorf("%q; %s", described(s), contents(t, file))
	}
	if _, err := s.Answer(s.All[0], "players"); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte("version: 2\nbroken"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.Answer(s.All[0], "plain"); err == nil || errors.Is(err, ErrChanged) {
			t.Error(err)
		}
	}
	if got := contents(t, file); got != "version: 2\nbroken" {
		t.Error(got)
	}
	matches, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".plan-*"))
	if err != nil || len(matches) > 0 {
		t.Errorf("%q is left behind, %v", matches, err)
	}
}

// A write that meets another one at the last moment leaves it as it is.
func TestFileChangesBeforeTheRename(t *testing.T) {
	_, file := opened(t, nil)
	f, err := openFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.replace([]byte("mine")); !errors.Is(err, ErrChanged) || contents(t, file) != "other" {
		t.Errorf("%v: %s", err, contents(t, file))
	}
}

func TestFilesThatAreNoShortPlan(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"version: 1\n":                    "complete plan",
		"version: 3\n":                    "version 3",
		"version: 2\nquestions: [null]\n": "neither columns nor a unique key",
	} {
		file := filepath.Join(dir, "plan.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(file, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Each doubt has an answer that decides it otherwise than the plan proposes, and the answer is a decision when the plan is
// settled.
func TestAnswersThatChangeFields(t *testing.T) {
	text := func(name string) *plan.Column { return &plan.Column{Name: name, Type: "TEXT", Role: plan.RolePlain} }
	key := func() *plan.Column { return &plan.Column{Name: "id", Type: "INTEGER", Role: plan.RoleKey} }
	is := &plan.Plan{Version: 1, Dialect: "SQLite", Sources: []string{"eu", "us"}, Tables: []*plan.Table{
		{Name: "drops", Columns: []*plan.Column{text("what")}},
		{Name: "players", PrimaryKey: []string{"id"}, Columns: []*plan.Column{key()}},
		{Name: "world", PrimaryKey: []string{"id"}, Columns: []*plan.Column{key(), text("made"), text("other"), text("motd")}},
	}}
	tests := []struct {
		name, columns, doubt, tables string
		want                         []string // choices
		answer                       string
		settled                      []string // in the file afterwards
		without                      string
	}{
		{
			"a single row", "world.id", "a single row, of id 1 in eu, us: does a program ask for it by this number?", "",
			[]string{"yes", "{new_ids: [], rule: keep}", "{new_ids: [], rule: match}"},
			"{new_ids: [], rule: keep}",
			[]string{"keep_ids: [world]", "{rule: keep, keys: [world(id)]}"},
			"answer",
		},
		{
			"a table that is the same", "world.id", "9 of 9 sampled rows are the same in two sources, under the same ids. Is the table the same on both? All", "",
			[]string{"yes", "{new_ids: [], rule: keep}", "{new_ids: [], rule: match}"},
			"{new_ids: [], rule: match}",
			[]string{"keep_ids: [world]", "{rule: match, keys: [world(id)]}"},
			"answer",
		},
		{
			"two kinds", "world.id", `ids of source "us" are of two kinds, from 1 to 99999999999999999: if`, "",
			[]string{"yes", "{new_ids: []}"},
			"{new_ids: [us]}",
			[]string{"world: {new_ids: [us]}"},
			"answer",
		},
		{
			"when", "world.made", "when was a row made: does this column say so, or other? The plan takes this one as created", "created: [world.made]\n",
			[]string{"yes", "{created: other}", "{created: ''}"},
			"{created: other}",
			[]string{"created: [world.other]"},
			"created: [world.made]",
		},
		{
			"never", "world.made", "does it say when a row was made? The plan takes it as created. If", "created: [world.made]\n",
			[]string{"yes", "{created: ''}"},
			"{created: ''}", nil, "created:",
		},
		{"a type", "world.motd", `type differs: "TEXT" here, "BLOB" in source "us"`, "", []string{"yes", "{type: BLOB}"}, "{type: BLOB}", []string{"motd: {type: BLOB"}, "answer"},
		{
			"in one source", "world.motd", "only in us: give it a default, or make it nullable", "",
			[]string{"yes", "{nullable: true}", "{without: [motd]}"},
			"{without: [motd]}",
			[]string{"world: {without: [motd]}"},
			"answer",
		},
		{
			"no key, once", "drops.what", `the table has no key, and all 9 rows are the same in source "eu": is the table the same on both? They are kept once: without_rows`,
			"tables: {drops: {without_rows: [{where: 1 = 1, sources: [us]}]}}\n",
			[]string{"yes", "{without_rows: []}"},
			"{without_rows: []}", nil, "without_rows:",
		},
		{
			"no key, twice", "drops.what", `the table has no key, and 8 of 9 sampled rows are the same in source "eu": is the table the same on both? All rows are copied, so such rows are there twice; to keep those of "eu" only, give the table without_rows with 1 = 1 for the other sources`,
			"",
			[]string{"yes", "{without_rows: [{sources: [us], where: 1 = 1}]}"},
			"{without_rows: [{sources: [us], where: 1 = 1}]}",
			[]string{"where: 1 = 1"},
			"answer",
		},
		{
			"an heir", "world.motd", `table "other" inherits from this one, so that its rows would be merged twice: skip one of the two`, "",
			[]string{"yes", "{skip: true}"},
			"{skip: true}",
			[]string{"skip: [world]"},
			"answer",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			quoted := "'" + strings.ReplaceAll(test.doubt, "'", "''") + "'"
			file := writeText(t, is, "version: 2\ndialect: SQLite\nsources: [eu, us]\nnew_ids: [eu, us]\nquestions:\n- columns: ["+test.columns+"]\n  suspects: ["+quoted+"]\n  answer:\n"+test.tables+"schema:")
			s, err := Open(file, is)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range s.All[0].Choices() {
				got = append(got, c.Answer)
				if c.Follows == "" || strings.Contains(c.Follows, "Ids of .") {
					t.Errorf("nothing follows from %s", c.Answer)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if wrong, err := s.Answer(s.All[0], test.answer); err != nil || len(wrong) > 0 || s.Open() != 0 {
				t.Fatalf("%v, %q", err, wrong)
			}
			if got := s.All[0].Answer(); got != test.answer {
				t.Errorf("answered %s, and the file says %s", test.answer, got)
			}
			s.plan.Settle()
			d, err := plan.Shorten(s.plan, is)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := d.WriteYAML(&b); err != nil {
				t.Fatal(err)
			}
			_, text, _ := strings.Cut(b.String(), "version:")
			for _, want := range test.settled {
				if !strings.Contains(text, want) {
					t.Errorf("got %s, want %s in it", text, want)
				}
			}
			if strings.Contains(text, test.without) {
				t.Errorf("%s is still in %s", test.without, text)
			}
		})
	}
}
