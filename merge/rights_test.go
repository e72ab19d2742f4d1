//go:build unix

package merge_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/merge/report"
)

// A dry run finds out which rights the account lacks, and a run without them ends before it writes.
func TestRights(t *testing.T) {
	f := newFixture(t, "", players, somePlayers("a", 30))
	f.tables()
	name := f.rows(f.target, "SELECT DATABASE()")
	source := f.rows(f.sources[0].DB, "SELECT DATABASE()")
	config, err := mysql.ParseDSN(f.dsn(name))
	if err != nil {
		t.Fatal(err)
	}
	config.User, config.Passwd = "limited", ""
	admin := f.target
	for _, test := range []struct {
		name, do, undo string
		want           string // part of what the dry run says; empty if it passes
		open           bool   // it is only open
	}{
		{name: "only reads", do: "GRANT SELECT ON " + name + ".* TO 'limited'@'%'", want: "write to table"},
		{name: "makes no tables", do: "GRANT SELECT, INSERT, UPDATE, DELETE ON " + name + ".* TO 'limited'@'%'", want: "make the ledger"},
		{name: "a server that takes no writes", do: "SET GLOBAL read_only = ON", undo: "SET GLOBAL read_only = OFF", want: "read-only"},
		{
			name: "no temporary tables", do: "ALTER TABLE players ADD CONSTRAINT named CHECK (name <> '')", undo: "ALTER TABLE players DROP CONSTRAINT named",
			want: "could not be tried", open: true,
		},
		{name: "all that a run needs", do: "DO 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f.exec(admin, "CREATE USER 'limited'@'%'", "GRANT SELECT ON "+source+".* TO 'limited'@'%'")
			if !strings.HasPrefix(test.do, "GRANT") {
				f.exec(admin, "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, INDEX, DROP ON "+name+".* TO 'limited'@'%'")
			}
			f.exec(admin, test.do)
			db, err := sql.Open("mysql", config.FormatDSN())
			if err != nil {
				t.Fatal(err)
			}
			f.target = db
			forecast, err := f.merge().DryRun(t.Context())
			var ran error
			if err == nil && !test.open && test.want != "" {
				_, ran = f.merge().Run(t.Context())
			}
			f.target = admin
			if test.undo != "" {
				f.exec(admin, test.undo)
			}
			f.exec(admin, "DROP USER 'limited'@'%'")
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			told := forecast.Err()
			if test.want == "" {
				if told != nil {
					t.Errorf("got %v, want nil", told)
				}
				return
			}
			if told == nil || !strings.Contains(told.Error(), test.want) || errors.As(told, new(*report.OpenError)) != test.open {
				t.Errorf("the dry run says %v, want %q", told, test.want)
			}
			if !test.open && ran == nil {
				t.Error("the run was not refused")
			}
			if n := f.rows(admin, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE 'snow_merge%'"); n != "0" {
				t.Errorf("%s tables of the ledger were made", n)
			}
		})
	}
}
