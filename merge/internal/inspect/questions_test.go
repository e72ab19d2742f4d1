package inspect

import (
	"slices"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// A question is as certain as the weakest of its columns, so that nobody accepts a weak one with the others. What is
// doubtful about a column is in its question, and nowhere else.
func TestQuestionIsAsCertainAsItsWeakestColumn(t *testing.T) {
	players := &key{field: &field{table: &plan.Table{Name: "players"}, column: &plan.Column{Name: "guid"}}}
	p := &plan.Plan{Tables: []*plan.Table{players.table}}
	of := func(table string, certainty float64, all inclusion) *field {
		f := &field{table: &plan.Table{Name: table}, column: &plan.Column{Name: "owner", Type: "int"}, verdict: verdict{key: players, certainty: certainty}}
		f.table.Columns = []*plan.Column{f.column}
		f.claims = []*claim{{key: players, why: "named so", fit: fit{found: inclusion{9, 9}, known: true}, all: all}}
		p.Tables = append(p.Tables, f.table)
		return f
	}
	for _, test := range []struct {
		name string
		weak *field
		want float64
	}{
		{"all certain", of("a", 0.96, inclusion{}), 0.96},
		{"one weak by its sample", of("b", 0.52, inclusion{}), 0.52},
		{"one with orphans among all rows", of("c", 0.97, inclusion{70, 100}), 0.6},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.weak.column.Suspects = []string{"a doubt"}
			s := &solver{evidence: &evidence{plan: &plan.Plan{Tables: p.Tables}}}
			q := s.question(&group{answer: "players", fields: []*field{of("x", 0.99, inclusion{}), test.weak}})
			if best := q.Best(); best.Answer != "players" || best.Certainty != test.want {
				t.Errorf("the best answer is %+v, want players to %v", best, test.want)
			}
			if q.Candidates[0] != q.Best() || !slices.Contains(q.Evidence, test.weak.String()+": a doubt") || len(test.weak.column.Suspects) > 0 {
				t.Errorf("candidates %+v, evidence %q, suspects %q", q.Candidates[0], q.Evidence, test.weak.column.Suspects)
			}
		})
	}
}
