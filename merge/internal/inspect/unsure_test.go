package inspect

import (
	"testing"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/plan"
)

// Nothing is proposed where names and values do not decide.
func TestUnsure(t *testing.T) {
	of := func(name string) *key {
		return &key{field: &field{table: &plan.Table{Name: name}, column: &plan.Column{Name: "id"}}}
	}
	items, kinds, people := of("items"), of("item_kinds"), of("people")
	fits := func(k *key, name, score, reach float64) *claim { // a claim of a score, all of whose values are ids
		return &claim{key: k, name: name, value: score - name, fit: fit{found: inclusion{50, 50}, rows: inclusion{90, 90}, known: true, reach: reach, start: 1}}
	}
	some := func(c *claim) *claim {
		c.fit.found.hits = 40
		return c
	}
	high := func(c *claim) *claim {
		c.fit.start = 5000
		return c
	}
	liked := func(c *claim) *claim {
		c.fam = likeOthers
		return c
	}
	for _, test := range []struct {
		name   string
		id     bool // the name says that there are ids
		claims []*claim
		want   bool
	}{
		{"the name of the table", true, []*claim{fits(items, 5, 8, 0.2)}, false},
		{"the name of the table, and values that fill another one with a word of it", true, []*claim{fits(items, 5, 8, 0.2), fits(kinds, 2.5, 4, 1)}, true},
		{"values that fill one without a word of the name", true, []*claim{fits(items, 5, 8, 0.2), fits(people, 0, 4, 1)}, false},
		{"values that reach over the table", true, []*claim{fits(items, 5, 8, 0.9), fits(kinds, 2.5, 4, 1)}, false},
		{"part of the name, and small numbers", true, []*claim{fits(items, 4, 8, 0.2)}, true},
		{"part of the name, small numbers, and others of the name", true, []*claim{liked(fits(items, 4, 8, 0.2))}, false},
		{"part of the name, and numbers that are not small", true, []*claim{high(fits(items, 4, 8, 0.2))}, false},
		{"part of the name", true, []*claim{fits(items, 4, 8, 0.9)}, false},
		{"part of two names", true, []*claim{fits(items, 4, 8, 0.9), fits(kinds, 4, 7.5, 0.9)}, true},
		{"a name that is more another table's", true, []*claim{fits(items, 3.5, 8, 0.9), some(fits(kinds, 4, 1, 0.9))}, true},
		{"a name of nothing", true, []*claim{fits(items, 0, 6, 0.9)}, false},
		{"a name of nothing, and orphans", true, []*claim{some(fits(items, 0, 6, 0.9))}, true},
		{"no name of ids, and a small lead", false, []*claim{fits(items, 3, 4.6, 0.9)}, true},
		{"no name of ids", false, []*claim{fits(items, 3, 5.6, 0.9)}, false},
		{"no claim", true, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &field{table: &plan.Table{Name: "bags"}, column: &plan.Column{Name: "x"}, name: refname.Reading{ID: test.id}, plain: 3, n: 50, claims: test.claims}
			if len(test.claims) > 0 {
				f.verdict = verdict{key: test.claims[0].key, certainty: 0.9}
			}
			f.torn = f.tears()
			if got := f.isUnsure(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	f := &field{}
	if !f.strays(some(fits(items, 2, 6, 0.9))) || f.strays(fits(items, 2, 6, 0.9)) || f.strays(some(fits(items, 3, 6, 0.9))) || f.strays(high(some(fits(items, 2, 6, 0.9)))) {
		t.Error("want only small numbers that are not all ids, of no name, to stray")
	}
}

// A question that proposes nothing has candidates, and none is the first answer.
func TestNoFirstAnswer(t *testing.T) {
	players := &key{field: &field{table: &plan.Table{Name: "players"}, column: &plan.Column{Name: "id"}}}
	f := &field{table: &plan.Table{Name: "notes"}, column: &plan.Column{Name: "by_id", Type: "int"}, verdict: verdict{key: players, certainty: undecided}, plain: 1, unsure: true}
	f.table.Columns = []*plan.Column{f.column}
	f.claims = []*claim{{key: players, name: 4, value: 9, why: "named so", fit: fit{found: inclusion{9, 9}, known: true}}}
	p := &plan.Plan{Tables: []*plan.Table{players.table, f.table}}
	s := &solver{evidence: &evidence{plan: p}}
	q := s.question(&group{name: "unclear ids", fields: []*field{f}})
	if q.Best() != nil || len(q.Candidates) != 2 || q.Candidates[0].Answer != "players" || q.Candidates[1].Answer != plan.AnswerPlain {
		t.Errorf("best %+v of %+v, want none of players and plain", q.Best(), q.Candidates)
	}
	p.Questions = []*plan.Question{q}
	if taken, err := p.AcceptCertain(0); len(taken) > 0 || err != nil || q.Answer != "" {
		t.Errorf("took %v, %v", taken, err)
	}
}
