//go:build unix

package gormcheck_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// Models, each with at most one fault. For models that start with "live", the fault is in the table.
type (
	sound struct {
		ID        snow.ID
		Serial    string   `gorm:"snowflake;size:20;unique"`
		ParentID  *snow.ID `gorm:"index"`
		Parent    *sound
		Legacy    int64  `gorm:"snowflake"`
		Tags      []tag  `gorm:"many2many:sound_tags"`
		Pair      string `gorm:"size:9;uniqueIndex:pair"`
		Other     int    `gorm:"uniqueIndex:pair"`
		CreatedAt time.Time
	}
	tag struct {
		ID   snow.ID
		Name string
	}
	counted struct{ ID int64 }
	// Its id does not have the methods of an id.
	renamedID snow.ID
	renamed   struct{ ID renamedID }
	// Nobody is said to fill these members of a primary key, or somebody is.
	member struct {
		Tenant int64   `gorm:"primaryKey;autoIncrement:false"`
		ID     snow.ID `gorm:"primaryKey"`
	}
	memberTold struct {
		Tenant   int64   `gorm:"primaryKey;autoIncrement:false"`
		ID       snow.ID `gorm:"primaryKey;snowflake:false"`
		ParentID snow.ID `gorm:"primaryKey"`
		Parent   *live
	}
	badShard struct {
		ID snow.ID `gorm:"primaryKey" snow:"shard=BuyerID"`
	}
	tall struct {
		ID    snow.ID
		Notes []note `gorm:"polymorphic:Owner"`
	}
	note struct {
		ID        snow.ID
		OwnerID   string
		OwnerType string
	}
	sharded struct {
		ID    snow.ID `snow:"shard=Buyer"`
		Buyer string  `gorm:"uniqueIndex:request"`
		No    int     `gorm:"uniqueIndex:request"`
		Other string  `gorm:"size:20"`
	}
	live    struct{ ID snow.ID }
	liveInt struct {
		ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	}
	liveText struct {
		ID   snow.ID
		Code string `gorm:"snowflake;size:20"`
	}
	liveUnique struct {
		ID   snow.ID
		Name string `gorm:"size:20;unique"`
	}
	liveForeign struct {
		ID       snow.ID
		ParentID int64
		Parent   *live
		Newest   snow.ID `gorm:"->"`
	}
	writer struct {
		ID    snow.ID
		Books []book `gorm:"many2many:writer_books"`
	}
	book       struct{ ID snow.ID }
	writerBook struct {
		ID       snow.ID
		WriterID snow.ID
		BookID   snow.ID
	}
)

// where returns where a finding is, as Model Field Column.
func where(e *gormsnow.CheckError) string {
	return strings.TrimPrefix(e.Model, "gormcheck_test.") + " " + e.Field + " " + e.Column
}

// findings returns where the findings joined in err are. It fails the test if err has anything else.
func findings(t *testing.T, err error) (places []string) {
	t.Helper()
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("%v is no joined error", err)
	}
	for _, err := range joined.Unwrap() {
		var finding *gormsnow.CheckError
		if !errors.As(err, &finding) {
			t.Errorf("%v is no finding", err)
			continue
		}
		if finding.Problem == "" || finding.Remedy == "" || !strings.HasPrefix(finding.Error(), "gormsnow: check: model ") {
			t.Errorf("%#v lacks a problem or a remedy", finding)
		}
		places = append(places, where(finding))
	}
	return places
}

