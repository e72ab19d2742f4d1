// Package gormtest is the test suite of package gormsnow, for every database. It
// imports no driver: the tests that run it open the databases.
package gormtest

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// Open returns an empty database. It closes it when the test ends.
type Open func(tb testing.TB, cfg *gorm.Config) *gorm.DB

// OpenWith opens a database of a dialect, and closes it when the test ends.
func OpenWith(tb testing.TB, dialector gorm.Dialector, cfg *gorm.Config) *gorm.DB {
	tb.Helper()
	cfg.DisableForeignKeyConstraintWhenMigrating = true // as in sharded tables
	db, err := gorm.Open(dialector, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		conn, err := db.DB()
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			tb.Error(err)
		}
	})
	return db
}

// Run runs the suite: after every kind of insert, each key must be a stored row's key.
func Run(t *testing.T, open Open) {
	log := new(statements)
	db := open(t, &gorm.Config{Logger: log, TranslateError: true})
	if err := db.Use(gormsnow.New(NewGenerator(t))); err != nil {
		t.Fatal(err)
	}
	if err := db.SetupJoinTable(&Student{}, "Courses", &Enrolment{}); err != nil {
		t.Fatal(err)
	}
	if err := db.AutoMigrate(models...); err != nil {
		t.Fatal(err)
	}
	s := &suite{db, log}
	t.Run("shapes", s.shapes)
	t.Run("plain creates send one statement", s.plain)
	t.Run("conflicts", s.conflicts)
	t.Run("associations that exist", s.associations)
	t.Run("shards", s.shards)
	t.Run("pitfalls", s.pitfalls)
	t.Run("keys of zero", s.zeros)
	t.Run("combinations", s.combinations)
	t.Run("goroutines", s.goroutines)
}

type suite struct {
	db  *gorm.DB
	log *statements
}

// Layout has shard bits.
func Layout(tb testing.TB) snow.Layout {
	tb.Helper()
	l, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 6, Sequence: 10, Shard: 6})
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// NewGenerator returns the only generator of a test.
func NewGenerator(tb testing.TB) *snow.Generator {
	tb.Helper()
	worker, err := snow.Fixed(Layout(tb), 3)
	if err != nil {
		tb.Fatal(err)
	}
	generator, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	return generator
}

// Main runs the tests of a package and fails if they leave goroutines behind, such
// as goroutines of rows and databases that were not closed.
func Main(m *testing.M) {
	code := m.Run()
	var left []string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); runtime.Gosched() {
		if left = goroutines(); len(left) == 0 {
			os.Exit(code)
		}
	}
	fmt.Fprintf(os.Stderr, "goroutines that outlive the tests:\n\n%s\n", strings.Join(left, "\n\n"))
	os.Exit(max(code, 1))
}

// goroutines returns the stacks of goroutines that use a database. It leaves out
// the caller, a server that lives as long as the process, and an open DB without
// connections, as in examples.
func goroutines() []string {
	stacks := make([]byte, 1<<20)
	all := strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n")
	return slices.DeleteFunc(all[1:], func(stack string) bool {
		uses := func(what string) bool { return strings.Contains(stack, what) }
		return !uses("database/sql") && !uses("go-sql-driver") && !uses("pgx") && !uses("shardsnow/snow") ||
			uses("snow/internal/testkit/dbtest") || uses("(*DB).connectionOpener")
	})
}

// statements is a logger that remembers the SQL.
type statements struct {
	mu  sync.Mutex
	sql []string
}

func (s *statements) LogMode(logger.LogLevel) logger.Interface      { return s }
func (s *statements) Info(context.Context, string, ...interface{})  {}
func (s *statements) Warn(context.Context, string, ...interface{})  {}
func (s *statements) Error(context.Context, string, ...interface{}) {}
func (s *statements) Trace(_ context.Context, _ time.Time, sql func() (string, int64), _ error) {
	text, _ := sql()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sql = append(s.sql, text)
}

// of returns the statements that do sends.
func (s *statements) of(do func()) []string {
	s.mu.Lock()
	s.sql = nil
	s.mu.Unlock()
	do()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sql
}

// stored are ids that an insert claims to have stored.
type stored struct {
	table, column string
	ids           []any
}

func column(table, column string, ids ...any) stored { return stored{table, column, ids} }

// check compares these ids with the table.
func (s stored) check(t *testing.T, db *gorm.DB) {
	t.Helper()
	seen := make(map[any]bool)
	for _, id := range s.ids {
		if v := reflect.Indirect(reflect.ValueOf(id)); !v.IsValid() || v.IsZero() {
			t.Errorf("%s.%s: got no id: %#v", s.table, s.column, id)
		} else {
			seen[v.Interface()] = true
		}
	}
	if len(seen) != len(s.ids) {
		t.Errorf("%s.%s: %d different ids in %v", s.table, s.column, len(seen), s.ids)
	}
	if n := count(t, db, s.table, s.column, s.ids...); n != len(s.ids) {
		t.Errorf("%s.%s: %d rows have the ids %v, want %d", s.table, s.column, n, s.ids, len(s.ids))
	}
}

// count returns how many rows of table have one of values in column.
func count(t *testing.T, db *gorm.DB, table, column string, values ...any) (n int) {
	t.Helper()
	err := db.Raw("SELECT COUNT(*) FROM ? WHERE ? IN ?", clause.Table{Name: table}, clause.Column{Name: column}, values).Scan(&n).Error
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// id returns the id of the only row of table with value in column.
func id(t *testing.T, db *gorm.DB, table, column string, value any) (id snow.ID) {
	t.Helper()
	var ids []snow.ID
	err := db.Raw("SELECT id FROM ? WHERE ? = ?", clause.Table{Name: table}, clause.Column{Name: column}, value).Scan(&ids).Error
	if err != nil || len(ids) != 1 {
		t.Fatalf("%s where %s is %v: ids %v, %v; want one", table, column, value, ids, err)
	}
	return ids[0]
}
