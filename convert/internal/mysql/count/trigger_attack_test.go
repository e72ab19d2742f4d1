package count

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/testscale"
)

// An attack has sessions of old and new programs, which insert in all ways, and knows what AUTO_INCREMENT promises.
type attack struct {
	t    *testing.T
	db   *sql.DB
	snow atomic.Int64

	mu    sync.Mutex
	kills int                      // of the server
	given map[string]map[int64]int // table → number that a program was told, committed or not → kills before
	rows  map[string]map[int64]int // table → id → writer, committed
	kinds map[string]int
}

// A told number was the LAST_INSERT_ID() of a statement of so many rows.
type told struct {
	table string
	first int64
	rows  int
}

func (a *attack) newSnow() int64 { return snowID + a.snow.Add(1) }

// writer inserts until it has done n statements. It begins anew with another session when its session ends.
func (a *attack) writer(seed uint64, n int) {
	r := rand.New(rand.NewPCG(seed, 1))
	var c *sql.Conn
	for done := 0; done < n; {
		if c == nil {
			var err error
			if c, err = a.db.Conn(a.t.Context()); err != nil {
				continue // the server is not up yet
			}
			if r.IntN(4) == 0 { // a clock that stands still
				_, _ = c.ExecContext(a.t.Context(), "SET timestamp = 1000000000")
			}
		}
		if k, err := a.transaction(r, c, int(seed)); err != nil {
			_ = c.Raw(func(any) error { return driver.ErrBadConn })
			_ = c.Close()
			c = nil
			done++
		} else {
			done += k
		}
	}
	if c != nil {
		_ = c.Close()
	}
}

// transaction does some statements, and returns an error if the session is lost.
func (a *attack) transaction(r *rand.Rand, c *sql.Conn, writer int) (int, error) {
	ctx := a.t.Context()
	n := 1 + r.IntN(4)
	begin, end := "DO 1", "DO 1"
	switch r.IntN(4) {
	case 0, 1:
		begin, end = "BEGIN", "COMMIT"
	case 2:
		begin, end = "BEGIN", "ROLLBACK"
	}
	if _, err := c.ExecContext(ctx, begin); err != nil {
		return 0, err
	}
	var all []told
	for range n {
		news, err := a.statement(ctx, r, c, writer)
		if lost(err) {
			return n, err
		}
		if code := sqldialect.Code(err); code == "1213" || code == "1020" { // the transaction is rolled back
			all, end = nil, "ROLLBACK"
			break
		}
		all = append(all, news...)
		if begin == "DO 1" && err == nil {
			a.written(all, writer)
			all = nil
		}
	}
	if _, err := c.ExecContext(ctx, end); err != nil {
		return n, err
	}
	if end == "COMMIT" {
		a.written(all, writer)
	}
	return n, nil
}

func lost(err error) bool {
	return err != nil && sqldialect.Code(err) == "" || sqldialect.Code(err) == "1317" || sqldialect.Code(err) == "1053" || sqldialect.Code(err) == "1927"
}

func (a *attack) written(all []told, writer int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range all {
		for i := range int64(n.rows) {
			a.rows[n.table][n.first+i] = writer
		}
	}
}

