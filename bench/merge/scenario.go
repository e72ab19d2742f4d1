package merge

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	snowmerge "github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A scenario is a kind of table.
type scenario struct {
	name   string
	mint   bool // rows get new ids; otherwise they keep theirs
	refers bool // each row refers to three others
	found  bool // rows are found by two more columns
	target float64
}

func scenarios() []scenario {
	return []scenario{
		{"ids kept, no references", false, false, false, 0.2},
		{"new ids, no references", true, false, false, 0.2},
		{"new ids, no references, two indexes", true, false, true, 0.4},
		{"new ids, three references rewritten", true, true, false, 0.4},
	}
}

// parents is how many rows there are to refer to, in three tables together.
func (s scenario) parents(rows int) int {
	if !s.refers {
		return 0
	}
	return 3 * (rows / 10)
}

var parentTables = []string{"players", "kinds", "shops"}

// tables are the tables that a merge copies, in order.
func (s scenario) tables() []string {
	if !s.refers {
		return []string{"orders"}
	}
	return append(parentTables[:3:3], "orders")
}

// source makes a database with the scenario's rows.
func (s scenario) source(ctx context.Context, tb testing.TB, server *dbtest.Server, rows int) (*sql.DB, error) {
	db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(tb)))
	if err != nil {
		return nil, err
	}
	key, id, references := "BIGINT NOT NULL PRIMARY KEY", "(1 << 58) + seq * 4096", ""
	if s.mint {
		key, id = "INT NOT NULL AUTO_INCREMENT PRIMARY KEY", "seq"
	}
	columns := []string{"id " + key, "amount BIGINT NOT NULL", "item VARCHAR(64) NOT NULL", "created_at DATETIME(3) NOT NULL"}
	values := []string{id, "seq * 7 % 9973", "CONCAT('item ', seq * 31 % 1009)", "TIMESTAMPADD(SECOND, seq DIV 50, '2024-03-01')"}
	var statements []string
	if s.refers {
		for i, p := range parentTables {
			statements = append(statements,
				"CREATE TABLE "+p+" (id "+key+", name VARCHAR(40) NOT NULL, created_at DATETIME(3) NOT NULL)",
				fmt.Sprintf("INSERT INTO %s SELECT seq, CONCAT('name ', seq), TIMESTAMPADD(SECOND, seq DIV 50, '2024-02-01') FROM seq_1_to_%d", p, rows/10))
			column := p + "_id"
			columns = append(columns, column+" INT NOT NULL")
			// A multiplication by a prime spreads the references over all rows.
			values = append(values, fmt.Sprintf("1 + seq * %d %% %d", []int{7919, 104729, 1299709}[i], rows/10))
			references += ", FOREIGN KEY (" + column + ") REFERENCES " + p + " (id)"
		}
	}
	indexes := ""
	if s.found {
		indexes = ", INDEX (item), INDEX (created_at)"
	}
	statements = append(statements,
		"CREATE TABLE orders ("+strings.Join(columns, ", ")+indexes+references+")",
		fmt.Sprintf("INSERT INTO orders SELECT %s FROM seq_1_to_%d", strings.Join(values, ", "), rows))
	for _, text := range statements {
		if _, err := db.ExecContext(ctx, text); err != nil {
			db.Close()
			return nil, fmt.Errorf("%s: %w", text, err)
		}
	}
	return db, nil
}

// plan is what people would decide on.
func (s scenario) plan(ctx context.Context, source *sql.DB) (*plan.Plan, error) {
	p, err := snowmerge.Inspect(ctx, sqlsnow.MySQL, snowmerge.Source{Name: "s1", DB: source})
	if err != nil {
		return nil, err
	}
	for _, t := range p.Tables {
		if t.NewIDs = nil; s.mint {
			t.NewIDs, t.Created = []string{"s1"}, "created_at"
		}
		for _, c := range t.Columns {
			c.Decided = true
		}
		for _, u := range t.Unique {
			u.Decided = true
		}
	}
	return p, p.Check()
}

// world makes a target with the tables of a plan, and a namespace.
func world(ctx context.Context, tb testing.TB, server *dbtest.Server, p *plan.Plan) (*sql.DB, string, error) {
	name := server.CreateDatabase(tb)
	db, err := sql.Open("mysql", server.DSN(name))
	if err != nil {
		return nil, "", err
	}
	statements, err := p.Schema()
	if err == nil {
		err = sqlsnow.Migrate(ctx, db, sqlsnow.MySQL)
	}
	if err == nil {
		err = sqlsnow.Init(ctx, db, sqlsnow.MySQL, sqlsnow.Namespace{Name: "bench", Layout: snow.DefaultLayout(), Workers: 8})
	}
	for _, text := range statements {
		if err == nil {
			_, err = db.ExecContext(ctx, text)
		}
	}
	if err != nil {
		db.Close()
		return nil, "", err
	}
	return db, name, nil
}

// floor is how long INSERT … SELECT takes, a statement and a transaction for each table.
func (s scenario) floor(ctx context.Context, tb testing.TB, server *dbtest.Server, source *sql.DB) (time.Duration, error) {
	p, err := s.plan(ctx, source)
	if err != nil {
		return 0, err
	}
	target, name, err := world(ctx, tb, server, p)
	if err != nil {
		return 0, err
	}
	defer target.Close()
	var from string
	if err := source.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&from); err != nil {
		return 0, err
	}
	begin := time.Now()
	for _, t := range s.tables() {
		if _, err := target.ExecContext(ctx, "INSERT INTO "+t+" SELECT * FROM "+from+"."+t); err != nil {
			return 0, err
		}
	}
	took := time.Since(begin)
	_, err = target.ExecContext(ctx, "DROP DATABASE "+name)
	return took, err
}
