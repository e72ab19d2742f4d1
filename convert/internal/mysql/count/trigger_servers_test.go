package count

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

const ordersTable = "CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL DEFAULT 1, CHECK (n > 0))"

// TestPromotedReplica: the replica has the same ids, and goes on above them, also if the primary's transactions that
// took blocks were rolled back.
func TestPromotedReplica(t *testing.T) {
	options := []string{"binlog-format=ROW"}
	server := serve(t, options...)
	replica := server.Replica(t)
	database := server.CreateDatabase(t)
	db := openAt(t, server.DSN(database), ordersTable)
	do(t, db, allSteps(planOf(counted1("orders", 10))))
	a, b := connect(t, db), connect(t, db)
	must(t, a, "BEGIN", "INSERT INTO orders (n) VALUES (1)", "ROLLBACK")
	must(t, b, "BEGIN", "INSERT INTO orders (n) VALUES (1)", "ROLLBACK")
	insert(t, a, "INSERT INTO orders (n) VALUES (2), (3)")
	insert(t, a, "INSERT INTO orders (id) VALUES (380000000000000000)")
	if id := insert(t, b, "INSERT INTO orders (n) VALUES (4)"); id != 31 {
		t.Errorf("the number is %d", id)
	}
	if _, err := b.ExecContext(t.Context(), "INSERT INTO orders (n) VALUES (-1)"); err == nil {
		t.Error("the check is missing")
	}
	insert(t, b, "INSERT INTO orders (n) VALUES (5), (6)")
	want := joined(t, db, "SELECT id FROM orders ORDER BY id")
	replica.CatchUp(t, server)
	server.Kill(t)
	replica.Promote(t)
	promoted := openAt(t, replica.DSN(database))
	if got := joined(t, promoted, "SELECT id FROM orders ORDER BY id"); got != want {
		t.Errorf("the replica has %s, not %s", got, want)
	}
	if id := insert(t, connect(t, promoted), "INSERT INTO orders (n) VALUES (7)"); id != 40 {
		t.Errorf("after the promotion, the number is %d", id)
	}
	if err := allSteps(planOf(counted1("orders", 10)))[2].Verify(t.Context(), &job.Run{DB: promoted}); err != nil {
		t.Error(err)
	}
}

// TestPromotedReplicaMixed shows a limit of binlog_format=MIXED: blocks that were rolled back come again. Rows that
// exist are safe.
func TestPromotedReplicaMixed(t *testing.T) {
	server := serve(t, "binlog-format=MIXED")
	replica := server.Replica(t)
	database := server.CreateDatabase(t)
	db := openAt(t, server.DSN(database), ordersTable)
	do(t, db, allSteps(planOf(counted1("orders", 10))))
	a := connect(t, db)
	must(t, a, "BEGIN", "INSERT INTO orders (n) VALUES (1)", "ROLLBACK")
	insert(t, a, "INSERT INTO orders (n) VALUES (2), (3)")
	replica.CatchUp(t, server)
	server.Kill(t)
	replica.Promote(t)
	s := connect(t, openAt(t, replica.DSN(database)))
	failed := 0
	for n := 4; n < 6; {
		_, err := s.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO orders (n) VALUES (%d)", n))
		if err == nil {
			n++
			continue
		}
		if failed++; sqldialect.Code(err) != "1062" || failed > 2 {
			t.Fatal(err)
		}
	}
	if ids := joined(t, s, "SELECT CONCAT(id, ':', n) FROM orders ORDER BY n"); ids != "21:2 22:3 20:4 23:5" {
		t.Errorf("the rows are %s", ids)
	}
}

// TestDump: a dump of the database has all that counting needs.
func TestDump(t *testing.T) {
	server := serve(t)
	database := server.CreateDatabase(t)
	db := openAt(t, server.DSN(database), ordersTable)
	do(t, db, allSteps(planOf(counted1("orders", 10))))
	s := connect(t, db)
	insert(t, s, "INSERT INTO orders (n) VALUES (2), (3)")
	insert(t, s, "INSERT INTO orders (id) VALUES (380000000000000000)")
	config, err := mysql.ParseDSN(server.DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	program := "mariadb-dump"
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s: %v", program, err)
	}
	host, port, err := net.SplitHostPort(config.Addr)
	if err != nil {
		t.Fatal(err)
	}
	var text, complaint bytes.Buffer
	dump := exec.CommandContext(t.Context(), program, "--host="+host, "--port="+port, "--user="+config.User, "--password="+config.Passwd, "--triggers", "--single-transaction", database)
	dump.Stdout, dump.Stderr = &text, &complaint
	if err := dump.Run(); err != nil {
		if strings.Contains(server.Product(t), "MySQL") {
			t.Skipf("MariaDB's client and MySQL: %v: %s", err, complaint.String())
		}
		t.Fatalf("%v: %s", err, complaint.String())
	}
	other := server.CreateDatabase(t)
	load := exec.CommandContext(t.Context(), "mariadb", "--host="+host, "--port="+port, "--user="+config.User, "--password="+config.Passwd, other)
	load.Stdin = &text
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if id := insert(t, connect(t, openAt(t, server.DSN(other))), "INSERT INTO orders (n) VALUES (2), (3)"); id != 30 {
		t.Errorf("in the copy, the number is %d", id)
	}
}

