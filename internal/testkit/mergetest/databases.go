package mergetest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/fuse"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A realm is a game server with a database of accounts and one of characters, which refer to accounts.
type realm struct {
	db    *sql.DB
	names map[string]string // of the databases
}

// realms are two of them, and a target.
type realms struct {
	Engine
	*testing.T
	target realm
	all    map[string]realm
	rows   int
	cfg    merge.Config
	plan   *plan.Plan
}

// Databases merges realms of two databases each, in processes that die, and sees whether verification finds a
// damaged reference from one database to the other. It returns the target.
func Databases(t *testing.T, e Engine) *sql.DB {
	r := &realms{Engine: e, T: t, all: map[string]realm{}, rows: testscale.Of(150, 2000)}
	r.target = r.open("target")
	if err := errors.Join(
		sqlsnow.Migrate(t.Context(), r.target.db, e.Dialect),
		sqlsnow.Init(t.Context(), r.target.db, e.Dialect, sqlsnow.Namespace{Name: namespace, Layout: snow.DefaultLayout(), Workers: 16}),
	); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"eu", "us"} {
		r.all[name] = r.open(name)
		r.fill(name)
	}
	r.cfg = merge.Config{
		Namespace: namespace, Databases: r.target.names, ChunkRows: 40, PackRows: 100, Lease: time.Hour, WitnessAll: true,
		Assertions: []merge.Assertion{
			{Name: "gold", SQL: "SELECT SUM(gold) FROM {characters}.hero"},
			{Name: "owned", SQL: "SELECT COUNT(*) FROM {characters}.hero h JOIN {auth}.account a ON a.id = h.account"},
		},
	}
	r.inspect()
	r.shorten()
	statements, err := r.plan.SchemaIn(r.target.names)
	if err != nil {
		t.Fatal(err)
	}
	r.exec(r.target, statements...)
	r.forecast()
	r.crash()
	r.judge()
	r.ids()
	r.damage()
	r.refusals()
	return r.target.db
}

// open makes the databases of a realm.
func (r *realms) open(name string) realm {
	of := realm{db: r.Open(r.T), names: map[string]string{"auth": "auth", "characters": "characters"}}
	if r.Dialect == sqlsnow.Postgres {
		r.exec(of, "CREATE SCHEMA auth", "CREATE SCHEMA characters")
		return of
	}
	var base string
	if err := of.db.QueryRowContext(r.Context(), "SELECT DATABASE()").Scan(&base); err != nil {
		r.Fatal(err)
	}
	for _, logical := range []string{"auth", "characters"} {
		of.names[logical] = base + "-" + logical + "." + name // such a name needs quotes
		r.exec(of, "CREATE DATABASE {"+logical+"}")
		r.Cleanup(func() { r.drop(of, logical) })
	}
	return of
}

// drop drops a database. Another one may refer to it.
func (r *realms) drop(of realm, name string) {
	conn, err := of.db.Conn(context.Background())
	if err != nil {
		r.Error(err)
		return
	}
	defer conn.Close()
	for _, text := range []string{"SET foreign_key_checks = 0", "DROP DATABASE {" + name + "}"} {
		if _, err := conn.ExecContext(context.Background(), r.sql(of, text)); err != nil {
			r.Error(err)
		}
	}
}

// sql replaces the names in braces with names of databases.
func (r *realms) sql(of realm, text string) string {
	for name, is := range of.names {
		text = strings.ReplaceAll(text, "{"+name+"}", r.Dialect.Quote(is))
	}
	return text
}

func (r *realms) exec(of realm, statements ...string) {
	r.Helper()
	for _, text := range statements {
		if _, err := of.db.ExecContext(r.Context(), r.sql(of, text)); err != nil {
			r.Fatalf("%s: %v", text, err)
		}
	}
}

func (r *realms) number(of realm, query string) (n int64) {
	r.Helper()
	if err := of.db.QueryRowContext(r.Context(), r.sql(of, query)).Scan(&n); err != nil {
		r.Fatalf("%s: %v", query, err)
	}
	return n
}

