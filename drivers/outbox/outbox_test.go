//go:build unix

// Package outbox_test runs the statements of docs/outbox.md.
package outbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// blocks returns the statements of each block of SQL on the page, by the first words of the comment that it begins
// with.
func blocks(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/outbox.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, m := range regexp.MustCompile("(?s)```sql\n-- ([A-Za-z, ]+)[^\n]*\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		text := regexp.MustCompile(`(?m)^--.*\n`).ReplaceAllString(m[2], "")
		for s := range strings.SplitSeq(text, ";") {
			if s = strings.TrimSpace(s); s != "" {
				all[m[1]] = append(all[m[1]], s)
			}
		}
	}
	if len(all) != 6 {
		t.Fatalf("the page has %d blocks: %q", len(all), all)
	}
	return all
}

// A server runs the statements of the page.
type server struct {
	*sql.DB
	name string
}

// adapt makes a statement of the page one for the server, with values in place of those on the page.
func (s server) adapt(statement string, values ...string) string {
	if s.name == "SQLite" {
		statement = strings.NewReplacer(" FOR UPDATE SKIP LOCKED", "", " FOR UPDATE", "").Replace(statement)
	}
	return strings.NewReplacer(values...).Replace(statement)
}

// in does something in a transaction, and again after a deadlock.
func (s server) in(ctx context.Context, do func(*sql.Conn) error) error {
	for {
		var failed *mysql.MySQLError
		if err := s.once(ctx, do); !errors.As(err, &failed) || failed.Number != 1213 {
			return err
		}
	}
}

func (s server) once(ctx context.Context, do func(*sql.Conn) error) error {
	conn, err := s.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	begin := "BEGIN"
	switch s.name {
	case "SQLite":
		begin = "BEGIN IMMEDIATE"
	case "MariaDB":
		if _, err := conn.ExecContext(ctx, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"); err != nil {
			return err
		}
	}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return err
	}
	if err := do(conn); err != nil {
		_, _ = conn.ExecContext(ctx, "ROLLBACK")
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

func each(t *testing.T, names []string, test func(*testing.T, server)) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var db *sql.DB
			switch name {
			case "MariaDB":
				s := dbtest.MariaDB(t)
				db = contractdb.Open(t, "mysql", s.DSN(s.CreateDatabase(t)))
			case "PostgreSQL":
				s := dbtest.Postgres(t)
				db = contractdb.Open(t, "pgx", s.DSN(s.CreateDatabase(t)))
			case "SQLite":
				db = contractdb.Open(t, "sqlite3", "file:"+t.TempDir()+"/outbox?_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)")
			}
			test(t, server{db, name})
		})
	}
}

