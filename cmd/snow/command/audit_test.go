package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shardsnow/snow/cmd/snow/internal/audit"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
)

func TestAudit(t *testing.T) {
	newRegistry(t)
	if got := execute(t, "audit"); got.status != 0 || got.stdout != "nothing was found in 0 tables\n" {
		t.Errorf("%+v", got)
	}
	f := &databaseFlags{dsn: "env:SNOW_DSN", access: database.Existing, timeout: 10e9}
	db, err := f.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{
		"CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT)", "CREATE TABLE users (id INTEGER PRIMARY KEY)",
		"INSERT INTO users VALUES (9223372036854775807)",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	got := execute(t, "audit")
	for _, want := range []string{
		"error    users.id: its largest value is 9223372036854775807", "warning  orders.id: the table makes up its own numbers", "; 0.0 % of its numbers are used, 0 of 9223372036854775807\n", "         remedy: ",
		"\n         CREATE TABLE \"snow_audit_copy\" (id BIGINT NOT NULL PRIMARY KEY);\n",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is not in %s", want, got.stdout)
		}
	}
	if got.status != 3 || !strings.Contains(got.stderr, "audit: 2 findings in 2 tables") {
		t.Errorf("%+v", got)
	}
	got = execute(t, "audit", "-json", "-ignore", "us*")
	var report audit.Report
	if err := json.Unmarshal([]byte(got.stdout), &report); err != nil || got.status != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if c := report.Findings[0].Counter; c == nil || c.Used != "0" || c.Limit != "9223372036854775807" || len(report.Findings[0].Statements) < 8 {
		t.Errorf("%+v", report)
	}
	if len(report.Findings) != 1 || report.Findings[0].Table != "orders" || report.Findings[0].Severity != audit.Warning || report.Tables != 1 {
		t.Errorf("%+v", report)
	}
	if got := execute(t, "audit", "-ignore", "users", "-ignore", "orders.id"); got.status != 0 {
		t.Errorf("%+v", got)
	}
	if got := execute(t, "audit", "-ignore", "["); got.status != 2 {
		t.Errorf("%+v", got)
	}
	if got := execute(t, "audit", "-namespace", "nix"); got.status != 1 || !strings.Contains(got.stderr, `"snow init" makes a namespace`) {
		t.Errorf("%+v", got)
	}
}

func TestPrintableSQL(t *testing.T) {
	if got := printableLines("CREATE TABLE t ( -- \x1b\r\n\n\tid INT)"); got != "CREATE TABLE t ( -- ?\n\n id INT)" {
		t.Errorf("%q", got)
	}
}
