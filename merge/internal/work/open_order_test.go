package work

import (
	"slices"
	"testing"

	"github.com/shardsnow/snow/merge/report"
)

// What is most likely ids comes first, and a column has one line.
func TestInOrder(t *testing.T) {
	open := []report.Open{
		{Kind: report.OpenAccepted, Reason: "accepted"},
		{Kind: report.OpenUndecided, Source: "a", Table: "t", Column: "owner", Certainty: likely(true, 0), Reason: "name"},
		{Kind: report.OpenUndecided, Source: "b", Table: "t", Column: "level", Certainty: likely(false, 5), Reason: "five tables"},
		{Kind: report.OpenUndecided, Source: "b", Table: "t", Column: "owner", Certainty: likely(true, 1), Reason: "all"},
		{Kind: report.OpenUndecided, Source: "b", Table: "t", Column: "who", Certainty: likely(false, 1), Reason: "one table"},
		{Kind: report.OpenUnchecked, Source: "a", Table: "t", Reason: "a trial"},
		{Kind: report.OpenUnchecked, Source: "b", Table: "t", Reason: "a trial"},
	}
	var got []string
	for _, o := range InOrder(open) {
		got = append(got, o.Source+" "+o.Column+": "+o.Reason)
	}
	if want := []string{"b owner: all", "b who: one table", "b level: five tables", " : accepted", "a : a trial", "b : a trial"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
