//go:build unix

package merge_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// posts has ids in values beside keys, as blogs and shops have: alone, in lists, serialised, and in JSON.
var posts = []string{
	"CREATE TABLE posts (id INTEGER NOT NULL PRIMARY KEY, title VARCHAR(20) NOT NULL)",
	"CREATE TABLE postmeta (id INTEGER NOT NULL PRIMARY KEY, post_id INTEGER NOT NULL, meta_key VARCHAR(40), meta_value TEXT)",
	"INSERT INTO posts VALUES (7, 'seven'), (8, 'eight')",
	`INSERT INTO postmeta VALUES (1, 7, '_thumbnail_id', '8'), (2, 7, '_gallery', '7,8'), (3, 7, '_cross', 'a:2:{i:0;i:7;i:1;s:1:"8";}'), (4, 7, '_layout', '[{"id": 8, "w": 7}]'),
		(5, 7, '_price', '7'), (6, 8, NULL, '8'), (7, 8, '_thumbnail_id', ''), (8, 8, '_gallery', NULL), (9, 8, '_related', '8|7'), (10, 8, '_cross', 'a:0:{}')`,
}

// postKinds says what they are.
func postKinds(t *testing.T, more string) *plan.Column {
	t.Helper()
	d, err := plan.ReadDecisions(strings.NewReader(`version: 2
dialect: MySQL
references:
- by: meta_key
  none: ['']
  kinds:
    _thumbnail_id: posts
    _gallery: {list: posts}
    _related: {list: posts, separator: '|'}
    _cross: {format: php, ids: {'$[*]': posts}}
    _layout: {json: {'$[*].id': posts` + more + `}}
    '*': plain
  columns: [postmeta.meta_value]
`))
	if err != nil {
		t.Fatal(err)
	}
	schema := &plan.Plan{Version: 1, Dialect: "MySQL", Tables: []*plan.Table{{Name: "posts"}, {Name: "postmeta", Columns: []*plan.Column{{Name: "meta_key", Type: "text"}, {Name: "meta_value", Type: "text"}}}}}
	if _, err := d.Apply(schema); err != nil {
		t.Fatal(err)
	}
	return schema.Table("postmeta").Column("meta_value")
}

func TestKinds(t *testing.T) {
	maria, pg := dbtest.SharedMariaDB(t), dbtest.Postgres(t)
	for d, open := range map[sqlsnow.Dialect]func() *sql.DB{
		sqlsnow.MySQL:    func() *sql.DB { return opened(t, "mysql", maria.DSN(maria.CreateDatabase(t))) },
		sqlsnow.Postgres: func() *sql.DB { return opened(t, "pgx", pg.DSN(pg.CreateDatabase(t))) },
	} {
		t.Run(d.String(), func(t *testing.T) {
			var sources []*sql.DB
			for range 2 {
				db := open()
				for _, text := range posts {
					exec(t, db, text)
				}
				sources = append(sources, db)
			}
			merged := func(more string) *attempt {
				a := newAttempt(t, d, open(), sources...)
				a.refer("posts", "postmeta.post_id")
				c, is := a.column("postmeta.meta_value"), postKinds(t, more)
				c.Role, c.By, c.Refers, c.None = is.Role, is.By, is.Refers, is.None
				a.schema()
				return a
			}
			a := merged("")
			if dry, run := a.run(); dry != nil || run != nil {
				t.Fatalf("dry run: %v\nrun: %v", dry, run)
			}
			a.wants("SELECT CONCAT_WS(' ', post_id, meta_key, meta_value) FROM postmeta WHERE id > 10 ORDER BY id",
				`3 _thumbnail_id 4; 3 _gallery 3,4; 3 _cross a:2:{i:0;i:3;i:1;s:1:"4";}; 3 _layout [{"id": 4, "w": 7}]; 3 _price 7; 4 8; 4 _thumbnail_id ; 4 _gallery; 4 _related 4|3; 4 _cross a:0:{}`)
			// a path that leads to nothing is told
			a = merged(`, '$.nothing': posts`)
			dry, run := a.run()
			for what, err := range map[string]error{"dry run": dry, "run": run} {
				if open, ok := err.(*report.OpenError); !ok || !strings.Contains(open.Error(), "$.nothing") { //nolint:errorlint // it is not wrapped
					t.Errorf("%s: got %v", what, err)
				}
			}
		})
	}
}
