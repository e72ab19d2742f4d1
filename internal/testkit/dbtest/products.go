//go:build unix

package dbtest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// MariaDB starts a server that speaks MySQL's protocol and lives as long as the test: MariaDB, or the server that
// SNOW_MYSQL_SERVER names. Options are server variables as "name=value". A server with options is always private: a
// test that changes a global setting asks for one with options.
//
// The server ends after the cleanups that the test registers later, such as closing connections.
func MariaDB(tb testing.TB, options ...string) *Server {
	tb.Helper()
	if name := os.Getenv("SNOW_MYSQL_SERVER"); name != "" && (os.Getenv(mysqlProtocol{}.env()) == "" || len(options) > 0) {
		return Named(tb, name, options...)
	}
	return open(tb, mariadb{}, options)
}

// Postgres starts a PostgreSQL server that lives as long as the test, as [MariaDB] does. SNOW_POSTGRES_SERVER may
// name another version, or a pooler in front of it. Options are server parameters as "name=value".
func Postgres(tb testing.TB, options ...string) *Server {
	tb.Helper()
	if name := os.Getenv("SNOW_POSTGRES_SERVER"); name != "" && (os.Getenv(postgres{}.env()) == "" || len(options) > 0) {
		return Named(tb, name, options...)
	}
	return open(tb, postgres{}, options)
}

// MySQL starts a server of Oracle's MySQL that lives as long as the test, from the folder of newer servers. Options
// are as for [MariaDB]. Without its programs the test is skipped, or fails if databases are required.
func MySQL(tb testing.TB, options ...string) *Server {
	tb.Helper()
	return Named(tb, "mysql", options...)
}

// Named starts a private server of a product that lives as long as the test. The names are
//
//	mysql, mariadb, postgres    the newest version in the folder of newer servers
//	mysql-9.7, postgres-18, …   a version there
//	galera                      the first node of a cluster of two, as of [Galera]
//	pgbouncer                   a PgBouncer in transaction mode in front of the system's PostgreSQL
//	pgbouncer-newest            the newest version there, in front of the newest PostgreSQL there
func Named(tb testing.TB, name string, options ...string) *Server {
	tb.Helper()
	product, version, _ := strings.Cut(name, "-")
	s := &Server{options: options}
	switch product {
	case "mysql":
		s.engine = mysql{installation: newer(name)}
	case "mariadb":
		s.engine = mariadb{installation: newer(name)}
	case "postgres":
		s.engine = postgres{newer(name)}
	case "galera":
		return Galera(tb, 2, options...)[0]
	case "pgbouncer":
		bouncer := installation{}
		s.engine = postgres{}
		if version != "" {
			bouncer, s.engine = newer(strings.TrimSuffix(name, "-newest")), postgres{newer("postgres")}
		}
		s.open(tb)
		// PgBouncer refuses clients with settings that it can't give back to each of them. Settings that it ignores
		// make no difference.
		settings := []string{
			"server_login_retry = 1", "max_client_conn = 2000",
			"ignore_startup_parameters = default_transaction_isolation, synchronous_commit, extra_float_digits, bytea_output",
		}
		if version != "" {
			settings = append(settings, "track_extra_parameters = IntervalStyle, search_path")
		}
		// As many as PostgreSQL accepts without an option, less a few for the package and for the tests' own.
		s.pool = s.pooler(tb, bouncer, 90, settings...)
		if version == "" {
			s.pool += "&default_query_exec_mode=exec" // before 1.21, PgBouncer knows no prepared statements
		}
		return s
	default:
		tb.Fatalf("dbtest: no server is named %q", name)
	}
	s.open(tb)
	return s
}

// Product returns the server's product and version, for messages and for what only some servers can do.
func (s *Server) Product(tb testing.TB) string {
	tb.Helper()
	query := "SELECT VERSION()"
	if _, ok := s.engine.(postgres); ok {
		query = "SHOW server_version"
	}
	return fmt.Sprint(s.engine.name(), " ", s.run(tb, s.dsn, query))
}

// Variable returns what the server calls a variable of MariaDB, such as tx_isolation, which MySQL knows as
// transaction_isolation.
func (s *Server) Variable(name string) string {
	if _, ok := s.engine.(mysql); ok && strings.HasPrefix(name, "tx_") {
		return "transaction_" + strings.TrimPrefix(name, "tx_")
	}
	return name
}

var sequence = regexp.MustCompile(`\bseq_1_to_(\d+)\b`)

// Sequences changes a statement so that MySQL, too, finds MariaDB's tables seq_1_to_…, with their column seq.
// Each product reads one of the comments, and runs what is in it.
func Sequences(statement string) string {
	return sequence.ReplaceAllString(statement, "/*M! $0 */ /*!80000 (WITH RECURSIVE s (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM s WHERE seq < $1)"+
		" SELECT seq FROM s) AS $0 */")
}
