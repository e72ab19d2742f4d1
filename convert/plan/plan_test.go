package plan_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/shardsnow/snow/convert/plan"
)

// shop returns a plan of users, their orders, what orders have, and a log that refers to users without a foreign key.
func shop() *plan.Plan {
	return &plan.Plan{
		Version: 1, Dialect: "MySQL", Server: "MariaDB 10.11.19",
		Questions: []*plan.Question{{Column: "log.who", Type: "int(11)", Evidence: []string{"named like a user"}, Proposed: "users", Certainty: 0.95}},
		Tables: []*plan.Table{
			{
				Name: "users", PrimaryKey: []string{"id"}, Key: "id", Counter: "auto_increment", Method: plan.Online, Group: 1,
				Columns: []*plan.Column{{Name: "id", Type: "int(10) unsigned", To: "bigint unsigned"}},
			},
			{
				Name: "orders", PrimaryKey: []string{"id"}, Key: "id", Counter: "auto_increment", Method: plan.Online, Group: 1, Wide: []string{"id"},
				Columns:     []*plan.Column{{Name: "user_id", Type: "int(10) unsigned", To: "bigint unsigned", Refers: "users"}},
				ForeignKeys: []*plan.ForeignKey{{Name: "orders_user", Columns: []string{"user_id"}, Refers: "users", RefColumns: []string{"id"}, OnDelete: "CASCADE"}},
			},
			{
				Name: "log", PrimaryKey: []string{"at", "who"}, Method: plan.Online, Group: 2,
				Columns: []*plan.Column{{Name: "who", Type: "int(11)", To: "bigint", Refers: "users"}},
			},
		},
		Guards: []string{"other.table"}, Before: []string{"read ids as int64"},
		Steps: []*plan.Described{{Name: "widen users: copy", Title: "copy", Statements: []string{"INSERT INTO x SELECT 'a: #'"}, Back: "until names change"}},
	}
}

func text(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.WriteYAML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReadWritten(t *testing.T) {
	want := shop()
	got, err := plan.Read(strings.NewReader(text(t, want)))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %s\nwant %s", text(t, got), text(t, want))
	}
}

func TestReadRefuses(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a key that is mistyped", "version: 1\ntabels: []\n", "tabels"},
		{"a field that is mistyped", "version: 1\ntables: [{name: a, metod: online}]\n", "metod"},
		{"an empty table", "version: 1\ntables: [null]\n", "an entry of tables is empty"},
		{"an empty question", "questions: [~]\n", "an entry of questions is empty"},
		{"an empty step", "steps: [~]\n", "an entry of steps is empty"},
		{"an empty column", "tables: [{name: a, columns: [~]}]\n", `table "a": an entry of columns is empty`},
		{"an empty foreign key", "tables: [{name: a, foreign_keys: [~]}]\n", `table "a": an entry of foreign_keys is empty`},
		{"no YAML", "a: [", "plan: read: "},
		{"another type", "tables: 5\n", "plan: read: "},
	} {
		if p, err := plan.Read(strings.NewReader(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, %v, want an error with %q", test.name, p, err, test.want)
		}
	}
}

func TestAnswers(t *testing.T) {
	p := shop()
	var undecided *plan.Error
	if err := p.Check(); !errors.As(err, &undecided) || !undecided.Undecided || undecided.Column != "who" {
		t.Errorf("got %v, want log.who undecided", err)
	}
	p.Questions[0].Answer = plan.Leave
	p, err := plan.Read(strings.NewReader(text(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	if log := p.Table("log"); len(log.Columns) > 0 || log.Method != plan.None || log.Group != 0 {
		t.Errorf("left: got %+v, want no columns", log)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	p.Questions[0].Answer = plan.Widen
	if err := p.Check(); err == nil {
		t.Error("a column that was removed is not missed")
	}
	p.Resolve()
	p.Table("log").Group = 2
	if err := p.Check(); err != nil || p.Table("log").Column("who").Refers != "users" {
		t.Errorf("got %v, %+v", err, p.Table("log"))
	}
}

func TestAccept(t *testing.T) {
	for _, test := range []struct {
		certainty, least float64
		want             string
	}{{0.95, 0.9, plan.Widen}, {0.95, 0.96, ""}, {0.02, 0.9, plan.Leave}, {0.5, 0.9, ""}} {
		p := shop()
		p.Questions[0].Certainty = test.certainty
		open := p.Accept(test.least)
		if got := p.Questions[0].Answer; got != test.want || (len(open) > 0) != (test.want == "") {
			t.Errorf("certainty %v: got %q, open %v, want %q", test.certainty, got, open, test.want)
		}
	}
}

// A key that nobody counts takes its references along.
func TestKeyQuestion(t *testing.T) {
	make := func(answer string) *plan.Plan {
		p := shop()
		users := p.Table("users")
		users.Key, users.Counter = "", ""
		p.Questions = []*plan.Question{{Column: "users.id", Type: "int(10) unsigned", Proposed: "users", Answer: answer}}
		p.Resolve()
		return p
	}
	p := make(plan.Widen)
	if p.Table("users").Key != "id" || p.Check() != nil {
		t.Errorf("widen: got %+v, %v", p.Table("users"), p.Check())
	}
	p = make(plan.Leave)
	if p.Table("users").Key != "" || len(p.Table("users").Columns)+len(p.Table("orders").Columns) > 0 || p.Check() != nil {
		t.Errorf("leave: got %+v, %+v, %v", p.Table("users"), p.Table("orders"), p.Check())
	}
}

func TestWide(t *testing.T) {
	for typ, want := range map[string]string{
		"int(11)": "bigint", "INT UNSIGNED": "bigint unsigned", "int(5) unsigned zerofill": "bigint(5) unsigned zerofill", "smallint": "bigint", "integer": "bigint",
		"tinyint(1)": "bigint", "mediumint(8) unsigned": "bigint unsigned", "bigint": "", "bigint(20) unsigned": "", "varchar(20)": "", "": "", "interval": "", "integer[]": "",
	} {
		if got := plan.Wide(typ); got != want {
			t.Errorf("%q: got %q, want %q", typ, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := shop().WriteYAML(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("questions: [{column: a.b, answer: leave}]\ntables: [{name: a, columns: [{name: b}], foreign_keys: [{refers: a, columns: [b], ref_columns: [b]}]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := plan.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		valid := p.Check() == nil
		var b bytes.Buffer
		if err := p.WriteYAML(&b); err != nil {
			t.Fatal(err)
		}
		again, err := plan.Read(&b)
		if err != nil {
			t.Fatalf("what was written can't be read: %v", err)
		}
		if (again.Check() == nil) != valid {
			t.Errorf("read again: %v", again.Check())
		}
	})
}
