package mergetest

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

var bindings = flag.Int("merge.bindings", testscale.Of(6, 24), "damage so many random worlds on each database")

// Binding tests that a dry run is binding: it dry-runs and runs random worlds, many of them damaged. What a dry run
// passes must run and be verified, and a dry run must report what stops a run. -run Test/SEED does so with one world.
func Binding(t *testing.T, e Engine) {
	_, wanted, _ := strings.Cut(flag.Lookup("test.run").Value.String(), "/")
	seed, err := strconv.ParseUint(strings.Trim(wanted, "^$"), 10, 64)
	isOne, n := err == nil, *bindings
	if isOne {
		n = 1
	}
	kinds := map[string][2]int{} // by damage: runs that ended well, and that were refused
	fine, refused, open, damaged := 0, 0, 0, 0
	for i := range n {
		if !isOne {
			if seed = uint64(i + 1); i >= n/2 {
				seed = rand.Uint64()
			}
		}
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			b := &binding{Engine: e, seed: seed}
			stopped := b.run(t)
			count := kinds[b.damage]
			switch {
			case t.Failed(), t.Skipped():
			case stopped:
				refused, count[1] = refused+1, count[1]+1
			default:
				fine, count[0] = fine+1, count[0]+1
			}
			if b.open {
				open++
			}
			if b.damage != "nothing" {
				damaged++
			}
			kinds[b.damage] = count
		})
	}
	t.Logf("%d worlds were damaged; %d runs ended well and %d were refused, as the dry run said; in %d something was open; by damage: %v", damaged, fine, refused, open, kinds)
	if enough := n / 3; n >= 24 && !isOne && !t.Failed() && (damaged < enough || fine < enough || refused < enough/2) {
		t.Errorf("%d worlds were damaged, %d runs ended well and %d were refused: want %d, %d and %d or more", damaged, fine, refused, enough, enough, enough/2)
	}
}

// A binding is one world, its target and its plan.
type binding struct {
	Engine
	seed   uint64
	world  *world
	target *sql.DB
	plan   *plan.Plan
	config merge.Config
	random *rand.Rand
	damage string
	open   bool
}

// run reports whether the run was refused.
func (b *binding) run(t *testing.T) bool {
	b.world = newWorld(t, b.seed)
	b.random = rand.New(rand.NewPCG(b.seed, 7))
	b.target = b.world.start(t, b.Engine)
	sources, p := b.world.inspect(t, b.Engine, b.world.merges[0])
	b.plan = p
	b.world.schema(t, b.target, p)
	b.config = merge.Config{Namespace: namespace, ChunkRows: 40, Writers: 2, WithoutForeignKeys: b.world.tight, WitnessAll: true}
	b.damage = "nothing"
	for tries := b.random.IntN(4) * 10; tries > 0; tries-- { // in a quarter of the worlds nothing is done
		d := targetDamages[b.random.IntN(len(targetDamages))]
		if d.do(b, t) {
			b.damage = d.name
			break
		}
	}
	t.Logf("damage: %s; %v", b.damage, b.world)
	m, err := merge.New(b.Dialect, b.target, sources, b.plan, b.config)
	if err != nil {
		t.Skipf("the plan is refused: %v", err)
	}
	forecast, told := m.DryRun(t.Context())
	if told == nil {
		told = forecast.Err()
	}
	_, failed := m.Run(t.Context())
	isOpen := func(err error) bool { return errors.As(err, new(*report.OpenError)) }
	b.open = isOpen(told)
	switch stops := failed != nil && !isOpen(failed); {
	case stops && told == nil:
		t.Errorf("the dry run has passed what the run refuses: %v", failed)
	case !stops && told != nil && !isOpen(told):
		t.Errorf("the run does what the dry run says would stop it: %v", told)
	default:
		t.Logf("dry run: %v; run: %v", told, failed)
		return stops
	}
	return false
}

// some returns a random table of the world, and a column of it for which is, or nil if none is found.
func (b *binding) some(is func(*table, *column) bool) (*table, *column) {
	for range 30 {
		t := b.world.tables[b.random.IntN(len(b.world.tables))]
		c := t.columns[b.random.IntN(len(t.columns))]
		if is(t, c) && b.plan.Table(t.name).Column(c.name) != nil {
			return t, c
		}
	}
	return nil, nil
}

func plainColumn(_ *table, c *column) bool { return c.role == plan.RolePlain }

// exec reports whether the target takes statements.
func (b *binding) exec(t *testing.T, statements ...string) bool {
	for _, text := range statements {
		if _, err := b.target.ExecContext(t.Context(), text); err != nil {
			t.Logf("not possible: %s: %v", text, err)
			return false
		}
	}
	return true
}

// retype gives a column of the target another type.
func (b *binding) retype(t *testing.T, table *table, c *column, typ string) bool {
	switch b.Dialect {
	case sqlsnow.MySQL:
		return b.exec(t, "ALTER TABLE "+table.name+" MODIFY "+c.name+" "+typ)
	case sqlsnow.Postgres:
		return b.exec(t, "ALTER TABLE "+table.name+" ALTER "+c.name+" TYPE "+typ+" USING "+c.name+"::"+typ)
	}
	return false
}

