//go:build unix

package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/testscale"
)

// writers change the database and its twin in the same transactions, in random ways.
type writers struct {
	h      *house
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu       sync.Mutex
	more     *sync.Cond
	done     int
	refused  map[uint16]int // by error number
	mistakes []string
}

// startWriters starts as many sessions, half of them with READ COMMITTED. The settings of sql_mode differ.
func startWriters(h *house, n int, seed uint64) *writers {
	ctx, cancel := context.WithCancel(context.Background())
	w := &writers{h: h, cancel: cancel, refused: map[uint16]int{}}
	w.more = sync.NewCond(&w.mu)
	db, err := sql.Open("mysql", h.server.DSN(h.name)+"&interpolateParams=true")
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { db.Close() })
	for i := range n {
		conn, err := db.Conn(ctx)
		if err != nil {
			h.Fatal(err)
		}
		modes := []string{"", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES", "STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE", "PAD_CHAR_TO_FULL_LENGTH"}
		isolation := []string{"READ COMMITTED", "REPEATABLE READ"}
		for _, setting := range []string{
			"SET SESSION sql_mode = '" + modes[i%len(modes)] + "'",
			"SET SESSION TRANSACTION ISOLATION LEVEL " + isolation[i%2],
			fmt.Sprintf("SET SESSION time_zone = '+0%d:00'", i%9),
		} {
			if _, err := conn.ExecContext(ctx, setting); err != nil {
				h.Fatal(err)
			}
		}
		w.wait.Go(func() {
			defer conn.Close()
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for ctx.Err() == nil {
				w.transaction(conn, random, i, n)
				time.Sleep(5 * time.Millisecond) // leaves some of the processor to the conversion
			}
		})
	}
	return w
}

// stop ends the writers, and the test if a statement failed that must not.
func (w *writers) stop() {
	w.h.Helper()
	w.cancel()
	w.wait.Wait()
	for _, m := range w.mistakes {
		w.h.Error(m)
	}
	w.h.Logf("writers: %d transactions, refused by error number: %v", w.done, w.refused)
	if w.done == 0 {
		w.h.Error("no transaction was done")
	}
}

// transaction does some random statements.
func (w *writers) transaction(conn *sql.Conn, random *rand.Rand, i, n int) {
	ctx := context.Background()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		w.mistake("begin: %v", err)
		return
	}
	if random.IntN(4) == 0 { // a snapshot that is older than what comes
		_, err = tx.ExecContext(ctx, "SELECT COUNT(*) FROM orders")
	}
	for range 1 + random.IntN(4) {
		if err == nil {
			err = w.statement(ctx, tx, random, i, n)
		}
	}
	if err != nil || random.IntN(12) == 0 {
		_ = tx.Rollback()
	} else {
		err = tx.Commit()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done++
	w.more.Broadcast()
	if err == nil {
		return
	}
	w.refused[code(err)]++
	switch code(err) {
	case 1213, 1205, 1451, 1452, 1062, 1467: // deadlock, lock wait, a foreign key in both ways, a unique key, a lock of a counter
	default:
		w.mistakes = append(w.mistakes, err.Error())
	}
}

func (w *writers) mistake(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mistakes = append(w.mistakes, fmt.Sprintf(format, args...))
}

// statement does one random statement in both databases. A statement that the first has done must be done by the twin.
func (w *writers) statement(ctx context.Context, tx *sql.Tx, random *rand.Rand, i, n int) error {
	pick := func(table string) string { // the row is chosen in the twin: the tables change names
		var id sql.NullString
		query := fmt.Sprintf("SELECT id FROM %s.%s WHERE id %% %d = %d AND id >= ? ORDER BY id LIMIT 1", quote(w.h.twin), table, n, i)
		if err := tx.QueryRowContext(ctx, query, random.IntN(1500)).Scan(&id); err != nil {
			return "0"
		}
		return id.String
	}
	word := fmt.Sprintf("%d-%x", i, random.Uint32())
	user, order := pick("users"), pick("orders")
	free := fmt.Sprint(100_000 + random.IntN(1_000_000)*n + i)
	var statement string
	switch random.IntN(20) {
	case 0, 1, 2:
		statement = "INSERT INTO {}users ({id}email, code, born, seen, flags, ratio, share, photo, extra, old_name, kind, kinds, hidden) VALUES ({new}'" + word + "', " +
			[]string{"NULL", "'" + word[:min(8, len(word))] + "'"}[random.IntN(2)] +
			", '2001-02-03', '2021-03-04 05:06:07.891', b'10101', 0.1 + 0.2, 0.3, X'00ff27', '{\"a\": [1, 2.50]}', X'e9', 'b', 'x,y', 5)"
	case 3, 4:
		statement = "INSERT INTO {}orders ({id}user_id, number, total, user_code) SELECT {new}id, '" + word + "', 1.5, code FROM {}users WHERE id = " + user
	case 5, 6:
		statement = "INSERT IGNORE INTO {}order_lines (order_id, line, what) SELECT id, " + fmt.Sprint(random.IntN(4)) + ", '" + word + "' FROM {}orders WHERE id = " + order
	case 7:
		statement = "INSERT INTO {}notes ({id}order_id, line, text) SELECT {new}order_id, line, '" + word + "' FROM {}order_lines WHERE order_id = " + order + " LIMIT 1"
	case 8:
		statement = "INSERT IGNORE INTO {}tags (name, order_id) SELECT '" + []string{"A", "a", "é", "ß"}[random.IntN(4)] + "', id FROM {}orders WHERE id = " + order
	case 9:
		statement = "UPDATE {}users SET email = CONCAT('" + word + "', id), ratio = RADIANS(id), born = IF(id % 2, NULL, '1999-12-31') WHERE id = " + user
	case 10:
		statement = "UPDATE {}users SET id = " + free + " WHERE id = " + user
	case 11:
		statement = "UPDATE {}orders SET id = " + free + " WHERE id = " + order
	case 12:
		statement = "UPDATE {}order_lines SET line = line + 10 WHERE order_id = " + order + " ORDER BY line DESC"
	case 13:
		statement = "DELETE FROM {}users WHERE id = " + user
	case 14:
		statement = "DELETE FROM {}orders WHERE id = " + order
	case 15:
		statement = "INSERT INTO {}profiles (user_id, bio, user_code) SELECT id, '" + word + "', code FROM {}users WHERE id = " + user + " ON DUPLICATE KEY UPDATE bio = VALUES(bio)"
	case 16:
		if w.h.keysInSQL {
			return nil // see TestReplace
		}
		statement = "REPLACE INTO {}order_lines (order_id, line, what) SELECT id, 1, '" + word + "' FROM {}orders WHERE id = " + order
	case 17:
		statement = "UPDATE {}orders AS o JOIN {}order_lines AS l ON l.order_id = o.id SET o.total = o.total + 1, l.what = CONCAT(LEFT(l.what, 20), 'x') WHERE o.id = " + order
	case 18:
		statement = "UPDATE {}users SET code = " + []string{"NULL", "'" + word[:min(8, len(word))] + "'"}[random.IntN(2)] + " WHERE id = " + user
	case 19:
		statement = "UPDATE {}users SET manager_id = " + user + ", department_id = (SELECT MIN(id) FROM {}departments) WHERE id = " + pick("users")
	}
	return w.both(ctx, tx, statement)
}

