package plan_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// asking returns a plan with two columns and a question about both.
func asking() *plan.Plan {
	table := func(name string) *plan.Table {
		return &plan.Table{Name: name, PrimaryKey: []string{"id"}, Columns: []*plan.Column{
			{Name: "id", Type: "bigint", Role: plan.RoleKey}, {Name: "owner", Type: "bigint", Role: plan.RolePlain},
		}}
	}
	return &plan.Plan{
		Version: 1, Dialect: "MySQL", Sources: []string{"a"}, Tables: []*plan.Table{table("pets"), table("ships")},
		Questions: []*plan.Question{{
			Name: "owner", Text: "ids of pets?", Columns: []string{"pets.owner", "ships.owner"},
			Candidates: []*plan.Candidate{{Answer: plan.AnswerPlain, Certainty: 0.2}, {Answer: "pets", Certainty: 0.7}},
		}},
	}
}

func TestQuestions(t *testing.T) {
	tests := []struct {
		name string
		edit func(p *plan.Plan)
		want string // in the error
	}{
		{"no answer", func(*plan.Plan) {}, `question "owner" is not decided: ids of pets?`},
		{"plain", func(p *plan.Plan) { p.Questions[0].Answer = plan.AnswerPlain }, ""},
		{"key, and the roles are plain", func(p *plan.Plan) { p.Questions[0].Answer = plan.AnswerKey }, `column "pets.owner": question "owner" has the answer key, and the role is plain`},
		{"each", func(p *plan.Plan) { p.Questions[0].Answer = plan.AnswerEach }, ""},
		{"a table, and the roles are plain", func(p *plan.Plan) { p.Questions[0].Answer = "ships" }, `column "ships.owner": question "owner" has the answer ships`},
		{"a table, decided", func(p *plan.Plan) { _ = p.Decide(p.Questions[0], "ships") }, ""},
		{"no table", func(p *plan.Plan) { p.Questions[0].Answer = "boats" }, `the answer "boats" is no table`},
		{"twice", func(p *plan.Plan) {
			p.Questions[0].Answer = plan.AnswerEach
			p.Questions = append(p.Questions, p.Questions[0])
		}, "is there twice"},
		{"one of its columns decided", func(p *plan.Plan) { p.Table("pets").Column("owner").Decided = true }, "not decided"},
		{"each of its columns decided", func(p *plan.Plan) {
			p.Table("pets").Column("owner").Decided, p.Table("ships").Column("owner").Decided = true, true
		}, ""},
		{"the others left out", func(p *plan.Plan) { p.Table("pets").Column("owner").Decided, p.Table("ships").Skip = true, true }, ""},
		{"an empty one", func(p *plan.Plan) { p.Questions = append(p.Questions, nil) }, "an entry of questions is empty"},
		{"an empty candidate", func(p *plan.Plan) { p.Questions[0].Candidates[0] = nil }, "an entry of candidates is empty"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := asking()
			test.edit(p)
			err := p.Check()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestBest(t *testing.T) {
	p := asking()
	q := p.Question("ships.owner")
	if q == nil || q.Best() == nil || q.Best().Answer != "pets" {
		t.Errorf("got %+v, want pets as the best candidate", q)
	}
	if p.Question("ships.id") != nil || (&plan.Question{}).Best() != nil {
		t.Error("there is a question or a candidate from nowhere")
	}
	var b bytes.Buffer
	if err := p.WriteYAML(&b); err != nil {
		t.Fatal(err)
	}
	again, err := plan.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Question("pets.owner"); got == nil || got.Best().Certainty != 0.7 || got.Text != q.Text {
		t.Errorf("read back %+v", got)
	}
}
