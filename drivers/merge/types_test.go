//go:build unix

package merge_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// Keys and references are decimals where databases came from Oracle.
func TestDecimalIDs(t *testing.T) {
	maria, pg := dbtest.SharedMariaDB(t), dbtest.Postgres(t)
	for name, e := range map[string]struct {
		dialect sqlsnow.Dialect
		open    func() *sql.DB
		key     string
		wide    string // in the target, where ids are not numbers of the plan
	}{
		"MariaDB":           {sqlsnow.MySQL, func() *sql.DB { return opened(t, "mysql", maria.DSN(maria.CreateDatabase(t))) }, "DECIMAL(10,0)", "decimal(19,0)"},
		"PostgreSQL":        {sqlsnow.Postgres, func() *sql.DB { return opened(t, "pgx", pg.DSN(pg.CreateDatabase(t))) }, "NUMERIC(10,0)", "numeric(19,0)"},
		"without precision": {sqlsnow.Postgres, func() *sql.DB { return opened(t, "pgx", pg.DSN(pg.CreateDatabase(t))) }, "NUMERIC", "numeric"},
	} {
		t.Run(name, func(t *testing.T) {
			var sources []*sql.DB
			for range 2 {
				db := e.open()
				exec(t, db, "CREATE TABLE chars (id "+e.key+" NOT NULL PRIMARY KEY, name VARCHAR(20), price NUMERIC(12,2))")
				exec(t, db, "CREATE TABLE mails (id INT PRIMARY KEY, sender "+e.key+" NOT NULL, receiver "+e.key+" DEFAULT -1, FOREIGN KEY (sender) REFERENCES chars (id))")
				exec(t, db, "INSERT INTO chars VALUES (7, 'seven', 1.50), (8, 'eight', 3)")
				exec(t, db, "INSERT INTO mails VALUES (1, 7, 8), (2, 8, -1)")
				sources = append(sources, db)
			}
			a := newAttempt(t, e.dialect, e.open(), sources...)
			for name, role := range map[string]plan.Role{"chars.id": plan.RoleKey, "mails.sender": plan.RoleReference} {
				if got := a.column(name).Role; got != role {
					t.Errorf("%s is %s by the schema, want %s", name, got, role)
				}
			}
			p, err := merge.Inspect(t.Context(), e.dialect, a.sources...)
			if err != nil {
				t.Fatal(err)
			}
			if c := p.Table("mails").Column("receiver"); c.Role == plan.RolePlain && len(c.Suspects) == 0 && p.Question("mails.receiver") == nil {
				t.Error("inspect does not ask about mails.receiver")
			}
			a.refer("chars", "mails.receiver")
			a.column("mails.receiver").None = []string{"-1"}
			a.plan.Table("chars").IDs = plan.IDsSnow
			if got := a.plan.TargetType(a.plan.Table("mails"), a.column("mails.sender")); got != e.wide {
				t.Errorf("a reference has type %s, want %s", got, e.wide)
			}
			a.plan.Table("chars").IDs = plan.IDsDense
			a.succeeds()
			const query = "SELECT CONCAT_WS(' ', m.id, s.id, s.name, s.price, r.name, m.receiver) FROM mails m JOIN chars s ON s.id = m.sender LEFT JOIN chars r ON r.id = m.receiver ORDER BY m.id"
			a.wants(query, "1 1 seven 1.50 eight 2; 2 2 eight 3.00 -1; 3 3 seven 1.50 eight 4; 4 4 eight 3.00 -1")
		})
	}
}

// Types that only PostgreSQL has.
func TestTypesOfPostgreSQL(t *testing.T) {
	onPostgres(t, map[string]func(*testing.T, func() *sql.DB){
		"FractionInKey":  testFractionInKey,
		"Domains":        testDomains,
		"DomainOfTarget": testDomainOfTarget,
		"LargeObjects":   testLargeObjects,
		"Paths":          testPaths,
	})
}

// A number with a fraction is no id.
func testFractionInKey(t *testing.T, open func() *sql.DB) {
	source := open()
	exec(t, source, "CREATE TABLE chars (id NUMERIC PRIMARY KEY); INSERT INTO chars VALUES (1), (1.5), (3)")
	newAttempt(t, sqlsnow.Postgres, open(), source).fails("its key is no integer")
}