// both does a statement in the database and in its twin, where a row gets the id that the database has given.
func (w *writers) both(ctx context.Context, tx *sql.Tx, statement string) error {
	done, err := tx.ExecContext(ctx, strings.NewReplacer("{}", "", "{id}", "", "{new}", "").Replace(statement))
	if err != nil {
		if code(err) == 0 {
			w.mistake("%s: %v", statement, err)
		}
		return err
	}
	changed, _ := done.RowsAffected()
	id, _ := done.LastInsertId()
	column := ""
	if strings.Contains(statement, "{id}") && changed > 0 {
		column = "id, "
		if id <= 0 {
			w.mistake("%s: the reply has no id: %d", statement, id)
		}
	}
	given := ""
	if column != "" {
		given = fmt.Sprint(id) + ", "
	}
	again, err := tx.ExecContext(ctx, strings.NewReplacer("{}", quote(w.h.twin)+".", "{id}", column, "{new}", given).Replace(statement))
	if err != nil {
		if code(err) != 1213 && code(err) != 1205 {
			w.mistake("%s: only the twin refuses it: %v", statement, err)
		}
		return err
	}
	if n, _ := again.RowsAffected(); n != changed {
		w.mistake("%s: %d rows, and %d of the twin", statement, changed, n)
	}
	return nil
}

// fill gives both databases some rows.
func (h *house) fill(rows int) {
	h.Helper()
	for _, name := range []string{h.name, h.twin} {
		in := quote(name) + "."
		for i := range rows {
			h.exec(fmt.Sprintf("INSERT INTO %susers (id, email, code, manager_id) VALUES (%d, 'u%d', 'c%d', NULLIF(%d, 0))", in, i+1, i, i, i/2))
			h.exec(fmt.Sprintf("INSERT INTO %sorders (id, user_id, number, user_code) VALUES (%d, %d, 'n%d', 'c%d')", in, i+1, i+1, i, i))
			h.exec(fmt.Sprintf("INSERT INTO %sorder_lines VALUES (%d, 1, 'a'), (%d, 2, 'b')", in, i+1, i+1))
			h.exec(fmt.Sprintf("INSERT INTO %snotes (id, order_id, line, text) VALUES (%d, %d, 1, 't')", in, i+1, i+1))
			h.exec(fmt.Sprintf("INSERT INTO %sprofiles VALUES (%d, 'b%d', 'c%d')", in, i+1, i, i))
			h.exec(fmt.Sprintf("INSERT INTO %stags VALUES ('a', %d), ('A', %d)", in, i+1, i+1))
		}
		h.exec("SET SESSION sql_mode = ''")
		h.exec(fmt.Sprintf("INSERT INTO %sdepartments (id, name, head_id) VALUES (1, 'one', 1), (2, 'two', NULL)", in))
		h.exec("UPDATE " + in + "users SET department_id = 1 + id % 2")
	}
}

func TestWidenWithWriters(t *testing.T) {
	h := newHouse(t, shop)
	h.needNativeKeys(t)
	h.fill(60)
	before := h.definitions()
	w := startWriters(h, 4, 1)
	for _, s := range h.steps() {
		h.do(s)
	}
	w.stop()
	h.compare()
	after := h.definitions()
	for name := range after {
		if before[name] != after[name] {
			t.Errorf("%s was\n%s\nand is\n%s", name, before[name], after[name])
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d tables became %d", len(before), len(after))
	}
}

// TestWritersAlone says what the server refuses without a conversion: compare it with the logs of the other tests.
func TestWritersAlone(t *testing.T) {
	h := newHouse(t, shop)
	h.fill(60)
	w := startWriters(h, 4, 1)
	w.until(testscale.Of(200, 1500))
	w.stop()
	h.compare()
}

// until returns when so many more transactions are done.
func (w *writers) until(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for goal := w.done + n; w.done < goal; {
		w.more.Wait()
	}
}
