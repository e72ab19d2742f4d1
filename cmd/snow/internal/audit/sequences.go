package audit

import (
	"cmp"
	"context"
	"database/sql"
	"math/big"
	"regexp"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/idcolumn"
	"github.com/shardsnow/snow/sqlsnow"
)

// nextval matches a default of MariaDB, and finds the sequence.
var nextval = regexp.MustCompile("(?i)^nextval\\((`.+`)\\)$")

// A defaultOf is a column whose default is the next number of a sequence of MariaDB.
type defaultOf struct {
	table    *table
	column   idcolumn.Column
	sequence string // with its database, both quoted
}

// readSequences reads what the catalogue says about counters.
func (a *audit) readSequences(ctx context.Context) error {
	switch a.dialect {
	case sqlsnow.MySQL:
		return a.mysqlCounters(ctx)
	case sqlsnow.Postgres:
		return a.postgresSequences(ctx)
	}
	return a.sqliteCounters(ctx)
}

// mysqlCounters reads AUTO_INCREMENT and the sequences of MariaDB. MySQL's catalogue remembers AUTO_INCREMENT for
// a day, so readCounters asks again there.
func (a *audit) mysqlCounters(ctx context.Context) error {
	var version string
	if err := a.db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return err
	}
	a.maria = strings.Contains(version, "MariaDB")
	var sequences []string
	err := a.each(ctx, `SELECT table_name, table_type, COALESCE(auto_increment, 0), COALESCE(UNIX_TIMESTAMP(create_time), 0)
		FROM information_schema.tables WHERE table_schema = DATABASE()`, func(rows *sql.Rows) error {
		var name, typ string
		var next uint64
		var made float64
		if err := rows.Scan(&name, &typ, &next, &made); err != nil {
			return err
		}
		if typ == "SEQUENCE" {
			sequences = append(sequences, name)
			return nil
		}
		t := a.named[a.nameOf("", name)]
		if t == nil {
			return nil
		}
		t.versioned = typ == "SYSTEM VERSIONED"
		if made > 0 {
			t.made = time.Unix(int64(made), 0)
		}
		for _, c := range t.columns {
			if c.Auto == "AUTO_INCREMENT" && c.Kind == idcolumn.Integer {
				t.counters[c.Name] = typed(c, max(next, 1)-1)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, d := range a.defaults {
		_, own, _ := strings.Cut(d.sequence, "`.`")
		used[strings.TrimSuffix(own, "`")] = true
		if d.table.ignored {
			continue
		}
		c, err := a.mariaSequence(ctx, d.sequence)
		if err != nil {
			return err
		}
		if c != nil {
			c.within(d.column)
			d.table.counters[d.column.Name] = c
		}
	}
	for _, name := range sequences {
		if used[name] || isOwn(name) || a.ignores(name, "") {
			continue
		}
		c, err := a.mariaSequence(ctx, a.dialect.Quote(name))
		if err != nil {
			return err
		}
		if c != nil {
			c.name = name
			a.sequences = append(a.sequences, c)
		}
	}
	return nil
}

// mariaSequence reads a sequence. The server does not tell which numbers in its cache are used. For a sequence that
// can't be read it adds a finding and returns nil.
func (a *audit) mariaSequence(ctx context.Context, quoted string) (*counter, error) {
	var next, least, most string
	var step, cache int64
	c := &counter{sequence: quoted, own: true}
	err := a.db.QueryRowContext(ctx, "SELECT next_not_cached_value, minimum_value, maximum_value, increment, cache_size, cycle_option FROM "+quoted).
		Scan(&next, &least, &most, &step, &cache, &c.cycles)
	if err != nil && ctx.Err() == nil {
		name := strings.ReplaceAll(quoted, "`", "")
		a.add(Finding{Severity: Warning, Table: name, Problem: "it can't be read: " + err.Error(), Remedy: "grant the user SELECT on it, or leave it out with --ignore"})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c.down = step < 0
	c.reserved = cache > 1
	c.last, c.least, c.most = number(next), number(least), number(most)
	c.last.Sub(c.last, big.NewInt(cmp.Or(step, 1)))
	return c, nil
}

// number reads a number that the server wrote.
func number(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return new(big.Int)
	}
	return n
}

// postgresSequences reads the sequences, and the columns that take their defaults from them or own them.
func (a *audit) postgresSequences(ctx context.Context) error {
	shared := map[string]int{} // how many columns take numbers from a sequence
	err := a.each(ctx, `SELECT DISTINCT n.nspname, COALESCE(n.nspname = current_schema(), false)::int, s.relname, p.last_value::text, q.seqmin::text, q.seqmax::text,
			q.seqincrement, q.seqcycle, COALESCE(tn.nspname, ''), COALESCE(t.relname, ''), COALESCE(a.attname, '')
		FROM pg_sequence q JOIN pg_class s ON s.oid = q.seqrelid JOIN pg_namespace n ON n.oid = s.relnamespace
		JOIN pg_sequences p ON p.schemaname = n.nspname AND p.sequencename = s.relname
		LEFT JOIN (
			SELECT d.refobjid AS sequence, f.adrelid AS of, f.adnum AS num FROM pg_depend d JOIN pg_attrdef f ON f.oid = d.objid
			WHERE d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass
			UNION
			SELECT d.objid, d.refobjid, d.refobjsubid FROM pg_depend d
			WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0
		) u ON u.sequence = s.oid
		LEFT JOIN pg_class t ON t.oid = u.of LEFT JOIN pg_namespace tn ON tn.oid = t.relnamespace
		LEFT JOIN pg_attribute a ON a.attrelid = u.of AND a.attnum = u.num
		WHERE s.relpersistence <> 't' ORDER BY 1, 3, 9, 10, 11`, func(rows *sql.Rows) error {
		var schema, name, least, most, ofSchema, of, column string
		var current, step int64
		var last sql.NullString
		c := &counter{own: true}
		if err := rows.Scan(&schema, &current, &name, &last, &least, &most, &step, &c.cycles, &ofSchema, &of, &column); err != nil {
			return err
		}
		c.sequence, c.name = a.dialect.Quote(schema)+"."+a.dialect.Quote(name), name
		if current == 0 {
			c.name = schema + "." + name
		}
		c.down, c.least, c.most = step < 0, number(least), number(most)
		if last.Valid {
			c.last = number(last.String)
		}
		c.step = max(float64(step), -float64(step))
		t := a.named[a.nameOf(ofSchema, of)]
		switch {
		case of == "" && !isOwn(name) && !a.ignores(c.name, ""):
			a.sequences = append(a.sequences, c)
		case t != nil: // else it is a partition, whose table stands for it
			if at, ok := t.column(column); ok {
				c.within(at)
				t.counters[at.Name] = c
				shared[c.sequence]++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range a.tables {
		for _, c := range t.counters {
			if shared[c.sequence] > 1 {
				c.step = 0 // rows of one table do not tell
			}
		}
	}
	return nil
}

// sqliteCounters reads the counters of AUTOINCREMENT.
func (a *audit) sqliteCounters(ctx context.Context) error {
	for _, t := range a.tables {
		for _, c := range t.columns {
			if c.Auto != "" {
				t.counters[c.Name] = typed(c, 0)
			}
		}
	}
	var has int
	if err := a.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master WHERE name = 'sqlite_sequence'").Scan(&has); err != nil || has == 0 {
		return err
	}
	return a.each(ctx, "SELECT name, seq FROM sqlite_sequence", func(rows *sql.Rows) error {
		var name string
		var last int64
		if err := rows.Scan(&name, &last); err != nil {
			return err
		}
		if t := a.named[a.nameOf("", name)]; t != nil {
			for _, c := range t.counters {
				c.last = big.NewInt(last)
			}
		}
		return nil
	})
}

// autoIncrement matches the next number in the last line of SHOW CREATE TABLE.
var autoIncrement = regexp.MustCompile(`(?m)^\) .*?\bENGINE=\w+ AUTO_INCREMENT=(\d+)`)

// readCounters completes the counters of a table by its rows.
func (a *audit) readCounters(ctx context.Context, t *table) error {
	for name, c := range t.counters {
		if a.dialect == sqlsnow.MySQL && !a.maria && c.sequence == "" {
			if err := a.readCreate(ctx, t); err != nil {
				return err
			}
			if match := autoIncrement.FindStringSubmatch(t.create); match != nil {
				if last := number(match[1]); last.Cmp(c.last) > 0 {
					c.last = last.Sub(last, big.NewInt(1))
				}
			}
		}
		if a.dialect == sqlsnow.Postgres && c.last != nil {
			continue
		}
		largest := t.largest
		if len(t.key) == 0 || !strings.EqualFold(t.key[0], name) {
			var smallest, text string
			if err := a.db.QueryRowContext(ctx, idcolumn.Bounds(a.dialect.Quote(name), a.from(t))).Scan(&smallest, &text); err != nil {
				return err
			}
			var err error
			if _, largest, err = idcolumn.ParseBounds(smallest, text); err != nil {
				return err
			}
		}
		c.meet(new(big.Int).SetUint64(largest))
	}
	return nil
}

// meet compares the counter with the largest value of the column.
func (c *counter) meet(largest *big.Int) {
	switch {
	case largest.Sign() == 0 || c.down:
	case c.last == nil || c.sequence == "" && largest.Cmp(c.last) > 0: // it goes on from there
		c.last = largest
	case c.reserved && largest.Cmp(c.last) <= 0:
		c.last, c.reserved = largest, false
	}
}

// rates sets how many numbers a day the counters use, where the server knows.
func (a *audit) rates(ctx context.Context, now time.Time) error {
	switch a.dialect {
	case sqlsnow.MySQL:
		for _, t := range a.tables {
			for _, c := range t.counters {
				if c.sequence == "" {
					used, _ := new(big.Float).SetInt(c.used()).Float64()
					c.rate = newRate(used, t.made, now, true)
				}
			}
		}
		return nil
	case sqlsnow.Postgres:
		return a.postgresRates(ctx, now)
	}
	return nil
}

// postgresRates counts the rows inserted since the statistics of the database begin. If nobody has reset them, they
// begin with the oldest statistics of the server.
func (a *audit) postgresRates(ctx context.Context, now time.Time) error {
	var since sql.NullTime
	if err := a.db.QueryRowContext(ctx, `SELECT COALESCE((SELECT stats_reset FROM pg_stat_database WHERE datname = current_database()),
			LEAST(a.stats_reset, b.stats_reset)) FROM pg_stat_archiver a, pg_stat_bgwriter b`).Scan(&since); err != nil {
		return err
	}
	err := a.each(ctx, `SELECT n.nspname, c.relname, SUM(s.n_tup_ins)::float8 FROM pg_stat_user_tables s
		JOIN pg_class c ON c.oid = COALESCE(pg_partition_root(s.relid), s.relid) JOIN pg_namespace n ON n.oid = c.relnamespace
		GROUP BY n.nspname, c.relname`, func(rows *sql.Rows) error {
		var schema, name string
		var inserted float64
		if err := rows.Scan(&schema, &name, &inserted); err != nil {
			return err
		}
		if t := a.named[a.nameOf(schema, name)]; t != nil {
			t.inserted = inserted
		}
		return nil
	})
	for _, t := range a.tables {
		for _, c := range t.counters {
			c.rate = newRate(c.step*t.inserted, since.Time, now, false)
		}
	}
	return err
}

// bare finds sequences near their end that no column uses. All others stand with their columns.
func (a *audit) bare(now time.Time) {
	for _, c := range a.sequences {
		shown := c.shown(now)
		if shown.Percent < near {
			continue
		}
		f := Finding{Severity: Error, Table: c.name, Problem: c.tell(shown), Counter: shown}
		f.Remedy, f.Statements = "let it go on to the end of its type", []string{c.unbound(a.dialect)}
		if c.reserved {
			f.Severity = Warning
		}
		a.add(f)
	}
}

// tell says how far the counter is, and what comes after its end.
func (c *counter) tell(shown *Counter) string {
	text := shown.String()
	if c.cycles {
		text += "; it then begins again, with numbers that rows have"
	}
	if c.reserved {
		text += "; some of them may still be in the server's cache"
	}
	return text
}
