package inspect

import (
	"fmt"
	"slices"
	"testing"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/plan"
)

// Columns of the same evidence share a line, and what differs has a line of its own as long as there are not too many.
func TestEvidenceOf(t *testing.T) {
	players := &key{field: &field{table: &plan.Table{Name: "players"}, column: &plan.Column{Name: "guid"}}}
	guilds := &key{field: &field{table: &plan.Table{Name: "guilds"}, column: &plan.Column{Name: "id"}}}
	of := func(table, column, typ string, k *key, why string, hits, values int, certainty float64) *field {
		f := &field{table: &plan.Table{Name: table}, column: &plan.Column{Name: column, Type: typ}, verdict: verdict{key: k, certainty: certainty}}
		f.claims = []*claim{{key: k, why: why, fit: fit{found: inclusion{hits, values}, known: true}}}
		return f
	}
	unknown := &field{table: &plan.Table{Name: "logs"}, column: &plan.Column{Name: "what", Type: "int"}, verdict: verdict{certainty: 0.5}}
	orphans := of("bans", "guid", "int", players, "as its key", 30, 30, 0.6)
	orphans.claims[0].all = inclusion{60, 90}
	late := of("mail", "owner", "int", players, refname.LikeSomebody, 0, 0, 0.7)
	late.none = []string{"-1", "0"}

	tests := []struct {
		name   string
		fields []*field
		want   []string
	}{
		{"one", []*field{of("mail", "owner", "int", players, "named so", 7, 7, 0.9)}, []string{
			"mail.owner (int): players: named so, all 7 sampled values are ids of it (0.90)",
		}},
		{"alike", []*field{of("a", "guid", "int", players, "as its key", 7, 7, 0.9), of("b", "guid", "int", players, "as its key", 3, 3, 0.95), orphans, unknown, late}, []string{
			"guid of a, b (int): players: as its key, all 10 sampled values are ids of it (0.90 to 0.95)",
			"bans.guid (int): players: as its key, all 30 sampled values are ids of it; in all rows, 60 of 90 different values (0.60)",
			"mail.owner (int): players: named like somebody, no values; besides -1 (0.70)",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := evidenceOf(test.fields); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}

	// What tells columns apart is left out step by step, but for values that are no ids.
	var many []*field
	for n := range 40 {
		k := []*key{players, guilds}[n%2]
		many = append(many, of(fmt.Sprint("t", n), fmt.Sprint("c", n), fmt.Sprintf("int(%d)", n), k, fmt.Sprint("reason ", n), 5, 5, 0.9))
	}
	many = append(many, orphans)
	want := []string{
		"t0.c0, t2.c2 and 18 more: players: all 100 sampled values are ids of it (0.90)",
		"t1.c1, t3.c3 and 18 more: guilds: all 100 sampled values are ids of it (0.90)",
		"bans.guid: players: all 30 sampled values are ids of it; in all rows, 60 of 90 different values (0.60)",
	}
	if got := evidenceOf(many); !slices.Equal(got, want) {
		t.Errorf("many: got %q, want %q", got, want)
	}
}