func TestCheck(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		db := d.open(t, gorm.Config{}).WithContext(t.Context())
		layout, err := snow.NewLayout(snow.DefaultLayout().Epoch(), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 10, Sequence: 8, Shard: 4})
		if err != nil {
			t.Fatal(err)
		}
		withShards := d.openBare(t, gorm.Config{})
		if err := withShards.Use(gormsnow.New(newGeneratorOf(t, layout))); err != nil {
			t.Fatal(err)
		}
		for name, tt := range map[string]struct {
			migrate []any
			tables  map[string][]string // statements by product; "" is for all products
			after   []string            // statements for all products
			models  []any
			want    []string
			problem string // part of each
		}{
			"nothing": {migrate: []any{&sound{}, &tag{}}, models: []any{&sound{}, tag{}, &[]tag{}}},
			"no table": {
				models: []any{&live{}},
				want:   []string{"live  lives"}, problem: "does not exist",
			},
			"inferred": {
				tables: map[string][]string{"": {"CREATE TABLE counteds (id BIGINT PRIMARY KEY)"}},
				models: []any{&counted{}},
				want:   []string{"counted ID "}, problem: "AUTO_INCREMENT",
			},
			"inferred for a type that was defined as an id": {
				tables: map[string][]string{"": {"CREATE TABLE renameds (id BIGINT PRIMARY KEY)"}},
				models: []any{&renamed{}},
				want:   []string{"renamed ID "}, problem: "AUTO_INCREMENT",
			},
			"a member of the primary key that nobody fills": {
				tables: map[string][]string{"": {
					"CREATE TABLE members (tenant BIGINT, id BIGINT, PRIMARY KEY (tenant, id))",
					"CREATE TABLE member_tolds (tenant BIGINT, id BIGINT, parent_id BIGINT, PRIMARY KEY (tenant, id, parent_id))",
				}},
				models: []any{&member{}, &memberTold{}},
				want:   []string{"member ID "}, problem: "snowflake:false",
			},
			"inferred and live": {
				migrate: []any{&counted{}}, models: []any{&counted{}},
				want: []string{"counted ID ", "counted ID counteds.id"},
			},
			"a shard tag that names no field": {
				tables: map[string][]string{"": {"CREATE TABLE bad_shards (id BIGINT PRIMARY KEY)"}},
				models: []any{&badShard{}},
				want:   []string{"badShard ID "}, problem: "BuyerID",
			},
			"a string refers to a typed id": {
				tables: map[string][]string{"": {"CREATE TABLE talls (id BIGINT PRIMARY KEY)"}},
				models: []any{&tall{}},
				want:   []string{"note OwnerID "}, problem: "character",
			},
			"automatic": {
				tables: map[string][]string{
					"mariadb":  {"CREATE TABLE lives (id BIGINT AUTO_INCREMENT PRIMARY KEY)"},
					"postgres": {"CREATE TABLE lives (id BIGSERIAL PRIMARY KEY)"},
					"sqlite":   {"CREATE TABLE lives (id INTEGER PRIMARY KEY AUTOINCREMENT)"},
				},
				models: []any{&live{}},
				want:   []string{"live ID lives.id"}, problem: "makes up",
			},
			"identity": {
				tables: map[string][]string{
					"mariadb":  {"CREATE TABLE lives (id BIGINT AUTO_INCREMENT PRIMARY KEY)"},
					"postgres": {"CREATE TABLE lives (id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY)"},
					"sqlite":   {"CREATE TABLE lives (\"autoincrement\" TEXT, id INTEGER CONSTRAINT pk PRIMARY KEY\n ON CONFLICT ABORT autoincrement)"},
				},
				models: []any{&live{}},
				want:   []string{"live ID lives.id"}, problem: "makes up",
			},
			"not automatic": {
				tables: map[string][]string{
					"mariadb":  {"CREATE TABLE lives (id BIGINT PRIMARY KEY, auto_increment VARCHAR(20) DEFAULT 'AUTO_INCREMENT')"},
					"postgres": {"CREATE TABLE lives (id BIGINT PRIMARY KEY DEFAULT length('nextval('))"},
					"sqlite":   {"CREATE TABLE lives (id BIGINT PRIMARY KEY, \"autoincrement\" TEXT DEFAULT 'AUTOINCREMENT')"},
				},
				models: []any{&live{}},
			},
			"narrow": {
				tables: map[string][]string{
					"mariadb":  {"CREATE TABLE lives (id INT UNSIGNED PRIMARY KEY)"},
					"postgres": {"CREATE TABLE lives (id INTEGER PRIMARY KEY)"},
					"sqlite":   {"CREATE TABLE lives (id DOUBLE PRIMARY KEY)"},
				},
				models: []any{&live{}},
				want:   []string{"live ID lives.id"},
			},
			"narrow decimals": {
				tables: map[string][]string{
					"mariadb":  {"CREATE TABLE lives (id DECIMAL(20,2) PRIMARY KEY)"},
					"postgres": {"CREATE TABLE lives (id NUMERIC(20,2) PRIMARY KEY)"},
					"sqlite":   {"CREATE TABLE lives (id REAL PRIMARY KEY)"},
				},
				models: []any{&live{}},
				want:   []string{"live ID lives.id"}, problem: "does not keep",
			},
			"wide": {
				tables: map[string][]string{
					"mariadb":  {"CREATE TABLE lives (id BIGINT UNSIGNED PRIMARY KEY)", "CREATE TABLE live_ints (id DECIMAL(21,2) PRIMARY KEY)"},
					"postgres": {"CREATE DOMAIN key AS BIGINT", "CREATE TABLE lives (id key PRIMARY KEY)", "CREATE TABLE live_ints (id NUMERIC(21,2) PRIMARY KEY)"},
					"sqlite":   {"CREATE TABLE lives (id INT PRIMARY KEY)", "CREATE TABLE live_ints (id PRIMARY KEY)"},
				},
				models: []any{&live{}, &liveInt{}},
			},
			"texts": {
				tables: map[string][]string{"": {
					"CREATE TABLE lives (id VARCHAR(20) PRIMARY KEY)",
					"CREATE TABLE live_ints (id CHAR(20) PRIMARY KEY)",
				}},
				models: []any{&live{}, &liveInt{}},
				want:   []string{"live ID lives.id", "liveInt ID live_ints.id"}, problem: "as texts",
			},
			"a narrow foreign key": {
				tables: map[string][]string{"": {"CREATE TABLE live_foreigns (id BIGINT PRIMARY KEY, parent_id VARCHAR(20))"}},
				models: []any{&liveForeign{}},
				want:   []string{"liveForeign ParentID live_foreigns.parent_id"}, problem: "as texts",
			},
			"short texts": {
				tables: map[string][]string{
					"":       {"CREATE TABLE live_texts (id BIGINT PRIMARY KEY, code VARCHAR(18))"},
					"sqlite": {"ALTER TABLE live_texts DROP COLUMN code", "ALTER TABLE live_texts ADD COLUMN code DOUBLE"},
				},
				models: []any{&liveText{}},
				want:   []string{"liveText Code live_texts.code"},
			},
			"no column": {
				tables: map[string][]string{"": {"CREATE TABLE live_texts (id BIGINT PRIMARY KEY)"}},
				models: []any{&liveText{}},
				want:   []string{"liveText Code live_texts.code"}, problem: "no such column",
			},
			"nothing unique": {
				tables: map[string][]string{
					"": {"CREATE TABLE live_uniques (id BIGINT, name VARCHAR(20))"},
					"mariadb": {
						"CREATE INDEX u ON live_uniques (name)", "CREATE UNIQUE INDEX u2 ON live_uniques (name, id)",
					},
					"postgres": {
						"CREATE UNIQUE INDEX u1 ON live_uniques (name, id)", "CREATE UNIQUE INDEX u2 ON live_uniques (name) WHERE id > 5",
						"CREATE UNIQUE INDEX u3 ON live_uniques (lower(name))", "CREATE INDEX u4 ON live_uniques (id)",
					},
					"sqlite": {
						"CREATE UNIQUE INDEX u1 ON live_uniques (name, id)", "CREATE UNIQUE INDEX u2 ON live_uniques (name) WHERE id > 5",
						"CREATE UNIQUE INDEX u3 ON live_uniques (lower(name))", "CREATE INDEX u4 ON live_uniques (id)",
					},
				},
				models: []any{&liveUnique{}},
				want:   []string{"liveUnique  live_uniques.id", "liveUnique  live_uniques.name"}, problem: "unique",
			},
			"unique otherwise": {
				tables: map[string][]string{
					"":         {"CREATE TABLE live_uniques (id BIGINT NOT NULL, name VARCHAR(20), PRIMARY KEY (id))"},
					"mariadb":  {"CREATE UNIQUE INDEX u ON live_uniques (name(5))"},
					"postgres": {"CREATE UNIQUE INDEX u ON live_uniques (name) INCLUDE (id)"},
					"sqlite":   {"CREATE UNIQUE INDEX u ON live_uniques (name DESC)"},
				},
				models: []any{&liveUnique{}},
			},
			"a partial index": { // its condition is not compared
				tables: map[string][]string{"": {"CREATE TABLE nicknames (id BIGINT PRIMARY KEY)"}},
				models: []any{&nickname{}},
			},
			"a join table": {
				migrate: []any{&writer{}, &book{}},
				models:  []any{&writer{}},
			},
			"a join table with a key of its own": {
				migrate: []any{&writerBook{}},
				tables: map[string][]string{"": {
					"CREATE TABLE writers (id BIGINT PRIMARY KEY)", "CREATE TABLE books (id BIGINT PRIMARY KEY)",
				}},
				models: []any{&writer{}, &writerBook{}},
				want:   []string{"writer Books writer_books.writer_id,book_id"}, problem: "adds its rows again",
			},
			"a narrow join table": {
				tables: map[string][]string{"": {
					"CREATE TABLE writers (id BIGINT PRIMARY KEY)",
					"CREATE TABLE writer_books (writer_id BIGINT, book_id VARCHAR(20), PRIMARY KEY (book_id, writer_id))",
				}},
				models: []any{&writer{}},
				want:   []string{"writer Books writer_books.book_id"}, problem: "as texts",
			},
			"no join table": {
				tables: map[string][]string{"": {"CREATE TABLE writers (id BIGINT PRIMARY KEY)"}},
				models: []any{&writer{}, &writer{}},
				want:   []string{"writer  writer_books"}, problem: "does not exist",
			},
			"ids of the past": {
				tables: map[string][]string{"": {"CREATE TABLE lives (id BIGINT PRIMARY KEY)", "INSERT INTO lives VALUES (7), (123456789)"}},
				models: []any{&live{}},
			},
			"a shard column that compares bytes": {
				tables: map[string][]string{
					"mariadb":  {shardedTable("VARCHAR(20) " + exact + ""), "ALTER TABLE shardeds ADD UNIQUE KEY (other, id)"},
					"postgres": {shardedTable(`VARCHAR(20) COLLATE "C"`)},
					"sqlite":   {shardedTable("VARCHAR(20)")},
				},
				models: []any{&sharded{}},
			},
			"a shard column of bytes": {
				tables: map[string][]string{
					"mariadb":  {shardedTable("VARBINARY(20)")},
					"postgres": {shardedTable("TEXT")},
					"sqlite":   {shardedTable("BLOB")},
				},
				models: []any{&sharded{}},
			},
			"a shard column that folds": {
				tables: map[string][]string{
					"mariadb":  {shardedTable("VARCHAR(20)")},
					"postgres": {"CREATE COLLATION IF NOT EXISTS folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false)", shardedTable("TEXT COLLATE folding")},
					"sqlite":   {shardedTable("VARCHAR(20) COLLATE NOCASE")},
				},
				models: []any{&sharded{}},
				want:   []string{"sharded Buyer shardeds.buyer"}, problem: "may be equal",
			},
			"a shard column that ignores spaces at the end": {
				tables: map[string][]string{
					"mariadb":  {shardedTable("VARCHAR(20) COLLATE utf8mb4_bin")},
					"postgres": {shardedTable("CHAR(20)")},
					"sqlite":   {shardedTable("VARCHAR(20) COLLATE RTRIM"), "INSERT INTO shardeds VALUES (7, 'bob', 1, 'x')"},
				},
				models: []any{&sharded{}},
				want:   []string{"sharded Buyer shardeds.buyer"}, problem: "may be equal",
			},
			"a shard column of a type that ignores them": {
				tables: map[string][]string{
					"mariadb":  {shardedTable("CHAR(20) " + exact + "")},
					"postgres": {"CREATE DOMAIN padded AS CHAR(20)", shardedTable("padded")},
					"sqlite":   {shardedTable("CHAR(20) COLLATE RTRIM")},
				},
				models: []any{&sharded{}},
				want:   []string{"sharded Buyer shardeds.buyer"}, problem: "may be equal",
			},
			"a unique key without the shard column": {
				tables: map[string][]string{
					"mariadb":  {shardedTable("VARBINARY(20)")},
					"postgres": {shardedTable("TEXT")},
					"sqlite":   {shardedTable("TEXT")},
				},
				after:  []string{"CREATE UNIQUE INDEX others ON shardeds (no, other)"},
				models: []any{&sharded{}},
				want:   []string{"sharded  shardeds.no,other"}, problem: "in each database only",
			},
			"negative ids": {
				tables: map[string][]string{"": {
					"CREATE TABLE lives (id BIGINT PRIMARY KEY)", "INSERT INTO lives VALUES (-5), (-6), (7)",
					"CREATE TABLE live_ints (id BIGINT PRIMARY KEY)", "INSERT INTO live_ints VALUES (-9223372036854775808)",
				}},
				models: []any{&live{}, &liveInt{}},
				want:   []string{"live ID lives.id", "liveInt ID live_ints.id"}, problem: "no id is negative",
			},
			"ids of a moment ago": {
				tables: map[string][]string{"": {
					"CREATE TABLE lives (id BIGINT PRIMARY KEY)",
					fmt.Sprintf("INSERT INTO lives VALUES (%d)", idAt(t, time.Now().Add(30*time.Second))),
				}},
				models: []any{&live{}},
			},
			"ids of the future": {
				tables: map[string][]string{"": {
					"CREATE TABLE lives (id BIGINT PRIMARY KEY)",
					fmt.Sprintf("INSERT INTO lives VALUES (%d)", idAt(t, time.Now().Add(time.Hour))),
				}},
				models: []any{&live{}},
				want:   []string{"live ID lives.id"}, problem: "above all ids that can be made now",
			},
		} {
			t.Run(name, func(t *testing.T) {
				for _, model := range []any{&sound{}, &tag{}, "sound_tags", &counted{}, &live{}, &liveInt{}, &liveText{}, &liveUnique{}, "writer_books", &writer{}, &book{}, &liveForeign{}, &nickname{}, "talls", "bad_shards", "renameds", "members", "member_tolds", "shardeds"} {
					if err := db.Migrator().DropTable(model); err != nil {
						t.Fatal(err)
					}
				}
				migrate(t, db, tt.migrate...)
				execute(t, db, tt.tables[""]...)
				execute(t, db, tt.tables[d.product]...)
				execute(t, db, tt.after...)
				checked := db
				if _, ok := tt.models[0].(*sharded); ok {
					checked = withShards
				}
				err := gormsnow.Check(checked, tt.models...)
				got := findings(t, err)
				if !slices.Equal(got, tt.want) {
					t.Errorf("findings %q, want %q: %v", got, tt.want, err)
				}
				if err != nil && strings.Count(err.Error(), tt.problem) < len(tt.want) {
					t.Errorf("%v; want each to say %q", err, tt.problem)
				}
			})
		}
	})
}

// exact is a collation that compares bytes and does not pad, in MariaDB and MySQL.
const exact = "/*M!100000 COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */"

func shardedTable(buyer string) string {
	return "CREATE TABLE shardeds (id BIGINT PRIMARY KEY, buyer " + buyer + ", no BIGINT, other VARCHAR(20), UNIQUE (buyer, no))"
}

func idAt(t *testing.T, at time.Time) snow.ID {
	t.Helper()
	id, err := snow.DefaultLayout().Compose(snow.Parts{Time: at, Worker: 3})
	if err != nil {
		t.Fatal(err)
	}
	return id
}