// A column of a domain is one of the type below, also in arrays.
func testDomains(t *testing.T, open func() *sql.DB) {
	var sources []*sql.DB
	for range 2 {
		db := open()
		exec(t, db, "CREATE DOMAIN positive AS INTEGER CHECK (VALUE > 0); CREATE DOMAIN char_id AS positive; CREATE DOMAIN amount AS NUMERIC(10,0); CREATE DOMAIN word AS TEXT")
		exec(t, db, "CREATE TABLE chars (id char_id PRIMARY KEY, name word, old amount); CREATE TABLE teams (id INT PRIMARY KEY, leader char_id REFERENCES chars, members char_id[], others NUMERIC[])")
		exec(t, db, "INSERT INTO chars VALUES (7, 'seven'), (8, 'eight'); INSERT INTO teams VALUES (1, 8, '{7,8}', '{8}')")
		sources = append(sources, db)
	}
	target := open()
	exec(t, target, "CREATE DOMAIN word AS TEXT")
	a := newAttempt(t, sqlsnow.Postgres, target, sources...)
	for _, name := range []string{"teams.members", "teams.others"} {
		c := a.column(name)
		c.Role, c.Refers = plan.RoleList, []*plan.Reference{{Table: "chars"}}
	}
	if want := "teams: domain char_id[] of column members: Schema makes it integer[]"; !strings.Contains(a.notes(), want) {
		t.Errorf("the notes lack %q: %s", want, a.notes())
	}
	if got := a.column("chars.old").Type + " " + a.column("chars.name").Type; got != "numeric(10,0) word" {
		t.Errorf("got types %s", got)
	}
	a.succeeds()
	a.wants("SELECT concat_ws(' ', t.id, leader, members, others, c.name) FROM teams t JOIN chars c ON c.id = leader ORDER BY t.id", "1 2 {1,2} {2} eight; 2 4 {3,4} {4} eight")
}

