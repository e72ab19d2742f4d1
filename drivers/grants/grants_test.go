//go:build unix

// Package grants_test executes the rights of docs/databases.md, and does with each account what the page says.
package grants_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/functions"
	"github.com/shardsnow/snow/sqlsnow/numbers"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// A product is a server with the accounts of the page.
type product struct {
	title   string // in the comment above the lines of the page
	dialect sqlsnow.Dialect
	mariaDB bool
	open    func(t *testing.T, database, account string) *sql.DB // an empty account is the administrator

	// empty makes a database anew, without rights of the accounts.
	empty func(ctx context.Context, root *sql.DB, database string) error
}

var (
	accounts  = []string{"owner", "app", "reader", "writer"}
	databases = []string{"shop", "game"}
	quiet     = slog.New(slog.DiscardHandler)
	shop      = sqlsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout(), Workers: 4}
)

// A role is what an account may do. prepare is done by the administrator, or by another account.
type role struct {
	name     string
	account  string
	database string
	prepare  func(ctx context.Context, d sqlsnow.Dialect, admin *sql.DB) error
	do       func(ctx context.Context, d sqlsnow.Dialect, db *sql.DB) error
}

func migrated(ctx context.Context, d sqlsnow.Dialect, admin *sql.DB) error {
	return errors.Join(sqlsnow.Migrate(ctx, admin, d), sqlsnow.Init(ctx, admin, d, shop))
}

func withOrders(ctx context.Context, d sqlsnow.Dialect, admin *sql.DB) error {
	if err := migrated(ctx, d, admin); err != nil {
		return err
	}
	return execute(ctx, admin, "CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY)", "INSERT INTO orders VALUES (41)")
}

func execute(ctx context.Context, db *sql.DB, statements ...string) error {
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return errors.New(s + ": " + err.Error())
		}
	}
	return nil
}

// lease renews once, and gives the number back.
func lease(ctx context.Context, l *sqlsnow.Lease, err error) error {
	if err != nil {
		return err
	}
	return errors.Join(l.Renew(ctx), l.Close(ctx))
}

