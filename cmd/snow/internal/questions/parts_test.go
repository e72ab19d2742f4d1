package questions

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// eachText has questions about columns with a table each, orphans, and values that nobody knows.
const eachText = `version: 2
dialect: SQLite
sources: [eu, us]
questions:
- name: by name
  text: Are these columns ids of rows, each of the table beside it?
  columns: [houses.owner_id, items.owner_id]
  candidates: [{answer: each, certainty: 0.81}]
  evidence:
  - 'houses.owner_id: players: all 40 sampled values are ids of it (0.99)'
  - 'items.owner_id: guilds: 38 of 40 sampled values are ids of it (0.81)'
  answer:
- name: kind
  columns: [houses.kind]
  candidates: [{answer: guilds, certainty: 0.9}]
  evidence: ['houses.kind: guilds: 77 of 78 sampled values are ids of it (0.90)']
  none: [0]
  answer:
- columns: [items.kind]
  proposed: undecided
  suspects: ['a list of numbers, separated by ",": its sampled values could be ids of guilds, players; the answer for ids is {list: TABLE}']
  answer:
- name: numbers
  columns: [players.made]
  candidates: [{answer: plain, certainty: 0.6}]
  evidence: ['players.made: guilds: 3 of 9 sampled values are ids of it (0.58)']
  answer:
new_ids: [eu, us]
references:
- {to: players, proposed: true, columns: [houses.owner_id]}
- {to: guilds, proposed: true, columns: [items.owner_id]}
`

func TestParts(t *testing.T) {
	is := schema()
	is.Table("houses").Column("kind").Nullable = true
	file := writeText(t, is, eachText)
	s, err := Open(file, is)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"items.owner_id houses.owner_id: each plain; ", // the doubtful one first
		"houses.kind: guilds {to: guilds, orphans: 'null'} {to: guilds, orphans: drop} plain; ",
		"items.kind: plain {list: guilds} {list: players}; ",
		"players.made: plain; ",
	}
	if notes := s.All[3].Notes(); len(notes) > 0 {
		t.Errorf("orphans of numbers: %q", notes)
	}
	if got := described(s); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var choices []string
	for _, c := range s.All[0].Apart()[0].Choices() {
		choices = append(choices, c.Answer)
	}
	if want := []string{"each", "{to: guilds, orphans: drop}", plan.AnswerPlain}; !slices.Equal(choices, want) {
		t.Errorf("a part: got %q, want %q", choices, want)
	}
	_, shown, err := dialogue(t, s, "1 - 1\n2\n?\n2\n2\nq\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"[1]items.owner_id: ids of guilds (81 %): 38 of 40 sampled values", "[2]houses.owner_id: ids of players (99 %): all 40 sampled values",
		"! 2 sampled values lead to no row: the run will stop", "part 1 of 2: items.owner_id (1 of 2 parts answered)",
		"! 0 stands for no row in houses.kind.", "Rows whose values lead to no row are left out.", "Values that lead to no row become NULL",
		"Do these values hold ids, and of which table?",
	} {
		if !strings.Contains(strings.Join(strings.Fields(shown), " "), want) {
			t.Errorf("no %q in %s", want, shown)
		}
	}
	if n := strings.Count(shown, "1  guilds (90 %)"); n != 2 {
		t.Errorf("? leaves the answers out: they are there %d times", n)
	}
	for _, want := range []string{"answer: {to: guilds, orphans: drop}", "answer: {to: guilds, orphans: 'null'}", "answer: {list: guilds}"} {
		if got := contents(t, file); !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// A question that proposes nothing offers its candidates for all parts, and for one part the tables of its evidence.
func TestPartsOfNoProposal(t *testing.T) {
	is := schema()
	s, err := Open(writeText(t, is, `version: 2
dialect: SQLite
sources: [eu, us]
questions:
- name: unclear ids
  text: Whose ids are these, or are they numbers?
  columns: [houses.kind, items.kind]
  proposed: undecided
  candidates: [{answer: players, certainty: 0.33}, {answer: plain, certainty: 0.28}]
  evidence:
  - 'houses.kind: players: all 9 sampled values are ids of it (0.45)'
  - 'items.kind: guilds: all 7 sampled values are ids of it; they could be ids of houses, players and 2 more, too (0.45)'
  answer:
new_ids: [eu, us]
`), is)
	if err != nil {
		t.Fatal(err)
	}
	answers := func(q *Question) (all []string) {
		for _, c := range q.Choices() {
			if all = append(all, c.Answer); c.Mark != "" {
				t.Errorf("%s: %s is %s", q.Name, c.Answer, c.Mark)
			}
		}
		return all
	}
	q := s.All[0]
	if got, want := answers(q), []string{"players", plan.AnswerPlain}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want := [][]string{{"players", plan.AnswerPlain}, {"guilds", "houses", "players", plan.AnswerPlain}}
	for i, one := range q.Apart() {
		if got := answers(one); !slices.Equal(got, want[i]) {
			t.Errorf("%s: got %q, want %q", one.Name, got, want[i])
		}
	}
	if got, want := q.says(q.Parts[0]), "ids of players? all 9 sampled values are ids of it"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(q.Besides()) > 0 || len(q.Notes()) > 0 {
		t.Errorf("besides %q, notes %q", q.Besides(), q.Notes())
	}
}
