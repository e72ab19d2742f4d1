package plan_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

func TestNamed(t *testing.T) {
	p := &plan.Plan{Tables: []*plan.Table{
		{Name: "houses", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id"}, {Name: "owner_id"}}},
		{
			Name: "odd.one", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id"}, {Name: "owner_id"}},
			Unique: []*plan.Unique{{Columns: []string{"owner_id", "id"}}},
		},
	}}
	for _, tt := range []struct {
		text    string
		columns []string // by NamedColumns; nil is an error
		keys    []string // by NamedKeys
	}{
		{"*.owner_id", []string{"houses.owner_id", `odd\.one.owner_id`}, nil},
		{`odd\.one.id`, []string{`odd\.one.id`}, []string{`odd\.one(id)`}},
		{`odd\.one(owner_id, id)`, nil, []string{`odd\.one(owner_id, id)`}},
		{"houses.gone", nil, nil},
		{"*.id", []string{"houses.id", `odd\.one.id`}, []string{"houses(id)", `odd\.one(id)`}},
	} {
		columns, err := p.NamedColumns(plan.Name{Text: tt.text})
		check(t, tt.text, columns, err, tt.columns)
		keys, err := p.NamedKeys(plan.Name{Text: tt.text})
		check(t, tt.text, keys, err, tt.keys)
	}
	if len(p.Tables[0].Unique) != 0 {
		t.Error("a key was added to the plan itself")
	}
}

func check(t *testing.T, text string, got []plan.Named, err error, want []string) {
	t.Helper()
	var names []string
	for _, n := range got {
		if names = append(names, n.Name.Text); len(n.Columns) == 0 || n.Table == nil {
			t.Errorf("%s: %+v", text, n)
		}
	}
	var fault *plan.Error
	if !slices.Equal(names, want) || (err != nil) != (want == nil) || err != nil && !errors.As(err, &fault) {
		t.Errorf("%s: %q, %v; want %q", text, names, err, want)
	}
}