// statement does one statement, and checks what the program sees.
func (a *attack) statement(ctx context.Context, r *rand.Rand, c *sql.Conn, writer int) ([]told, error) {
	table := []string{"orders", "second"}[r.IntN(2)]
	rows := 1 + r.IntN(7)
	values := func(row string) string { return strings.TrimSuffix(strings.Repeat(row+", ", rows), ", ") }
	row := fmt.Sprintf("(%d)", writer)
	var kind, statement string
	switch r.IntN(12) {
	case 0, 1, 2:
		kind, rows, statement = "one", 1, "INSERT INTO "+table+" (n) VALUES "+row
	case 3, 4:
		kind, statement = "several", "INSERT INTO "+table+" (n) VALUES "+values(row)
	case 5:
		kind, statement = "select", fmt.Sprintf("INSERT INTO %s (n) SELECT %d FROM numbers WHERE i <= %d", table, writer, rows)
	case 6:
		kind, statement = "snow", fmt.Sprintf("INSERT INTO %s (id, n) VALUES (%d, %d)", table, a.newSnow(), writer)
	case 7:
		kind, statement = "not null", "INSERT INTO "+table+" (n) VALUES "+values(row)+", (NULL)"
	case 8:
		kind, statement = "check", "INSERT INTO "+table+" (n) VALUES (-1)"
	case 9:
		kind, statement = "duplicate", fmt.Sprintf("INSERT IGNORE INTO %s (n, v) VALUES (%d, 1)", table, writer)
	case 10:
		kind, statement = "on duplicate", fmt.Sprintf("INSERT INTO %s (n, v) VALUES (%d, 2) ON DUPLICATE KEY UPDATE g = g + 1", table, writer)
	case 11:
		kind, statement = "other", "INSERT INTO other (w) VALUES (1), (2)"
	}
	var args []any
	if kind == "one" && r.IntN(2) == 0 { // prepared on the server
		kind, statement, args = "prepared", strings.Replace(statement, row, "(?)", 1), []any{writer}
	}
	a.mu.Lock()
	kills := a.kills
	a.mu.Unlock()
	result, err := c.ExecContext(ctx, statement, args...)
	a.mu.Lock()
	a.kinds[kind+" "+sqldialect.Code(err)]++
	a.mu.Unlock()
	if err != nil || kind == "snow" || kind == "duplicate" || kind == "on duplicate" {
		return nil, err
	}
	first, err := result.LastInsertId()
	if err != nil {
		return nil, err
	}
	if kind == "other" {
		if first > 200_000 {
			a.t.Errorf("the other table got the number %d", first)
		}
		return nil, nil
	}
	var last, found int64
	if err := c.QueryRowContext(ctx, "SELECT LAST_INSERT_ID()").Scan(&last); err != nil {
		return nil, err
	}
	query := fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE id BETWEEN %d AND %d AND n = %d", table, first, first+int64(rows)-1, writer)
	if err := c.QueryRowContext(ctx, query).Scan(&found); err != nil {
		return nil, err
	}
	if last != first || found != int64(rows) {
		a.t.Errorf("%s: reply %d, LAST_INSERT_ID() %d, %d of %d rows have the numbers from there on", statement, first, last, found, rows)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range int64(rows) {
		before, is := a.given[table][first+i]
		_, committed := a.rows[table][first+i]
		if is && (before == kills || committed) { // what a crash has lost may come again, as with AUTO_INCREMENT
			a.t.Errorf("%s: %d was given before", statement, first+i)
		}
		a.given[table][first+i] = kills
	}
	return []told{{table, first, rows}}, nil
}

// killer ends sessions and statements of the writers until it is stopped.
func (a *attack) killer(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		var id int64
		err := a.db.QueryRowContext(ctx, "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'INSERT%' ORDER BY RAND() LIMIT 1").Scan(&id)
		if errors.Is(err, sql.ErrNoRows) || err != nil {
			continue
		}
		_, _ = a.db.ExecContext(ctx, fmt.Sprintf([]string{"KILL %d", "KILL QUERY %d"}[r.IntN(2)], id))
	}
}

func newAttack(t *testing.T, server *dbtest.Server, extra ...string) *attack {
	db := openDatabase(t, server, append([]string{
		"CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL, v INT UNIQUE, g INT DEFAULT 0, CHECK (n > 0))",
		"CREATE TABLE second (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL, v INT UNIQUE, g INT DEFAULT 0, CHECK (n > 0))",
		"CREATE TABLE other (id INT AUTO_INCREMENT PRIMARY KEY, w INT)",
		"CREATE TABLE free (id INT AUTO_INCREMENT PRIMARY KEY, w INT)",
		"CREATE TABLE numbers (i INT PRIMARY KEY)", "INSERT INTO numbers VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9)",
	}, extra...)...)
	p := planOf(counted1("orders", 50), counted1("second", 50))
	p.Guards = []string{"other"}
	do(t, db, allSteps(p))
	empty := func() map[string]map[int64]int { return map[string]map[int64]int{"orders": {}, "second": {}} }
	return &attack{t: t, db: db, given: empty(), rows: empty(), kinds: map[string]int{}}
}