// fill makes the tables of a realm. A hero tells the name of its account, for the judge.
func (r *realms) fill(name string) {
	id := "INT NOT NULL AUTO_INCREMENT PRIMARY KEY"
	if r.Dialect == sqlsnow.Postgres {
		id = "SERIAL PRIMARY KEY"
	}
	of := r.all[name]
	r.exec(of,
		"CREATE TABLE {auth}.account (id "+id+", username VARCHAR(30) NOT NULL UNIQUE, joindate TIMESTAMP NOT NULL)",
		"CREATE TABLE {auth}.kinds (id INT NOT NULL PRIMARY KEY, label VARCHAR(20) NOT NULL)",
		"CREATE TABLE {characters}.hero (guid INT NOT NULL PRIMARY KEY, account INT NOT NULL, name VARCHAR(30) NOT NULL, owner_name VARCHAR(30) NOT NULL, gold INT NOT NULL, kind INT NOT NULL)",
		"CREATE INDEX hero_account ON {characters}.hero (account)",
		"CREATE TABLE {characters}.ban (id "+id+", account_id INT NOT NULL, reason VARCHAR(30) NOT NULL, CONSTRAINT banned FOREIGN KEY (account_id) REFERENCES {auth}.account (id))",
		"ALTER TABLE {auth}.account ADD last_ban INT, ADD CONSTRAINT banned_last FOREIGN KEY (last_ban) REFERENCES {characters}.ban (id)",
		"CREATE TABLE {characters}.log (account INT NOT NULL, owner_name VARCHAR(30) NOT NULL)",
		"CREATE INDEX hero_name ON {characters}.hero ("+map[sqlsnow.Dialect]string{sqlsnow.MySQL: "name(5)", sqlsnow.Postgres: "lower(name)"}[r.Dialect]+")",
		"CREATE VIEW {characters}.owners AS SELECT h.name, a.username FROM {characters}.hero h JOIN {auth}.account a ON h.account = a.id",
		"INSERT INTO {auth}.kinds VALUES (1, 'mage'), (2, 'rogue')",
	)
	if r.Dialect == sqlsnow.Postgres {
		r.exec(of, "CREATE TYPE {auth}.mood AS ENUM ('calm', 'cross')", "ALTER TABLE {auth}.account ADD mood {auth}.mood NOT NULL DEFAULT 'calm'")
	}
	values := map[string][]string{}
	add := func(table, format string, args ...any) {
		values[table] = append(values[table], "("+fmt.Sprintf(format, args...)+")")
	}
	first := map[string]int{"eu": 1000, "us": 1100}[name] // most of their ids clash
	for i := range r.rows {
		owner := (i * 7) % r.rows
		add("{auth}.account (id, username, joindate)", "%d, '%s-a%d', '2024-03-%02d 10:00:00'", first+i, name, i, 1+i*28/r.rows)
		add("{characters}.hero", "%d, %d, '%s-h%d', '%s-a%d', %d, %d", i+1, first+owner, name, i, name, owner, i, 1+i%2)
		add("{characters}.ban (account_id, reason)", "%d, '%s-a%d'", first+owner, name, owner)
		add("{characters}.log", "%d, '%s-a%d'", first+owner/2, name, owner/2)
	}
	for _, table := range slices.Sorted(maps.Keys(values)) {
		r.exec(of, "INSERT INTO "+table+" VALUES "+strings.Join(values[table], ", "))
	}
	r.exec(of, "UPDATE {auth}.account SET last_ban = (SELECT MAX(b.id) FROM {characters}.ban b WHERE b.account_id = account.id)")
}

func (r *realms) sources() (all []merge.Source) {
	for _, name := range []string{"eu", "us"} {
		all = append(all, merge.Source{Name: name, DB: r.all[name].db, Databases: r.all[name].names})
	}
	return all
}

func (r *realms) merge(target *sql.DB) *merge.Merge {
	r.Helper()
	m, err := merge.New(r.Dialect, target, r.sources(), r.plan, r.cfg)
	if err != nil {
		r.Fatal(err)
	}
	return m
}