func (s server) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := s.ExecContext(t.Context(), s.adapt(statement)); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// write inserts messages from many programs: each makes its id, does other work, and then inserts it in a transaction.
func (s server) write(t *testing.T) (written []snow.ID) {
	t.Helper()
	worker, err := snow.Fixed(snow.DefaultLayout(), 1)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var programs sync.WaitGroup
	for range 8 {
		programs.Go(func() {
			for range 10 {
				id, err := keys.Next(t.Context())
				if err == nil {
					err = s.in(t.Context(), func(conn *sql.Conn) error {
						_, err := conn.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO outbox (id, body) VALUES (%d, 'body')", id))
						return err
					})
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				written = append(written, id)
				mu.Unlock()
			}
		})
	}
	programs.Wait()
	slices.Sort(written)
	return written
}

// late inserts 10 and 11, commits 11, and calls between. Then it commits 10.
func (s server) late(t *testing.T, between func()) {
	t.Helper()
	insert := func(conn *sql.Conn, id snow.ID) error {
		_, err := conn.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO outbox (id, body) VALUES (%d, 'body')", id))
		return err
	}
	eleven := func() error {
		return s.in(t.Context(), func(conn *sql.Conn) error { return insert(conn, 11) })
	}
	if s.name == "SQLite" { // one transaction writes at a time, so 10 waits before it is inserted
		if err := eleven(); err != nil {
			t.Fatal(err)
		}
		between()
	}
	err := s.in(t.Context(), func(conn *sql.Conn) error {
		if err := insert(conn, 10); err != nil || s.name == "SQLite" {
			return err
		}
		if err := eleven(); err != nil {
			return err
		}
		between()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ids reads the last but one column of a query, and returns what it has read with the last row's first column.
func (s server) ids(ctx context.Context, query string) (ids []snow.ID, last string, err error) {
	rows, err := s.QueryContext(ctx, query)
	if err != nil {
		return nil, "", err
	}
	defer rows.Close()
	for rows.Next() {
		var id snow.ID
		var body string
		if err := rows.Scan(&last, &id, &body); err != nil {
			return nil, "", err
		}
		ids = append(ids, id)
	}
	return ids, last, rows.Err()
}

var everywhere = []string{"MariaDB", "PostgreSQL", "SQLite"}

// A reader that remembers the highest key misses a message, as the page says.
func TestHighestKeyMisses(t *testing.T) {
	all := blocks(t)
	each(t, everywhere, func(t *testing.T, s server) {
		s.exec(t, all["schema"]...)
		highest, seen := snow.ID(0), 0
		read := func() {
			ids, _, err := s.ids(t.Context(), fmt.Sprintf("SELECT id, id, body FROM outbox WHERE id > %d ORDER BY id", highest))
			if err != nil {
				t.Fatal(err)
			}
			if seen += len(ids); len(ids) > 0 {
				highest = slices.Max(ids)
			}
		}
		s.late(t, read)
		read()
		if seen != 1 || highest != 11 {
			t.Errorf("got %d messages up to %d, want only 11", seen, highest)
		}
	})
}

// Programs that delete what they publish publish each message once.
func TestPublishAndDelete(t *testing.T) {
	all := blocks(t)
	steps := all["MySQL, MariaDB, PostgreSQL"]
	each(t, everywhere, func(t *testing.T, s server) {
		s.exec(t, all["schema"]...)
		var mu sync.Mutex
		var published []snow.ID
		publish := func(ctx context.Context) error {
			var ids []snow.ID
			err := s.in(ctx, func(conn *sql.Conn) error {
				ids = nil
				rows, err := conn.QueryContext(ctx, s.adapt(steps[0], "100", "7"))
				if err != nil {
					return err
				}
				defer rows.Close()
				var list []string
				for rows.Next() {
					var id snow.ID
					var body string
					if err := rows.Scan(&id, &body); err != nil {
						return err
					}
					ids, list = append(ids, id), append(list, id.String())
				}
				if err := rows.Err(); err != nil || len(ids) == 0 {
					return err
				}
				_, err = conn.ExecContext(ctx, s.adapt(steps[1], "10, 11", strings.Join(list, ", ")))
				return err
			})
			if err == nil {
				mu.Lock()
				published = append(published, ids...)
				mu.Unlock()
			}
			return err
		}
		written := s.running(t, 3, publish)
		if slices.Sort(published); !slices.Equal(published, written) {
			t.Errorf("published %d messages of %d", len(published), len(written))
		}
	})
}

// A publisher does not wait for the messages of another one, and gets others.
func TestPublishersShare(t *testing.T) {
	all := blocks(t)
	each(t, []string{"MariaDB", "PostgreSQL"}, func(t *testing.T, s server) {
		s.exec(t, all["schema"]...)
		for id := range 4 {
			s.exec(t, fmt.Sprintf("INSERT INTO outbox (id, body) VALUES (%d, 'body')", id+1))
		}
		take := func(conn *sql.Conn) (ids []snow.ID, err error) {
			rows, err := conn.QueryContext(t.Context(), s.adapt(all["MySQL, MariaDB, PostgreSQL"][0], "100", "2"))
			if err != nil {
				return nil, err
			}
			defer rows.Close()
			for rows.Next() {
				var id snow.ID
				var body string
				if err := rows.Scan(&id, &body); err != nil {
					return nil, err
				}
				ids = append(ids, id)
			}
			return ids, rows.Err()
		}
		var first, second []snow.ID
		err := s.in(t.Context(), func(conn *sql.Conn) (err error) {
			if first, err = take(conn); err != nil {
				return err
			}
			return s.impatiently(t.Context(), func(other *sql.Conn) (err error) {
				second, err = take(other)
				return err
			})
		})
		if got := slices.Concat(first, second); err != nil || !slices.Equal(got, []snow.ID{1, 2, 3, 4}) {
			t.Errorf("one publisher gets %d, the other one %d, %v", first, second, err)
		}
	})
}

// One transaction at a time gives positions.
func TestNumberingIsExclusive(t *testing.T) {
	all := blocks(t)
	each(t, []string{"MariaDB", "PostgreSQL"}, func(t *testing.T, s server) {
		s.exec(t, all["schema"]...)
		var end int
		begin := func(conn *sql.Conn) error { return conn.QueryRowContext(t.Context(), all["number"][0]).Scan(&end) }
		err := s.in(t.Context(), func(conn *sql.Conn) error {
			if err := begin(conn); err != nil {
				return err
			}
			if err := s.impatiently(t.Context(), begin); err == nil {
				t.Error("a second transaction begins to give positions")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// impatiently is in on a connection that waits a second for locks.
func (s server) impatiently(ctx context.Context, do func(*sql.Conn) error) error {
	setting := "SET innodb_lock_wait_timeout = 1"
	if s.name == "PostgreSQL" {
		setting = "SET LOCAL lock_timeout = '1s'"
	}
	return s.in(ctx, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, setting); err != nil {
			return err
		}
		return do(conn)
	})
}

// Readers with positions see each message once, and also one that commits late.
func TestPositions(t *testing.T) {
	all := blocks(t)
	each(t, everywhere, func(t *testing.T, s server) {
		s.exec(t, all["schema"]...)
		number := func(ctx context.Context) error {
			return s.in(ctx, func(conn *sql.Conn) error {
				steps := all["number"]
				var end int
				if err := conn.QueryRowContext(ctx, s.adapt(steps[0])).Scan(&end); err != nil {
					return err
				}
				rows, err := conn.QueryContext(ctx, s.adapt(steps[1], "1000", "9"))
				if err != nil {
					return err
				}
				defer rows.Close()
				var ids []snow.ID
				for rows.Next() {
					var id snow.ID
					if err := rows.Scan(&id); err != nil {
						return err
					}
					ids = append(ids, id)
				}
				if err := rows.Err(); err != nil {
					return err
				}
				for _, id := range ids {
					end++
					if _, err := conn.ExecContext(ctx, s.adapt(steps[2], "= 11", "= "+id.String(), "= 1", fmt.Sprint("= ", end))); err != nil {
						return err
					}
				}
				_, err = conn.ExecContext(ctx, s.adapt(steps[3], "= 1", fmt.Sprint("= ", end)))
				return err
			})
		}
		readers := []*reader{{}, {}}
		read := func(ctx context.Context) error {
			for _, r := range readers {
				if err := r.read(ctx, s, all["read"][0], func(at string) []string { return []string{"> 0", "> " + at, "100", "5"} }); err != nil {
					return err
				}
			}
			return nil
		}
		both := func() {
			if err := number(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		s.late(t, both)
		both()
		written := s.running(t, 2, func(ctx context.Context) error {
			if err := number(ctx); err != nil {
				return err
			}
			return read(ctx)
		})
		for _, r := range readers {
			r.want(t, append([]snow.ID{10, 11}, written...))
		}
	})
}

// The same with the numbers of PostgreSQL's transactions.
func TestTransactionNumbers(t *testing.T) {
	all := blocks(t)
	each(t, []string{"PostgreSQL"}, func(t *testing.T, s server) {
		s.exec(t, all["PostgreSQL schema"]...)
		r := &reader{}
		read := func(ctx context.Context) error {
			return r.read(ctx, s, all["PostgreSQL read"][0], func(at string) []string {
				return []string{"('0', 0)", fmt.Sprintf("('%s', %d)", at, r.id), "100", "5"}
			})
		}
		s.late(t, func() {
			if err := read(t.Context()); err != nil || len(r.seen) > 0 {
				t.Fatalf("read %d before 10 is committed, %v", r.seen, err)
			}
		})
		written := s.running(t, 2, read)
		r.want(t, append([]snow.ID{10, 11}, written...))
	})
}

// A reader reads an outbox in steps.
type reader struct {
	mu   sync.Mutex
	at   string
	id   snow.ID // of the last message
	seen []snow.ID
}

func (r *reader) read(ctx context.Context, s server, statement string, values func(at string) []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == "" {
		r.at = "0"
	}
	ids, last, err := s.ids(ctx, s.adapt(statement, values(r.at)...))
	if err == nil && len(ids) > 0 {
		r.at, r.id, r.seen = last, ids[len(ids)-1], append(r.seen, ids...)
	}
	return err
}

func (r *reader) want(t *testing.T, written []snow.ID) {
	t.Helper()
	got := slices.Sorted(slices.Values(r.seen))
	if !slices.Equal(got, written) {
		t.Errorf("a reader got %d messages, want each of %d once", len(got), len(written))
	}
}

// running writes messages while several programs do something again and again, and lets each of them do it often
// enough afterwards.
func (s server) running(t *testing.T, programs int, do func(context.Context) error) (written []snow.ID) {
	t.Helper()
	done := make(chan struct{})
	var all sync.WaitGroup
	for range programs {
		all.Go(func() {
			for rest := 20; rest > 0; {
				select {
				case <-done:
					rest--
				default:
				}
				if err := do(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	written = s.write(t)
	close(done)
	all.Wait()
	return written
}