// The target's domain refuses values, and a dry run says so.
func testDomainOfTarget(t *testing.T, open func() *sql.DB) {
	source, target := open(), open()
	exec(t, source, "CREATE TABLE chars (id INT PRIMARY KEY, level INT); INSERT INTO chars VALUES (1, 99)")
	a := newAttempt(t, sqlsnow.Postgres, target, source)
	a.schema()
	exec(t, target, "CREATE DOMAIN low AS INT CHECK (VALUE < 90); ALTER TABLE chars ALTER level TYPE low")
	dry, run := a.run()
	for what, err := range map[string]error{"dry run": dry, "run": run} {
		if err == nil || !strings.Contains(err.Error(), "low") {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// The numbers of large objects would be copied, and not the objects.
func testLargeObjects(t *testing.T, open func() *sql.DB) {
	source := open()
	exec(t, source, "CREATE TABLE photos (id INT PRIMARY KEY, photo OID, other OID); INSERT INTO photos VALUES (1, lo_from_bytea(0, 'jpeg'), 5), (2, NULL, NULL)")
	a := newAttempt(t, sqlsnow.Postgres, open(), source)
	for _, want := range []string{"s1: 1 large objects, which are not copied", "photos: column photo: if its numbers are large objects"} {
		if !strings.Contains(a.notes(), want) {
			t.Errorf("the notes lack %q: %s", want, a.notes())
		}
	}
	a.fails(`"photos.photo": in source "s1" its values are 1 large objects`)
	exec(t, source, "ALTER TABLE photos ADD picture BYTEA; UPDATE photos SET picture = lo_get(photo)")
	a = newAttempt(t, sqlsnow.Postgres, open(), source)
	table := a.plan.Table("photos")
	table.Without, table.Columns = []string{"photo"}, append(table.Columns[:1:1], table.Columns[2:]...)
	a.succeeds()
	a.wants("SELECT encode(picture, 'escape') || other FROM photos WHERE id = 1", "jpeg5")
}

// A path of ids is a list.
func testPaths(t *testing.T, create func() *sql.DB) {
	open := func() *sql.DB {
		db := create()
		exec(t, db, "CREATE EXTENSION ltree")
		return db
	}
	var sources []*sql.DB
	for range 2 {
		db := open()
		exec(t, db, "CREATE TABLE nodes (id SERIAL PRIMARY KEY, path LTREE UNIQUE); INSERT INTO nodes (path) VALUES ('1'), ('1.2'), ('1.2.3')")
		sources = append(sources, db)
	}
	a := newAttempt(t, sqlsnow.Postgres, open(), sources...)
	if want := "nodes: column path: if the labels of its paths are ids"; !strings.Contains(a.notes(), want) {
		t.Errorf("the notes lack %q: %s", want, a.notes())
	}
	c := a.column("nodes.path")
	c.Role, c.Refers = plan.RoleList, []*plan.Reference{{Table: "nodes"}}
	if _, err := a.plan.Schema(); err == nil || !strings.Contains(err.Error(), "separator .") {
		t.Errorf("without a separator: got %v", err)
	}
	c.Separator = "."
	a.succeeds()
	a.wants("SELECT path::text FROM nodes ORDER BY id", "1; 1.2; 1.2.3; 4; 4.5; 4.5.6")
}

// A number may stand for nobody, below the numbers of an unsigned key.
func TestNobodyBesideUnsignedKey(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	var sources []*sql.DB
	for range 2 {
		db := opened(t, "mysql", server.DSN(server.CreateDatabase(t)))
		exec(t, db, "CREATE TABLE chars (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY)")
		exec(t, db, "CREATE TABLE houses (id INT AUTO_INCREMENT PRIMARY KEY, owner INT NOT NULL DEFAULT -1)")
		exec(t, db, "INSERT INTO chars VALUES (1), (2)")
		exec(t, db, "INSERT INTO houses (owner) VALUES (2), (-1)")
		sources = append(sources, db)
	}
	for _, ids := range []plan.IDs{plan.IDsDense, plan.IDsSnow} {
		target := opened(t, "mysql", server.DSN(server.CreateDatabase(t)))
		a := newAttempt(t, sqlsnow.MySQL, target, sources...)
		a.refer("chars", "houses.owner")
		a.column("houses.owner").None = []string{"-1"}
		a.plan.Table("chars").IDs = ids
		a.schema()
		exec(t, target, "INSERT INTO houses (id) VALUES (9)")
		a.wants("SELECT owner FROM houses", "-1")
		if ids == plan.IDsSnow {
			continue // it has a namespace, which this test has not
		}
		exec(t, target, "DELETE FROM houses")
		if dry, run := a.run(); dry != nil || run != nil {
			t.Fatal(dry, run)
		}
		a.wants("SELECT owner FROM houses ORDER BY id", "2; -1; 4; -1")
	}
}

// A type of the plan that the target does not get is an error.
func TestTypeOfPlan(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	source := opened(t, "mysql", server.DSN(server.CreateDatabase(t)))
	exec(t, source, "CREATE TABLE chars (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY)")
	exec(t, source, "CREATE TABLE houses (id INT PRIMARY KEY, owner INT UNSIGNED, other INT, FOREIGN KEY (owner) REFERENCES chars (id))")
	schema, err := merge.ReadSchema(t.Context(), sqlsnow.MySQL, merge.Source{Name: "s1", DB: source})
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]string{
		"chars: {columns: {id: {type: int}}}":            `type "int": the target's column is "bigint"`,
		"houses: {columns: {owner: {type: bigint}}}":     `type "bigint": the target's column is "bigint unsigned"`,
		"houses: {columns: {other: {type: bigint}}}":     "",
		"houses: {columns: {other: {type: smallint}}}":   "",
		"houses: {columns: {id: {type: bigint}}}":        "",
		"houses: {columns: {owner: {comment: 'type?'}}}": "",
	} {
		d, err := plan.Shorten(schema, schema)
		if err != nil {
			t.Fatal(err)
		}
		d.Tables = nil
		var text strings.Builder
		if err := d.WriteYAML(&text); err != nil {
			t.Fatal(err)
		}
		d, err = plan.ReadDecisions(strings.NewReader(text.String() + "new_ids: [s1]\ntables: {" + change + "}\n"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Complete(schema)
		if want == "" && (err != nil || p == nil) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", change, err, want)
		}
	}
}