// inspect looks at what Inspect says of references across databases, and decides on the rest.
func (r *realms) inspect() {
	p, err := merge.Inspect(r.Context(), r.Dialect, r.sources()...)
	if err != nil {
		r.Fatal(err)
	}
	if !slices.Equal(p.Databases, []string{"auth", "characters"}) {
		r.Errorf("the plan has the databases %q", p.Databases)
	}
	var names []string
	for _, t := range p.Tables {
		names = append(names, t.Name)
	}
	if got := strings.Join(names, " "); got != "auth.account auth.kinds characters.ban characters.hero characters.log" {
		r.Fatalf("the plan has the tables %s", got)
	}
	if keys := p.Table("characters.ban").ForeignKeys; len(keys) != 1 || keys[0].Table != "auth.account" {
		r.Errorf("foreign keys of ban: %+v", keys)
	}
	evidence := ""
	for _, name := range []string{"characters.hero.account", "characters.log.account"} {
		q := p.Question(name)
		if q == nil || q.Best() == nil || q.Best().Answer != "auth.account" {
			r.Errorf("%s: got the question %+v", name, q)
			continue
		}
		evidence += strings.Join(q.Evidence, "\n")
	}
	if !strings.Contains(evidence, "owners") {
		r.Errorf("the view that joins both databases is no evidence: %s", evidence)
	}
	for _, q := range p.Questions {
		if err := p.Decide(q, plan.AnswerEach); err != nil {
			r.Fatal(err)
		}
	}
	is := func(table, column string, role plan.Role, refers ...*plan.Reference) {
		c := p.Table(table).Column(column)
		c.Role, c.Refers, c.None, c.Decided, c.Suspects = role, refers, nil, true, nil
	}
	account := &plan.Reference{Table: "auth.account"}
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			c.Decided, c.Suspects = true, nil
		}
		t.NewIDs = nil
	}
	is("characters.hero", "guid", plan.RoleKey)
	is("characters.hero", "account", plan.RoleReference, account)
	is("characters.hero", "kind", plan.RoleReference, &plan.Reference{Table: "auth.kinds"})
	is("characters.hero", "gold", plan.RolePlain)
	is("characters.log", "account", plan.RoleReference, account)
	is("auth.kinds", "id", plan.RoleKey)
	for _, name := range []string{"auth.account", "characters.hero", "characters.ban"} {
		p.Table(name).NewIDs = p.Sources
		p.Table(name).Unique = slices.DeleteFunc(p.Table(name).Unique, func(u *plan.Unique) bool { return slices.Equal(u.Columns, p.Table(name).PrimaryKey) })
	}
	p.Table("auth.account").Created = "joindate"
	p.Table("auth.kinds").Unique = []*plan.Unique{{Columns: []string{"id"}, Rule: plan.RuleMatch, Decided: true}}
	for _, u := range p.Table("auth.account").Unique {
		u.Suspects, u.Decided = nil, true
	}
	if r.plan = p; p.Check() != nil {
		r.Fatal(p.Check())
	}
}

// shorten writes the plan in its short form and reads it back.
func (r *realms) shorten() {
	schema, err := merge.ReadSchema(r.Context(), r.Dialect, r.sources()...)
	if err != nil {
		r.Fatal(err)
	}
	r.plan.Questions = nil
	d, err := plan.Shorten(r.plan, schema)
	if err != nil {
		r.Fatal(err)
	}
	var b bytes.Buffer
	if err := d.WriteYAML(&b); err != nil {
		r.Fatal(err)
	}
	for _, want := range []string{"databases: [auth, characters]", "to: auth.account", "characters.hero.account", "auth.account.joindate"} {
		if !strings.Contains(b.String(), want) {
			r.Errorf("the file lacks %q:\n%s", want, b.String())
		}
	}
	if d, err = plan.ReadDecisions(&b); err != nil {
		r.Fatal(err)
	}
	if r.plan, err = d.Complete(schema); err != nil {
		r.Fatal(err)
	}
}

