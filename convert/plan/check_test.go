package plan_test

import (
	"errors"
	"testing"

	"github.com/shardsnow/snow/convert/plan"
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*plan.Plan)
		want   string // empty if the plan is right
	}{
		{"as it is", func(*plan.Plan) {}, ""},
		{"of another version", func(p *plan.Plan) { p.Version = 2 }, "plan: version 2: want 1"},
		{"of another dialect", func(p *plan.Plan) { p.Dialect = "SQLite" }, `plan: dialect "SQLite": want MySQL or PostgreSQL`},
		{"no tables", func(p *plan.Plan) { p.Tables = nil }, "plan: no tables"},
		{"an empty entry", func(p *plan.Plan) { p.Tables[0] = nil }, "plan: an entry of a list is empty"},
		{"an answer that is none", func(p *plan.Plan) { p.Questions[0].Answer = "yes" }, `plan: column "log.who": answer "yes": want widen or leave`},
		{"a question about nothing", func(p *plan.Plan) { p.Questions[0].Column = "lag.who" }, `plan: question "lag.who": want table.column, with a table of the plan`},
		{"two questions", func(p *plan.Plan) { p.Questions = append(p.Questions, p.Questions[0]) }, `plan: column "log.who": there are two questions about it`},
		{"a column that is left, and widened", func(p *plan.Plan) { p.Questions[0].Answer = plan.Leave }, `plan: column "log.who": the answer is leave, but it is among the table's columns`},
		{"a table twice", func(p *plan.Plan) { p.Tables = append(p.Tables, p.Tables[2]) }, `plan: table "log": is there twice`},
		{"a table without a name", func(p *plan.Plan) { p.Tables = append(p.Tables, &plan.Table{Method: plan.None}) }, "plan: a table has no name"},
		{"a method that is none", func(p *plan.Plan) { p.Tables[2].Method = "fast" }, `plan: table "log": method "fast": want none, online or alter`},
		{"no method", func(p *plan.Plan) { p.Tables[2].Method = plan.None }, `plan: table "log": method none, but columns are to become wider`},
		{"a method for nothing", func(p *plan.Plan) { p.Questions, p.Tables[2].Columns = nil, nil }, `plan: table "log": method online, but no column becomes wider`},
		{"no primary key", func(p *plan.Plan) { p.Tables[2].PrimaryKey = nil }, `plan: table "log": method online needs a primary key`},
		{"a counter of another product", func(p *plan.Plan) { p.Tables[0].Counter = "serial" }, `plan: table "users": counter "serial": want one of ["" "auto_increment"]`},
		{"a counter without a sequence", func(p *plan.Plan) {
			p.Dialect = "PostgreSQL"
			p.Tables[0].Counter, p.Tables[1].Counter = "", "serial"
		}, `plan: table "orders": counter "serial" without a sequence`},
		{"a column twice", func(p *plan.Plan) { p.Tables[2].Columns = append(p.Tables[2].Columns, p.Tables[2].Columns[0]) }, `plan: column "log.who": is there twice`},
		{"a column without a name", func(p *plan.Plan) {
			p.Tables[2].Columns = append(p.Tables[2].Columns, &plan.Column{Type: "int", To: "bigint"})
		}, `plan: table "log": a column has no name`},
		{"a sign that changes", func(p *plan.Plan) { p.Tables[2].Columns[0].To = "bigint unsigned" }, `plan: column "log.who": to "bigint unsigned": want "bigint", because signs stay`},
		{"a type that can't be widened", func(p *plan.Plan) { p.Tables[2].Columns[0].Type = "varchar(20)" }, `plan: column "log.who": "varchar(20)" can't be widened: it is no integer of less than 64 bits`},
		{"ends of different width", func(p *plan.Plan) { p.Tables[1].Columns[0] = &plan.Column{Name: "user_id", Type: "int", To: "bigint"} }, `plan: column "orders.user_id": becomes bigint, but refers to users.id, which becomes bigint unsigned`},
		{"a reference that stays narrow", func(p *plan.Plan) {
			p.Tables[1].Columns, p.Tables[1].Method, p.Tables[1].Group = nil, plan.None, 0
		}, `plan: column "orders.user_id": stays narrow, but refers to users.id, which becomes bigint unsigned`},
		{"a key that stays narrow", func(p *plan.Plan) {
			p.Tables[0].Columns, p.Tables[0].Method, p.Tables[0].Group = nil, plan.None, 0
		}, `plan: column "orders.user_id": becomes bigint unsigned, but refers to users.id, which stays narrow`},
		{"a key that is wide", func(p *plan.Plan) {
			p.Tables[0].Columns, p.Tables[0].Method, p.Tables[0].Group, p.Tables[0].Wide = nil, plan.None, 0, []string{"id"}
		}, ""},
		{"columns of a foreign key", func(p *plan.Plan) { p.Tables[1].ForeignKeys[0].RefColumns = nil }, `plan: table "orders": foreign key "orders_user" has 1 columns and refers to 0`},
		{"an action that is none", func(p *plan.Plan) { p.Tables[1].ForeignKeys[0].OnDelete = "DROP" }, `plan: table "orders": foreign key "orders_user": on_delete "DROP"`},
		{"an update that is none", func(p *plan.Plan) { p.Tables[1].ForeignKeys[0].OnUpdate = "x" }, `plan: table "orders": foreign key "orders_user": on_update "x"`},
		{"another group", func(p *plan.Plan) { p.Tables[1].Group = 3 }, `plan: table "orders": is in group 3, but refers to users in group 1`},
		{"a negative block", func(p *plan.Plan) { p.Tables[0].Block = -1 }, `plan: table "users": block -1 and first 0: want no negative numbers`},
		{"no group", func(p *plan.Plan) { p.Tables[2].Group = 0 }, `plan: table "log": group 0: want 1 or more`},
		{"another method in a group", func(p *plan.Plan) { p.Tables[1].Method = plan.Alter }, `plan: table "orders": method alter, but users of the same group has method online`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := shop()
			p.Accept(0.9)
			test.change(p)
			err := p.Check()
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var fault *plan.Error
			if !errors.As(err, &fault) || fault.Undecided || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// On PostgreSQL the ends of a foreign key may differ, and tables of a group change by methods of their own.
func TestCheckPostgres(t *testing.T) {
	p := shop()
	p.Dialect = "PostgreSQL"
	for _, table := range p.Tables {
		table.Counter = ""
	}
	p.Accept(0.9)
	p.Tables[1].Method = plan.Alter
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	p.Tables[0].Columns, p.Tables[0].Method, p.Tables[0].Group = nil, plan.None, 0
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}
