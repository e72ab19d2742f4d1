//go:build unix

package dbtest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestGivenServer(t *testing.T) {
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		private := start(t)
		if private.engine.name() == "MySQL" {
			t.Skip("MySQL is never given: MariaDB takes what SNOW_MYSQL_DSN names")
		}
		env := private.engine.env()
		t.Setenv(env, private.dsn)
		var name string
		t.Run("given", func(t *testing.T) {
			s := start(t)
			if s.Addr() != private.Addr() {
				t.Errorf("address: got %s, want %s", s.Addr(), private.Addr())
			}
			name = s.CreateDatabase(t)
			s.run(t, s.DSN(name), "CREATE TABLE t (id BIGINT PRIMARY KEY)")
			for action, f := range map[string]func(testing.TB){
				"kill": s.Kill, "stop": s.Stop, "continue": s.Continue, "restart": s.Restart, "put back": s.PutBack,
				"set the clock": func(tb testing.TB) { s.SetClock(tb, time.Hour) },
			} {
				want := fmt.Sprintf("fatal: dbtest: %s: %s needs a private server, but %s is set", s.engine.name(), action, env)
				if got := record(t, f); got != want {
					t.Errorf("%s:\ngot  %s\nwant %s", action, got, want)
				}
			}
		})
		if s := start(t, "max_connections=17"); s.Addr() == private.Addr() {
			t.Error("options: got the server that was given")
		}
		private.run(t, private.dsn, private.engine.create(name)) // would be refused if it had not been dropped
		t.Setenv(env, "secret")
		if got := record(t, func(tb testing.TB) { start(tb) }); !strings.HasPrefix(got, "fatal: dbtest: "+env) || strings.Contains(got, "secret") {
			t.Errorf("bad DSN: got %q, want the variable's name and not its value", got)
		}
	})
}

func TestDSN(t *testing.T) {
	for _, test := range []struct {
		engine         engine
		given          string
		dsn, addr, bad string
	}{
		{engine: mariadb{}, given: "u:p/@:w@tcp(h:1)/old?loc=UTC", dsn: "u:p/@:w@tcp(h:1)/new?parseTime=true&loc=UTC", addr: "h:1"},
		{engine: mariadb{}, given: "u@tcp(h)/", dsn: "u@tcp(h:3306)/new?parseTime=true", addr: "h:3306"},
		{engine: mariadb{}, given: "u@tcp([::1])/", dsn: "u@tcp([::1]:3306)/new?parseTime=true", addr: "[::1]:3306"},
		{engine: mariadb{}, given: "u@unix(/run/s.sock)/x?parseTime=false", dsn: "u@unix(/run/s.sock)/new?parseTime=false", addr: "/run/s.sock"},
		{engine: mariadb{}, given: "/", dsn: "tcp(127.0.0.1:3306)/new?parseTime=true", addr: "127.0.0.1:3306"},
		{engine: mariadb{}, given: "u:p@tcp(h:1)", bad: "no slash before the name of the database"},
		{engine: mariadb{}, given: "u:p@pipe(h)/", bad: `network "pipe" is neither tcp nor unix`},
		{engine: postgres{}, given: "postgres://u:p@h:1/old?sslmode=disable", dsn: "postgres://u:p@h:1/new?sslmode=disable", addr: "h:1"},
		{engine: postgres{}, given: "postgresql://u@h", dsn: "postgresql://u@h/new?application_name=dbtest", addr: "h:5432"},
		{engine: postgres{}, given: "host=h user=u", bad: "not a URL with the scheme postgres"},
		{engine: postgres{}, given: "postgres://u:p@h:port/", bad: "not a URL with the scheme postgres"},
	} {
		err := test.engine.check(test.given)
		if test.bad != "" {
			if err == nil || err.Error() != test.bad {
				t.Errorf("%q: got error %v, want %s", test.given, err, test.bad)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", test.given, err)
			continue
		}
		s := &Server{engine: test.engine, dsn: test.given}
		if got := s.DSN("new"); got != test.dsn {
			t.Errorf("DSN of %q: got %q, want %q", test.given, got, test.dsn)
		}
		if got := s.Addr(); got != test.addr {
			t.Errorf("address of %q: got %q, want %q", test.given, got, test.addr)
		}
	}
}