// crash runs processes that die at later and later statements, until one comes to the end.
func (r *realms) crash() {
	died := dieOften(r, r.target.db, 3, func(left int) int { return 1 + left/3 }, func(_ *fuse.Fuse, dying *sql.DB) error {
		found, err := r.merge(dying).Run(r.Context())
		if err == nil && len(found.Assertions) != 2 {
			r.Errorf("assertions: %+v", found.Assertions)
		}
		return err
	}, nil)
	if died < 3 {
		r.Errorf("%d processes died", died)
	}
}

// judge counts the heroes, bans and lines that belong to the account that they name.
func (r *realms) judge() {
	r.Helper()
	n := int64(2 * r.rows)
	for query, want := range map[string]int64{
		"SELECT COUNT(*) FROM {auth}.account": n,
		"SELECT COUNT(*) FROM {auth}.kinds":   2,
		"SELECT COUNT(*) FROM {characters}.hero h JOIN {auth}.account a ON a.id = h.account AND a.username = h.owner_name JOIN {auth}.kinds k ON k.id = h.kind": n,
		"SELECT COUNT(*) FROM {characters}.ban b JOIN {auth}.account a ON a.id = b.account_id AND a.username = b.reason":                                        n,
		"SELECT COUNT(*) FROM {characters}.ban b JOIN {auth}.account a ON a.last_ban = b.id AND a.id = b.account_id":                                            n,
		"SELECT COUNT(*) FROM {characters}.log l JOIN {auth}.account a ON a.id = l.account AND a.username = l.owner_name":                                       n,
		"SELECT COUNT(*) FROM {characters}.hero":                    n,
		"SELECT COUNT(*) FROM {characters}.log":                     n,
		"SELECT COUNT(*) FROM {auth}.account WHERE id < 1000000000": 0,
	} {
		if got := r.number(r.target, query); got != want {
			r.Errorf("%s: got %d, want %d", query, got, want)
		}
	}
}

// ids looks ids up.
func (r *realms) ids() {
	id := r.number(r.target, "SELECT id FROM {auth}.account WHERE username = 'us-a3'")
	for _, l := range []struct {
		source, table string
		old, want     int64
	}{{"us", "auth.account", 1103, id}, {"us", "auth.kinds", 2, 2}, {"eu", "auth.kinds", 1, 1}} {
		if got, err := merge.Lookup(r.Context(), r.Dialect, r.target.db, l.source, l.table, l.old); err != nil || got != snow.ID(l.want) {
			r.Errorf("lookup of %+v: got %d and %v", l, got, err)
		}
	}
	if _, err := merge.Lookup(r.Context(), r.Dialect, r.target.db, "us", "account", 1103); !errors.Is(err, report.ErrNotFound) {
		r.Errorf("lookup of a table without its database: got %v", err)
	}
	var b bytes.Buffer
	if err := merge.Export(r.Context(), r.Dialect, r.target.db, &b); err != nil {
		r.Fatal(err)
	}
	if line := fmt.Sprintf("\nus,auth.account,1103,%d\n", id); !strings.Contains(b.String(), line) {
		r.Errorf("the export lacks %q", line)
	}
}

// damage leads a hero to another account.
func (r *realms) damage() {
	const hero = " WHERE name = 'us-h5'"
	was := r.number(r.target, "SELECT account FROM {characters}.hero"+hero)
	other := r.number(r.target, "SELECT MIN(id) FROM {auth}.account")
	for _, id := range []int64{other, 17} { // an account, and none
		r.exec(r.target, fmt.Sprintf("UPDATE {characters}.hero SET account = %d%s", id, hero))
		found, err := r.merge(r.target.db).Verify(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		seen := map[report.Check]bool{}
		for _, f := range found.Failures {
			if f.Table != "characters.hero" && f.Check != report.CheckAssertion {
				r.Errorf("%+v", f)
			}
			seen[f.Check] = true
		}
		if !seen[report.CheckRows] || !seen[report.CheckWitness] {
			r.Errorf("account %d: verification found %+v", id, found.Failures)
		}
	}
	r.exec(r.target, fmt.Sprintf("UPDATE {characters}.hero SET account = %d%s", was, hero))
	if found, err := r.merge(r.target.db).Verify(r.Context()); err != nil || found.Err() != nil {
		r.Errorf("after the repair: %v, %v", err, found.Err())
	}
}