// TestLongStatementsOfTwo: with others between its blocks, a statement that is too long fails, and the next one of its
// session takes more at once. With Scatter it goes on further up.
func TestLongStatementsOfTwo(t *testing.T) {
	rows := "INSERT INTO orders (n) VALUES " + strings.TrimSuffix(strings.Repeat("(1),", 25), ",")
	for _, scatter := range []bool{false, true} {
		t.Run(fmt.Sprint("scatter ", scatter), func(t *testing.T) {
			db := openDatabase(t, serve(t), ordersTable)
			table := counted1("orders", 10)
			table.Scatter = scatter
			do(t, db, allSteps(planOf(table)))
			a, b := connect(t, db), connect(t, db)
			insert(t, a, "INSERT INTO orders (n) VALUES (1)")
			insert(t, b, "INSERT INTO orders (n) VALUES (1)")
			_, err := a.ExecContext(t.Context(), rows)
			if (err == nil) != scatter || err != nil && sqldialect.Code(err) != "1644" {
				t.Errorf("the long statement ends with %v", err)
			}
			if scatter {
				if ids := joined(t, db, "SELECT COUNT(*) FROM orders WHERE id BETWEEN 21 AND 29 OR id BETWEEN 40 AND 55"); ids != "25" {
					t.Errorf("the ids are %s", joined(t, db, "SELECT id FROM orders"))
				}
				insert(t, a, "INSERT INTO orders (n) SELECT n FROM orders")
				insert(t, a, "INSERT INTO orders (id) VALUES (NULL), (380000000000000000), (NULL), (NULL)")
				return
			}
			first := insert(t, a, rows)
			if ids := joined(t, db, "SELECT COUNT(*) FROM orders WHERE id BETWEEN ? AND ?", first, first+24); ids != "25" {
				t.Errorf("%s rows from %d on", ids, first)
			}
		})
	}
}

// TestTooEarly: what old programs see when Finish came too early.
func TestTooEarly(t *testing.T) {
	db := openDatabase(t, serve(t), ordersTable)
	p := planOf(counted1("orders", 10))
	do(t, db, allSteps(p))
	do(t, db, FinishSteps(p))
	s := connect(t, db)
	if _, err := s.ExecContext(t.Context(), "INSERT INTO orders (n) VALUES (1)"); sqldialect.Code(err) != "1364" {
		t.Errorf("a row without an id ends with %v", err)
	}
	if _, err := s.ExecContext(t.Context(), "INSERT INTO orders (id, n) VALUES (NULL, 1)"); sqldialect.Code(err) != "1048" {
		t.Errorf("a row with NULL ends with %v", err)
	}
	must(t, s, "SET SESSION sql_mode = ''", "INSERT INTO orders (n) VALUES (1)") // a limit: one row gets the id 0
	if ids := joined(t, db, "SELECT id FROM orders"); ids != "0" {
		t.Errorf("without strict mode, the id is %s", ids)
	}
	if _, err := s.ExecContext(t.Context(), "INSERT INTO orders (n) VALUES (1)"); sqldialect.Code(err) != "1062" {
		t.Errorf("the second one ends with %v", err)
	}
}

// TestResetSession: a pool that resets its sessions loses their blocks, and no number that is left comes elsewhere.
func TestResetSession(t *testing.T) {
	server := serve(t)
	database := server.CreateDatabase(t)
	db := openAt(t, server.DSN(database), ordersTable, "CREATE TABLE other (id INT AUTO_INCREMENT PRIMARY KEY, w INT)")
	p := planOf(counted1("orders", 10))
	p.Guards = []string{"other"}
	do(t, db, allSteps(p))
	proxy := newResetter(t, server)
	s := connect(t, openAt(t, strings.Replace(server.DSN(database), server.Addr(), proxy.addr, 1)))
	insert(t, s, "INSERT INTO orders (n) VALUES (1)")
	if _, err := s.ExecContext(t.Context(), "INSERT INTO orders (n) VALUES (-1)"); err == nil {
		t.Error("the check is missing")
	}
	if list := joined(t, s, "SELECT @@insert_id"); list != "21" {
		t.Errorf("insert_id is %s", list)
	}
	proxy.reset(t)
	t.Logf("after the reset, insert_id is %s", joined(t, s, "SELECT @@insert_id"))
	must(t, s, "INSERT INTO other (w) VALUES (1)")
	if id := joined(t, s, "SELECT id FROM other"); id != "1" {
		t.Errorf("the other table has %s", id)
	}
	if id := insert(t, s, "INSERT INTO orders (n) VALUES (1)"); id != 30 {
		t.Errorf("after the reset, the number is %d", id)
	}
}

// A resetter stands between one client and the server, and can reset the session as pools of other languages do.
type resetter struct {
	addr    string
	server  net.Conn
	replies chan []byte // replies to resets, while one is asked for
	asked   chan struct{}
}

func newResetter(t *testing.T, server *dbtest.Server) *resetter {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	p := &resetter{addr: l.Addr().String(), replies: make(chan []byte, 1), asked: make(chan struct{}, 1)}
	if p.server, err = net.Dial("tcp", server.Addr()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.server.Close() })
	go func() {
		client, err := l.Accept()
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(p.server, client) }()
		buffer := make([]byte, 1<<16)
		for {
			n, err := p.server.Read(buffer)
			if err != nil {
				_ = client.Close()
				return
			}
			select {
			case <-p.asked:
				p.replies <- bytes.Clone(buffer[:n])
			default:
				_, _ = client.Write(buffer[:n])
			}
		}
	}()
	return p
}

// reset sends COM_RESET_CONNECTION, and takes the reply.
func (p *resetter) reset(t *testing.T) {
	t.Helper()
	p.asked <- struct{}{}
	if _, err := p.server.Write([]byte{1, 0, 0, 0, 31}); err != nil {
		t.Fatal(err)
	}
	if reply := <-p.replies; len(reply) < 5 || reply[4] != 0 {
		t.Fatalf("the reset ends with %x", reply)
	}
}