// valueOf returns a value of a row of a source, as SQL, or "".
func (b *binding) valueOf(table *table, c *column) string {
	s := b.world.merges[0][b.random.IntN(len(b.world.merges[0]))]
	rows := s.rows[table.name]
	if len(rows) == 0 || rows[0][c.name] == nil {
		return ""
	}
	v := rows[b.random.IntN(len(rows))][c.name]
	if v == nil {
		return ""
	}
	return "'" + strings.ReplaceAll(*v, "'", "''") + "'"
}

// targetDamages are done to the target, the plan or the sources. They report whether they were possible.
var targetDamages = []struct {
	name string
	do   func(b *binding, t *testing.T) bool
}{
	{"a table is missing", func(b *binding, t *testing.T) bool {
		table, _ := b.some(func(*table, *column) bool { return true })
		return table != nil && b.exec(t, "DROP TABLE "+table.name)
	}},
	{"a column is missing", func(b *binding, t *testing.T) bool {
		table, c := b.some(plainColumn)
		return table != nil && b.exec(t, "ALTER TABLE "+table.name+" DROP COLUMN "+c.name)
	}},
	{"a column that wants values", func(b *binding, t *testing.T) bool {
		table, _ := b.some(plainColumn)
		return table != nil && b.exec(t, "ALTER TABLE "+table.name+" ADD extra INT NOT NULL")
	}},
	{"a column with a default", func(b *binding, t *testing.T) bool {
		table, _ := b.some(plainColumn)
		return table != nil && b.exec(t, "ALTER TABLE "+table.name+" ADD extra INT DEFAULT 7")
	}},
	{"a short text", func(b *binding, t *testing.T) bool {
		table, c := b.some(func(_ *table, c *column) bool { return plainColumn(nil, c) && c.value == text })
		return table != nil && b.retype(t, table, c, fmt.Sprintf("VARCHAR(%d)", 1+b.random.IntN(30)))
	}},
	{"a narrow type", func(b *binding, t *testing.T) bool {
		table, c := b.some(plainColumn)
		if table == nil {
			return false
		}
		narrow := map[value]string{whole: "SMALLINT", decimal: "DECIMAL(12,2)", double: "FLOAT", moment: "TIMESTAMP(0)", long: "VARCHAR(20)", blob: "VARBINARY(5)"}
		if b.Dialect == sqlsnow.Postgres {
			narrow[double], narrow[blob] = "REAL", ""
		}
		return narrow[c.value] != "" && b.retype(t, table, c, narrow[c.value])
	}},
	{"a day for a moment", func(b *binding, t *testing.T) bool {
		table, c := b.some(func(_ *table, c *column) bool { return plainColumn(nil, c) && c.value == moment })
		return table != nil && b.retype(t, table, c, "DATE")
	}},
	{"another collation", func(b *binding, t *testing.T) bool {
		table, c := b.some(func(_ *table, c *column) bool { return plainColumn(nil, c) && c.value == text })
		return table != nil && b.Dialect == sqlsnow.MySQL && b.retype(t, table, c, "VARCHAR(200) "+[]string{"CHARACTER SET latin1", "CHARACTER SET ascii", "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"}[b.random.IntN(3)])
	}},
	{"NOT NULL", func(b *binding, t *testing.T) bool {
		table, c := b.some(func(_ *table, c *column) bool { return c.nullable })
		if table == nil || b.Dialect != sqlsnow.Postgres && (c.role != plan.RolePlain || b.Dialect == sqlsnow.SQLite) {
			return false
		}
		if b.Dialect == sqlsnow.Postgres {
			return b.exec(t, "ALTER TABLE "+table.name+" ALTER "+c.name+" SET NOT NULL")
		}
		return b.retype(t, table, c, types[b.Dialect][c.value]+" NOT NULL")
	}},
	{"a check", func(b *binding, t *testing.T) bool {
		table, c := b.some(func(_ *table, c *column) bool { return c.name == "tag" || c.name == "code" })
		if table == nil || b.valueOf(table, c) == "" {
			return false
		}
		return b.exec(t, "ALTER TABLE "+table.name+" ADD CONSTRAINT strict CHECK ("+c.name+" <> "+b.valueOf(table, c)+")")
	}},
	{"a check that all rows pass", func(b *binding, t *testing.T) bool {
		table, _ := b.some(plainColumn)
		return table != nil && len(table.primary) > 0 && b.exec(t, "ALTER TABLE "+table.name+" ADD CONSTRAINT easy CHECK ("+table.primary[0]+" IS NOT NULL)")
	}},
	{"a check of a reference", func(b *binding, t *testing.T) bool {
		table, c := b.some(func(_ *table, c *column) bool { return c.role == plan.RoleReference && !c.text })
		return table != nil && b.exec(t, "ALTER TABLE "+table.name+" ADD CONSTRAINT above CHECK ("+c.name+" > "+[]string{"0", "9000000000000000000"}[b.random.IntN(2)]+")")
	}},
	{"another unique key", func(b *binding, t *testing.T) bool {
		table, c := b.some(plainColumn)
		return table != nil && b.exec(t, "CREATE UNIQUE INDEX other ON "+table.name+" ("+c.name+")")
	}},
	{"a unique key on an expression", func(b *binding, t *testing.T) bool {
		table, c := b.some(func(_ *table, c *column) bool { return c.name == "tag" || c.name == "code" })
		if table == nil {
			return false
		}
		n := 3 + b.random.IntN(12)
		if b.Dialect == sqlsnow.MySQL {
			return b.exec(t, fmt.Sprintf("CREATE UNIQUE INDEX other ON %s (%s(%d))", table.name, c.name, n))
		}
		return b.exec(t, fmt.Sprintf("CREATE UNIQUE INDEX other ON %s (substr(%s, 1, %d))", table.name, c.name, n))
	}},
	{"a trigger", func(b *binding, t *testing.T) bool {
		table, c := b.some(func(_ *table, c *column) bool { return c.name == "tag" || c.name == "code" })
		if table == nil || b.valueOf(table, c) == "" {
			return false
		}
		is := "NEW." + c.name + " = " + b.valueOf(table, c)
		switch b.Dialect {
		case sqlsnow.MySQL:
			return b.exec(t, "CREATE TRIGGER guard BEFORE INSERT ON "+table.name+" FOR EACH ROW BEGIN IF "+is+" THEN SIGNAL SQLSTATE '45000'; END IF; END")
		case sqlsnow.Postgres:
			return b.exec(t, "CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF "+is+" THEN RAISE 'no'; END IF; RETURN NEW; END $$",
				"CREATE TRIGGER guard BEFORE INSERT ON "+table.name+" FOR EACH ROW EXECUTE FUNCTION guard()")
		}
		return b.exec(t, "CREATE TRIGGER guard BEFORE INSERT ON "+table.name+" WHEN "+is+" BEGIN SELECT RAISE(ABORT, 'no'); END")
	}},
	{"a foreign key", func(b *binding, t *testing.T) bool {
		table, c := b.some(func(_ *table, c *column) bool { return c.role == plan.RoleReference && !c.declared && !c.text })
		if table == nil || c.refers[0].Table == table.name {
			return false
		}
		return b.exec(t, "ALTER TABLE "+table.name+" ADD CONSTRAINT late FOREIGN KEY ("+c.name+") REFERENCES "+c.refers[0].Table+" (id)")
	}},
	{"a generated column", func(b *binding, t *testing.T) bool {
		table, c := b.some(func(_ *table, c *column) bool { return plainColumn(nil, c) && c.nullable && c.value == text })
		return table != nil && b.exec(t, "ALTER TABLE "+table.name+" DROP COLUMN "+c.name, "ALTER TABLE "+table.name+" ADD "+c.name+" VARCHAR(200) GENERATED ALWAYS AS ('x') "+map[bool]string{true: "STORED", false: "VIRTUAL"}[b.Dialect == sqlsnow.Postgres])
	}},
	{"no namespace", func(b *binding, _ *testing.T) bool {
		b.config.Namespace = "nowhere"
		return true
	}},
	{"a key chosen by hand", func(b *binding, _ *testing.T) bool {
		table, c := b.some(plainColumn)
		if table == nil || table.ids() {
			return false
		}
		p := b.plan.Table(table.name)
		p.PrimaryKey = []string{c.name}
		return true
	}},
	{"an orphan", func(b *binding, t *testing.T) bool {
		table, c := b.some(func(_ *table, c *column) bool { return c.role == plan.RoleReference && !c.declared && !c.text })
		s := b.world.merges[0][0]
		if table == nil || s.lacks[table.name+"."+c.name] {
			return false
		}
		_, err := s.db.ExecContext(t.Context(), "UPDATE "+table.name+" SET "+c.name+" = 2000000001")
		return err == nil
	}},
	{"a reference that nobody has decided on", func(b *binding, _ *testing.T) bool {
		table, c := b.some(func(_ *table, c *column) bool { return c.role == plan.RoleReference && !c.declared })
		if table == nil {
			return false
		}
		p := b.plan.Table(table.name).Column(c.name)
		p.Role, p.Decided, p.Suspects = plan.RolePlain, false, nil
		return true
	}},
	{"clashes", func(b *binding, _ *testing.T) bool {
		table, _ := b.some(func(*table, *column) bool { return true })
		if table == nil || len(b.plan.Table(table.name).Unique) == 0 {
			return false
		}
		for _, u := range b.plan.Table(table.name).Unique {
			u.Rule = plan.RuleFail
		}
		return true
	}},
	{"an assertion that can't be asked", func(b *binding, _ *testing.T) bool {
		b.config.Assertions = []merge.Assertion{{Name: "nothing", SQL: "SELECT COUNT(*) FROM nowhere"}}
		return true
	}},
}
