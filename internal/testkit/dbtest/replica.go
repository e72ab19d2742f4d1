//go:build unix

package dbtest

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
)

// Replica starts an asynchronous replica of a private server, which lives as long as the test and is read-only
// until [Server.Promote]. A MariaDB server that was started without a binary log is restarted with one, so its
// replica is to be started before its first database.
func (s *Server) Replica(tb testing.TB) *Server {
	tb.Helper()
	s.private(tb, "have a replica")
	if _, ok := s.engine.(postgres); ok {
		return s.Standby(tb)
	}
	if s.run(tb, s.dsn, "SELECT @@log_bin") != "1" {
		if n := s.run(tb, s.dsn, "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'snow\\_%'"); n != "0" {
			tb.Fatalf("dbtest: %s: a replica is to be started before the first database", s.engine.name())
		}
		s.options = append(s.options, "log-bin=binlog", "server-id=1")
		s.Restart(tb)
	}
	copied := &Server{engine: s.engine, options: []string{"log-bin=binlog", fmt.Sprint("server-id=", freePort()), "read-only=1"}}
	copied.open(tb)
	copied.Follow(tb, s)
	return copied
}

// Follow makes a private server a replica of another one, which was started with the options log-bin and server-id;
// the replica needs its own server-id. It repeats everything that the other server has done since its start.
func (s *Server) Follow(tb testing.TB, primary *Server) {
	tb.Helper()
	s.private(tb, "follow")
	host, port, err := net.SplitHostPort(primary.Addr())
	if err != nil {
		tb.Fatal(err)
	}
	follow := "CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=%s, MASTER_USER='%s', MASTER_PASSWORD='%s', MASTER_USE_GTID=slave_pos; START SLAVE"
	if _, ok := s.engine.(mysql); ok {
		follow = "CHANGE REPLICATION SOURCE TO SOURCE_HOST='%s', SOURCE_PORT=%s, SOURCE_USER='%s', SOURCE_PASSWORD='%s', GET_SOURCE_PUBLIC_KEY=1; START REPLICA"
	}
	s.run(tb, s.dsn, fmt.Sprintf(follow, host, port, user, secret()))
}

// Position returns how far the server's log has got, which goes on with every commit: file and offset of MySQL's
// binary log, the GTIDs of MariaDB's, the LSN of PostgreSQL.
func (s *Server) Position(tb testing.TB) string {
	tb.Helper()
	switch s.engine.(type) {
	case mysql:
		status := strings.Fields(s.run(tb, s.dsn, "SHOW BINARY LOG STATUS"))
		return fmt.Sprintf("'%s', %s", status[0], status[1])
	case postgres:
		return s.run(tb, s.dsn, "SELECT pg_current_wal_flush_lsn()")
	default:
		return s.run(tb, s.dsn, "SELECT @@global.gtid_binlog_pos")
	}
}

// CatchUp waits until a replica has repeated everything that its primary has done up to now.
func (s *Server) CatchUp(tb testing.TB, primary *Server) {
	tb.Helper()
	position := primary.Position(tb)
	var reached string
	switch s.engine.(type) {
	case mysql:
		reached = fmt.Sprintf("SELECT IF(SOURCE_POS_WAIT(%s, %d) >= 0, 'yes', 'no')", position, int(timeout.Seconds()))
	case postgres:
		reached = "SELECT CASE WHEN pg_last_wal_replay_lsn() >= '" + position + "' THEN 'yes' ELSE 'no' END"
	default:
		reached = fmt.Sprintf("SELECT IF(MASTER_GTID_WAIT('%s', %d) = 0, 'yes', 'no')", position, int(timeout.Seconds()))
	}
	if !await(func() bool { return s.run(tb, s.dsn, reached) == "yes" }) {
		tb.Fatalf("dbtest: %s: it is not at %s after %v; end of its log:\n%s", s.engine.name(), position, timeout, s.logTail())
	}
}

// Unfollow ends a replication, as the crash of a primary would end it: what the primary does from now on is lost
// when the replica is promoted.
func (s *Server) Unfollow(tb testing.TB) {
	tb.Helper()
	switch s.engine.(type) {
	case mysql:
		s.run(tb, s.dsn, "STOP REPLICA")
	case postgres:
		s.primary = s.run(tb, s.dsn, "SHOW primary_conninfo")
		s.conninfo(tb, "")
		if !await(func() bool { return s.run(tb, s.dsn, "SELECT count(*) FROM pg_stat_wal_receiver") == "0" }) {
			tb.Fatalf("dbtest: %s: it follows after %v", s.engine.name(), timeout)
		}
	default:
		s.run(tb, s.dsn, "STOP SLAVE")
	}
}

// Refollow undoes [Server.Unfollow], if there was one.
func (s *Server) Refollow(tb testing.TB) {
	tb.Helper()
	switch s.engine.(type) {
	case mysql:
		s.run(tb, s.dsn, "START REPLICA")
	case postgres:
		if s.primary != "" {
			s.conninfo(tb, s.primary)
		}
	default:
		s.run(tb, s.dsn, "START SLAVE")
	}
}

// conninfo tells a standby where its primary is.
func (s *Server) conninfo(tb testing.TB, primary string) {
	tb.Helper()
	s.run(tb, s.dsn, "ALTER SYSTEM SET primary_conninfo = '"+strings.ReplaceAll(primary, "'", "''")+"'")
	s.run(tb, s.dsn, "SELECT pg_reload_conf()")
}

// Demote makes a primary read-only for everybody whose transactions don't say otherwise, with all that it has begun
// to write done. Connections stay open.
func (s *Server) Demote(tb testing.TB) {
	tb.Helper()
	switch s.engine.(type) {
	case mysql:
		s.run(tb, s.dsn, "SET GLOBAL super_read_only = 1")
	case postgres:
		s.run(tb, s.dsn, "ALTER SYSTEM SET default_transaction_read_only = on")
		s.run(tb, s.dsn, "SELECT pg_reload_conf()")
		const busy = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()"
		for range 3 { // each look is a new session, and the settings of the others are older by then
			if !await(func() bool { return s.run(tb, s.dsn, busy) == "0" }) {
				tb.Fatalf("dbtest: %s: transactions go on after %v", s.engine.name(), timeout)
			}
		}
	default:
		s.run(tb, s.dsn, "SET GLOBAL read_only = 1")
	}
}

// Promote makes a replica a primary, with what it has repeated up to now.
func (s *Server) Promote(tb testing.TB) {
	tb.Helper()
	switch s.engine.(type) {
	case mysql:
		s.run(tb, s.dsn, "STOP REPLICA; RESET REPLICA ALL; SET GLOBAL super_read_only = 0; SET GLOBAL read_only = 0")
	case postgres:
		if got := s.run(tb, s.dsn, "SELECT pg_promote(true, "+strconv.Itoa(int(timeout.Seconds()))+")"); got != "t" {
			tb.Fatalf("dbtest: %s: promote: %s", s.engine.name(), got)
		}
	default:
		s.run(tb, s.dsn, "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = 0")
	}
}