var roles = []role{
	{"deploy", "owner", "shop", nil, func(ctx context.Context, d sqlsnow.Dialect, db *sql.DB) error {
		return migrated(ctx, d, db)
	}},
	{"lease", "app", "shop", migrated, func(ctx context.Context, d sqlsnow.Dialect, db *sql.DB) error {
		l, err := sqlsnow.Acquire(ctx, db, d, sqlsnow.LeaseConfig{Namespace: "shop", Logger: quiet})
		return lease(ctx, l, err)
	}},
	{"open", "app", "shop", migrated, func(ctx context.Context, d sqlsnow.Dialect, db *sql.DB) error {
		_, l, err := sqlsnow.Open(ctx, db, d, shop, sqlsnow.LeaseConfig{Logger: quiet})
		return lease(ctx, l, err)
	}},
	{"segments", "app", "shop", withOrders, func(ctx context.Context, d sqlsnow.Dialect, db *sql.DB) error {
		s, err := segments.Open(ctx, []*sql.DB{db}, d, segments.Config{Tag: "orders", Tables: []segments.Table{{DB: db, Name: "orders", Column: "id"}}, Logger: quiet})
		if err != nil {
			return err
		}
		id, err := s.Next(ctx)
		if err == nil && id <= 41 {
			err = errors.New("the id is not above the rows")
		}
		return errors.Join(err, s.Close(ctx))
	}},
	{"numbers", "app", "shop", migrated, func(ctx context.Context, d sqlsnow.Dialect, db *sql.DB) error {
		invoices, err := numbers.OpenGapFree(ctx, db, d, numbers.Config{Series: "invoices", Pattern: "INV-{000000}"})
		if err != nil {
			return err
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		_, err = invoices.Take(ctx, tx)
		return errors.Join(err, tx.Rollback())
	}},
	{"install", "owner", "shop", migrated, func(ctx context.Context, d sqlsnow.Dialect, db *sql.DB) error {
		_, err := functions.Install(ctx, db, d, functions.Config{Namespace: "shop"})
		if err == nil {
			_, err = functions.Install(ctx, db, d, functions.Config{Namespace: "shop"}) // again, as each deployment does
		}
		return err
	}},
	{"call", "app", "shop", func(ctx context.Context, d sqlsnow.Dialect, admin *sql.DB) error {
		if err := migrated(ctx, d, admin); err != nil {
			return err
		}
		_, err := functions.Install(ctx, admin, d, functions.Config{Namespace: "shop"})
		return err
	}, func(ctx context.Context, _ sqlsnow.Dialect, db *sql.DB) error {
		var id int64
		return db.QueryRowContext(ctx, "SELECT snow_next_id()").Scan(&id)
	}},
	{"source", "reader", "shop", server, func(ctx context.Context, d sqlsnow.Dialect, db *sql.DB) error {
		p, err := merge.Inspect(ctx, d, merge.Source{Name: "eu", DB: db})
		if err == nil && len(p.Tables) != 2 {
			err = errors.New("not all tables are seen")
		}
		return err
	}},
	{"target", "writer", "game", nil, nil}, // see TestGrants
}

// server makes the tables of a source.
func server(ctx context.Context, d sqlsnow.Dialect, admin *sql.DB) error {
	serial := "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY"
	if d == sqlsnow.Postgres {
		serial = "bigserial PRIMARY KEY"
	}
	return execute(ctx, admin, "CREATE TABLE players (id "+serial+", name VARCHAR(40) NOT NULL UNIQUE)",
		"CREATE TABLE items (id "+serial+", player_id BIGINT NOT NULL, CONSTRAINT owned FOREIGN KEY (player_id) REFERENCES players (id))",
		"INSERT INTO players (name) VALUES ('ann'), ('bob')", "INSERT INTO items (player_id) VALUES (1), (2), (2)")
}

// united merges the source into the target, and looks a player up.
func united(ctx context.Context, d sqlsnow.Dialect, source, target *sql.DB) error {
	sources := []merge.Source{{Name: "eu", DB: source}}
	p, err := merge.Inspect(ctx, d, sources...)
	if err != nil {
		return err
	}
	for _, table := range p.Tables {
		for _, u := range table.Unique {
			u.Rule = plan.RuleFail
		}
		for _, c := range table.Columns {
			c.Decided = true
			if c.Role == plan.RoleKey {
				table.NewIDs = p.Sources
			}
		}
	}
	statements, err := p.Schema()
	if err != nil {
		return err
	}
	err = errors.Join(execute(ctx, target, statements...), sqlsnow.Migrate(ctx, target, d), sqlsnow.Init(ctx, target, d, shop))
	if err != nil {
		return err
	}
	m, err := merge.New(d, target, sources, p, merge.Config{Namespace: "shop"})
	if err != nil {
		return err
	}
	forecast, err := m.DryRun(ctx)
	if err == nil {
		err = forecast.Err()
	}
	if err != nil {
		return err
	}
	report, err := m.Run(ctx)
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		return err
	}
	_, err = merge.Lookup(ctx, d, target, "eu", "players", 2)
	return err
}

// lines returns the statements of the page, by the comment above them.
func lines(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "databases.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]string)
	for _, block := range regexp.MustCompile("(?s)```sql\n-- ([^\n]+)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		all[block[1]] = strings.Split(strings.TrimSpace(block[2]), "\n")
	}
	if len(all) != 2*len(roles) {
		t.Fatalf("the page has %d blocks, want two for each of %d roles", len(all), len(roles))
	}
	return all
}

// without returns the sets of lines that lack one right each, by its name.
func without(granted []string) map[string][]string {
	all := make(map[string][]string)
	for i, line := range granted {
		rights, rest, _ := strings.Cut(strings.TrimPrefix(line, "GRANT "), " ON ")
		list := strings.Split(rights, ", ")
		for j, right := range list {
			fewer := append(append([]string{}, list[:j]...), list[j+1:]...)
			set := append([]string{}, granted[:i]...)
			if len(fewer) > 0 {
				set = append(set, "GRANT "+strings.Join(fewer, ", ")+" ON "+rest)
			}
			all[right+" ON "+rest] = append(set, granted[i+1:]...)
		}
	}
	return all
}