func (a *attack) run(writers, statements int, during func(context.Context)) {
	ctx, stop := context.WithCancel(a.t.Context())
	var wg, side sync.WaitGroup
	for i := range writers {
		wg.Go(func() { a.writer(uint64(i+1), statements) })
	}
	if during != nil {
		side.Go(func() { during(ctx) })
	}
	wg.Wait()
	stop()
	side.Wait()
}

// check compares the tables with what was told.
func (a *attack) check() {
	a.t.Helper()
	a.t.Logf("statements, with codes of errors: %v", a.kinds)
	for table, rows := range a.rows {
		counted, between := 0, 0
		if err := a.db.QueryRowContext(a.t.Context(), "SELECT COUNT(*), COALESCE(SUM(id BETWEEN 10000000 AND ?), 0) FROM "+table+" WHERE id < ?", snowID-1, snowID).Scan(&counted, &between); err != nil {
			a.t.Fatal(err)
		}
		a.t.Logf("%s: %d rows that were counted, %d of them told", table, counted, len(rows))
		if between > 0 {
			a.t.Errorf("%s: %d numbers are too high", table, between)
		}
		var above int64
		if err := a.db.QueryRowContext(a.t.Context(), "SELECT COALESCE(MAX(id), 0) FROM "+table).Scan(&above); err != nil || above > snowID+a.snow.Load() {
			a.t.Errorf("%s: the highest id is %d, %v", table, above, err)
		}
		there := map[int64]bool{}
		for _, id := range column(a.t, a.db, "SELECT id FROM "+table) {
			var n int64
			_, _ = fmt.Sscan(id, &n)
			there[n] = true
		}
		for id := range rows {
			if !there[id] {
				a.t.Errorf("%s: %d was committed, and is not there", table, id)
			}
		}
	}
}

// TestOldAndNew lets old and new programs insert side by side, while sessions and statements are killed.
func TestOldAndNew(t *testing.T) {
	a := newAttack(t, serve(t))
	a.run(8, testscale.Of(150, 3000), func(ctx context.Context) { a.killer(ctx, rand.New(rand.NewPCG(1, 2))) })
	a.check()
}

// TestOldAndNewWithTriggers does the same with triggers of the user that insert into other tables, before and after.
func TestOldAndNewWithTriggers(t *testing.T) {
	a := newAttack(t, serve(t),
		"CREATE TRIGGER orders_before BEFORE INSERT ON orders FOR EACH ROW INSERT INTO other (w) VALUES (1)",
		"CREATE TRIGGER orders_after AFTER INSERT ON orders FOR EACH ROW INSERT INTO other (w) VALUES (1), (2)",
		"CREATE TRIGGER second_after AFTER INSERT ON second FOR EACH ROW INSERT INTO free (w) VALUES (1)")
	a.run(8, testscale.Of(150, 3000), func(ctx context.Context) { a.killer(ctx, rand.New(rand.NewPCG(1, 2))) })
	a.check()
	// Rows of statements that fail use up numbers.
	if highest := joined(t, a.db, "SELECT MAX(id) < 10 + 20 * COUNT(*) FROM free"); highest != "1" {
		t.Errorf("the table of the triggers has the ids %s", joined(t, a.db, "SELECT CONCAT(MAX(id), ' of ', COUNT(*)) FROM free"))
	}
}

// TestServerKilled kills the server again and again. No number is given twice.
func TestServerKilled(t *testing.T) {
	server := serve(t)
	a := newAttack(t, server)
	for range testscale.Of(3, 25) {
		a.run(4, 60, func(ctx context.Context) {
			for blocks := ""; ctx.Err() == nil; {
				now := joined(t, a.db, "SELECT COUNT(*) DIV 10 FROM orders")
				if blocks != "" && now != blocks {
					a.mu.Lock()
					a.kills++
					a.mu.Unlock()
					server.Kill(t)
					server.Restart(t)
					return
				}
				blocks = now
			}
		})
	}
	a.check()
}
