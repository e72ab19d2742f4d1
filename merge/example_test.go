package merge_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A step in which people review what Inspect proposes, and one that merges.
func Example() {
	ctx := context.Background()
	var target *sql.DB
	var sources []merge.Source // such as {Name: "eu", DB: eu}, {Name: "us", DB: us}

	propose := func() error {
		p, err := merge.Inspect(ctx, sqlsnow.MySQL, sources...)
		if err != nil {
			return err
		}
		return p.WriteYAML(os.Stdout)
	}
	unite := func(reviewed *os.File) error {
		p, err := plan.Read(reviewed)
		if err != nil {
			return err
		}
		m, err := merge.New(sqlsnow.MySQL, target, sources, p, merge.Config{
			Namespace:  "game",
			Assertions: []merge.Assertion{{Name: "gold", SQL: "SELECT SUM(gold) FROM players"}},
		})
		if err != nil {
			return err
		}
		result, err := m.Run(ctx) // again, if it was interrupted
		if err != nil {
			return err
		}
		return errors.Join(result.WriteText(os.Stdout), result.Err())
	}
	_, _ = propose, unite
}

func ExampleInspect() {
	_, err := merge.Inspect(context.Background(), sqlsnow.MySQL, merge.Source{Name: "eu 1"})
	fmt.Println(err)
	// Output: merge: inspect: source name "eu 1": want 1 to 40 letters, digits, dots, underscores or hyphens of ASCII
}

// A file of decisions is completed with the schemas of the sources.
func ExampleReadSchema() {
	ctx := context.Background()
	var target *sql.DB
	var sources []merge.Source // such as {Name: "eu", DB: eu}, {Name: "us", DB: us}

	settle := func(reviewed *os.File) (*merge.Merge, error) {
		decisions, err := plan.ReadDecisions(reviewed)
		if err != nil {
			return nil, err
		}
		schema, err := merge.ReadSchema(ctx, sqlsnow.MySQL, sources...)
		if err != nil {
			return nil, err
		}
		p, err := decisions.Complete(schema)
		if err != nil {
			return nil, err
		}
		return merge.New(sqlsnow.MySQL, target, sources, p, merge.Config{Namespace: "game"})
	}
	_ = settle
	_, err := merge.ReadSchema(ctx, sqlsnow.MySQL)
	fmt.Println(err)
	// Output: merge: read schema: no sources
}

// A plan that is not complete is refused before any database is asked.
func ExampleNew() {
	p := &plan.Plan{Version: 1, Dialect: "MySQL", Sources: []string{"eu"}, Tables: []*plan.Table{{
		Name: "guilds", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "bigint", Role: plan.RoleUndecided}},
	}}}
	_, err := merge.New(sqlsnow.MySQL, new(sql.DB), []merge.Source{{Name: "eu", DB: new(sql.DB)}}, p, merge.Config{})
	var wrong *plan.Error
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Table, wrong.Column, wrong.Reason)
	}
	// Output: guilds id role is undecided
}

// A player asks about a mail that names her by the number of her old server.
func ExampleLookup() {
	var target *sql.DB
	id, err := merge.Lookup(context.Background(), sqlsnow.MySQL, target, "eu", "players", 1234)
	if errors.Is(err, report.ErrNotFound) {
		log.Fatal("nobody had that number on eu")
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
}

// The search index goes by old ids.
func ExampleExport() {
	var target *sql.DB
	file, err := os.Create("ids.csv")
	if err != nil {
		log.Fatal(err)
	}
	if err := merge.Export(context.Background(), sqlsnow.MySQL, target, file); err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}

// The list of rows that were left out, with the reason for each.
func ExampleExportLeftOut() {
	var target *sql.DB
	err := merge.ExportLeftOut(context.Background(), sqlsnow.MySQL, target, os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
}

// The new names, for mails to their players.
func ExampleExportRenamed() {
	var target *sql.DB
	err := merge.ExportRenamed(context.Background(), sqlsnow.MySQL, target, os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
}