func TestGrants(t *testing.T) {
	page := lines(t)
	for _, p := range []product{onMariaDB(t), onPostgreSQL(t)} {
		for _, r := range roles {
			granted := page[p.title+": "+r.name]
			t.Run(p.title+"/"+r.name, func(t *testing.T) {
				if err := p.try(t, r, granted); err != nil {
					t.Fatalf("with all that the page says: %v", err)
				}
				for right, fewer := range without(granted) {
					if strings.HasSuffix(right, "not by MariaDB") && p.mariaDB {
						continue
					}
					if err := p.try(t, r, fewer); err == nil {
						t.Errorf("%s is not needed", right)
					} else if testing.Verbose() {
						t.Logf("without %s: %v", right, err)
					}
				}
			})
		}
	}
}

// try does what a role does, in new databases, with these rights.
func (p product) try(t *testing.T, r role, granted []string) error {
	t.Helper()
	ctx := t.Context()
	root := p.open(t, "", "")
	defer root.Close()
	for _, name := range databases {
		if err := p.empty(ctx, root, name); err != nil {
			t.Fatal(err)
		}
	}
	admin := p.open(t, r.database, "")
	defer admin.Close()
	if r.prepare != nil {
		if err := r.prepare(ctx, p.dialect, admin); err != nil {
			t.Fatal(err)
		}
	}
	if err := execute(ctx, admin, granted...); err != nil {
		t.Fatal(err)
	}
	db := p.open(t, r.database, r.account)
	defer db.Close()
	if r.do != nil {
		return r.do(ctx, p.dialect, db)
	}
	source := p.open(t, "shop", "")
	defer source.Close()
	if err := server(ctx, p.dialect, source); err != nil {
		t.Fatal(err)
	}
	return united(ctx, p.dialect, source, db)
}

// opened connects when it is used.
func opened(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func onMariaDB(t *testing.T) product {
	t.Helper()
	server := dbtest.MariaDB(t)
	first := server.CreateDatabase(t)
	return product{
		title: "MySQL and MariaDB", dialect: sqlsnow.MySQL,
		open: func(t *testing.T, database, account string) *sql.DB {
			t.Helper()
			config, err := mysql.ParseDSN(server.DSN(first))
			if err != nil {
				t.Fatal(err)
			}
			if database != "" {
				config.DBName = database
			}
			if account != "" {
				config.User, config.Passwd = account, "secret"
			}
			return opened(t, "mysql", config.FormatDSN())
		},
		mariaDB: strings.HasPrefix(server.Product(t), "MariaDB "),
		empty: func(ctx context.Context, root *sql.DB, database string) error {
			statements := []string{"SET GLOBAL log_bin_trust_function_creators = 1", "DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database}
			for _, name := range accounts {
				statements = append(statements, "DROP USER IF EXISTS '"+name+"'@'%'", "CREATE USER '"+name+"'@'%' IDENTIFIED BY 'secret'")
			}
			return execute(ctx, root, statements...)
		},
	}
}

// onPostgreSQL has a schema that gives nothing to PUBLIC, as careful administrators make it.
func onPostgreSQL(t *testing.T) product {
	t.Helper()
	server := dbtest.Postgres(t)
	first := server.CreateDatabase(t)
	p := product{
		title: "PostgreSQL", dialect: sqlsnow.Postgres,
		open: func(t *testing.T, database, account string) *sql.DB {
			t.Helper()
			dsn, err := url.Parse(server.DSN(first))
			if err != nil {
				t.Fatal(err)
			}
			if database != "" {
				dsn.Path = "/" + database
			}
			if account != "" {
				dsn.User = url.UserPassword(account, "secret")
			}
			return opened(t, "pgx", dsn.String())
		},
	}
	root := p.open(t, "", "")
	defer root.Close()
	var statements []string
	for _, name := range databases {
		statements = append(statements, "CREATE DATABASE "+name)
	}
	for _, name := range accounts {
		statements = append(statements, "CREATE ROLE "+name+" LOGIN PASSWORD 'secret'")
	}
	if err := execute(t.Context(), root, statements...); err != nil {
		t.Fatal(err)
	}
	p.empty = func(ctx context.Context, _ *sql.DB, database string) error {
		db := p.open(t, database, "")
		defer db.Close()
		return execute(ctx, db, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
	}
	return p
}
