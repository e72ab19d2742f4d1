package convert_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/shardsnow/snow/convert"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// shop is a pool of the database.
func shop() (context.Context, *sql.DB) { return context.Background(), nil }

// From the plan to the first gate.
func Example() {
	p := &plan.Plan{Version: plan.Version, Dialect: "MySQL", Tables: []*plan.Table{{
		Name: "users", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "int", To: "bigint"}},
		Key: "id", Counter: "auto_increment", Method: plan.Online, Group: 1,
	}}}
	if err := convert.Describe(sqlsnow.MySQL, p); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Steps[0].Name)

	ctx, db := shop()
	c, err := convert.New(sqlsnow.MySQL, db, p, convert.Config{})
	if err != nil {
		return // a database is needed
	}
	var gate *report.GateError
	if err := c.Run(ctx); errors.As(err, &gate) {
		fmt.Println("programs must do this first:", gate.What)
	}
	// Output: widen users: prepare
}

// The programs are ready, so the gate is open.
func ExampleNew() {
	ctx, db := shop()
	c, err := convert.New(sqlsnow.MySQL, db, &plan.Plan{}, convert.Config{
		Gates:  []string{"count"},
		Events: func(e report.Event) { fmt.Println(e.Kind, e.Step, e.Done, e.Of) },
	})
	if err != nil {
		return // a database and its plan are needed
	}
	fmt.Println(c.Run(ctx))
}

// A plan goes into a file, where people review and edit it.
func ExampleInspect() {
	ctx, db := shop()
	p, err := convert.Inspect(ctx, sqlsnow.Postgres, db, convert.InspectConfig{DeclaredOnly: true})
	if err != nil {
		return // a database is needed
	}
	fmt.Println(p.WriteYAML(os.Stdout))
}

// What a run would do, after answers have changed the plan.
func ExampleDescribe() {
	p := &plan.Plan{Version: plan.Version, Dialect: "MySQL", Tables: []*plan.Table{
		{Name: "users", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "int", To: "bigint"}}, Key: "id", Counter: "auto_increment", Method: plan.Alter, Group: 1},
	}}
	if err := convert.Describe(sqlsnow.MySQL, p); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Steps[0].Name)
}
