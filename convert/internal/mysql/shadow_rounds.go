package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A carrier makes the rows of targets equal to the rows of their sources, by the lists of what has changed.
//
// The invariant: if a row differs, a list has an entry for it, or for a row that foreign keys connect with it. A round
// takes some entries, and writes their rows as they are now. For the next round it lists the rows that foreign keys may
// have changed with them.
type carrier struct {
	direction
	world
	s *session
}

// errTooWide says that a value does not fit into the target, which has the type of old.
var errTooWide = errors.New("a value does not fit into the column's old type")

func (c *carrier) temporary(kind string, r *relation) string {
	return quote(derived(kind+"_", r.name))
}

// prepare makes the tables of the session that the rounds use.
func (c *carrier) prepare(ctx context.Context) error {
	for _, r := range c.world {
		key := make([]string, len(r.tracked))
		for i, name := range r.tracked {
			null := " NULL"
			if i < len(r.key) {
				null = " NOT NULL"
			}
			key[i] = fmt.Sprintf("`o%d` %s%s", i, trackedType(r, r.field(name)), null)
		}
		for _, statement := range []string{
			"CREATE TEMPORARY TABLE IF NOT EXISTS " + c.temporary("seen", r) + " (`seq` BIGINT UNSIGNED NOT NULL PRIMARY KEY) ENGINE=InnoDB",
			fmt.Sprintf("CREATE TEMPORARY TABLE IF NOT EXISTS %s (%s, PRIMARY KEY (%s)) ENGINE=InnoDB", c.temporary("dirty", r),
				strings.Join(key[:len(r.key)], ", "), numbered("o", len(r.key))),
			fmt.Sprintf("CREATE TEMPORARY TABLE IF NOT EXISTS %s (%s, PRIMARY KEY (%s)) ENGINE=InnoDB", c.temporary("was", r),
				strings.Join(key, ", "), numbered("o", len(r.key))),
		} {
			if err := c.s.exec(ctx, statement); err != nil {
				return err
			}
		}
	}
	return nil
}

// numbered returns the columns o0, o1 and so on of a list.
func numbered(side string, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("`%s%d`", side, i)
	}
	return strings.Join(names, ", ")
}

// onKey compares the primary key of a row with the columns of a list.
func onKey(alias string, r *relation, list string) string {
	compared := make([]string, len(r.key))
	for i, name := range r.key {
		compared[i] = fmt.Sprintf("%s = %s.`o%d`", column(alias, name), list, i)
	}
	return strings.Join(compared, " AND ")
}

// source, target and entries name the tables of a relation with an alias of its own, because LOCK TABLES wants one.
func (c *carrier) source(r *relation) string  { return quote(r.name) + " AS " + r.alias("s") }
func (c *carrier) target(r *relation) string  { return quote(c.to(r.name)) + " AS " + r.alias("d") }
func (c *carrier) entries(r *relation) string { return quote(c.log(r.name)) + " AS " + r.alias("e") }

// taken names the entries of a round. The order is given, because the server knows nothing of tables that are new.
func (c *carrier) taken(r *relation) string {
	return fmt.Sprintf("%s AS v STRAIGHT_JOIN %s ON %s.seq = v.seq", c.temporary("seen", r), c.entries(r), r.alias("e"))
}

// round takes up to limit entries of each list and returns how many it has taken. It is one transaction of the session,
// whose autocommit is off.
func (c *carrier) round(ctx context.Context, limit int) (int64, error) {
	var total int64
	for _, r := range c.world {
		n, err := c.take(ctx, r, limit)
		if err != nil {
			return 0, err
		}
		total += n
	}
	if total == 0 {
		return 0, c.s.exec(ctx, "COMMIT")
	}
	for _, r := range c.world {
		for _, l := range r.children {
			if err := c.propagate(ctx, r, l); err != nil {
				return 0, err
			}
		}
	}
	for _, r := range c.world {
		if err := c.write(ctx, r); err != nil {
			return 0, err
		}
	}
	for _, r := range c.world {
		if err := c.s.exec(ctx, fmt.Sprintf("DELETE %s FROM %s", r.alias("e"), c.taken(r))); err != nil {
			return 0, err
		}
	}
	return total, c.s.exec(ctx, "COMMIT")
}

// take notes the entries of the round, the rows that they name, and what these rows are in the target.
func (c *carrier) take(ctx context.Context, r *relation, limit int) (int64, error) {
	seen, dirty, was := c.temporary("seen", r), c.temporary("dirty", r), c.temporary("was", r)
	for _, t := range []string{seen, dirty, was} {
		if err := c.s.exec(ctx, "DELETE FROM "+t); err != nil {
			return 0, err
		}
	}
	n, err := execCount(ctx, c.s, fmt.Sprintf("INSERT INTO %s SELECT seq FROM %s WHERE depth <> %d ORDER BY seq LIMIT %d",
		seen, c.entries(r), depthScan, limit))
	if err != nil || n == 0 {
		return n, err
	}
	for _, side := range []string{"o", "n"} {
		if err := c.s.exec(ctx, fmt.Sprintf("INSERT IGNORE INTO %s SELECT %s FROM %s WHERE %s0 IS NOT NULL",
			dirty, numbered(side, len(r.key)), c.taken(r), side)); err != nil {
			return 0, err
		}
	}
	if len(r.children) == 0 {
		return n, nil
	}
	return n, c.s.exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT %s FROM %s AS y STRAIGHT_JOIN %s ON %s", was,
		columns(r.alias("d"), r.tracked), dirty, c.target(r), onKey(r.alias("d"), r, "y")))
}

// propagate lists the rows of another table that a foreign key may have changed with the rows of the round.
func (c *carrier) propagate(ctx context.Context, r *relation, l *link) error {
	if !l.carries() {
		return nil
	}
	child := c.relation(l.table)
	moves := slices.ContainsFunc(l.columns, func(name string) bool { return slices.Contains(child.tracked, name) })
	// A row that has only lost its reference leads no further.
	ends := l.onDelete != "CASCADE" && !moves
	changed := "NOT (" + sameTracked(r) + ")"
	list := func(rows, from, side string) error {
		alias := child.alias(rows)
		values, nothing := columns(alias, child.tracked), nulls(len(child.tracked))
		before, after := values, nothing
		switch {
		case rows == "s":
			before, after = nothing, values
		case ends:
			after = values
		}
		referred := make([]string, len(l.columns))
		for i, name := range l.columns {
			referred[i] = fmt.Sprintf("%s = %s.`%s%d`", column(alias, name), r.alias("e"), side, slices.Index(r.tracked, l.refered[i]))
		}
		depth := r.alias("e") + ".depth"
		return c.s.exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT UUID_SHORT(), IF(%s = %d, 1, %s + 1), %s, %s FROM %s STRAIGHT_JOIN %s ON %s WHERE (%s < %d OR %s = %d) AND %s",
			quote(c.log(child.name)), depth, depthFailed, depth, before, after, c.taken(r), from, strings.Join(referred, " AND "),
			depth, maxDepth, depth, depthFailed, changed))
	}
	for _, side := range []string{"o", "n"} {
		if err := list("d", c.target(child), side); err != nil {
			return err
		}
	}
	if moves {
		return list("s", c.source(child), "n")
	}
	return nil
}

// sameTracked says that an entry has the same values before and after.
func sameTracked(r *relation) string {
	same := make([]string, len(r.tracked))
	for i, name := range r.tracked {
		o, n := fmt.Sprintf("%s.`o%d`", r.alias("e"), i), fmt.Sprintf("%s.`n%d`", r.alias("e"), i)
		if r.field(name).collation != "" {
			o, n = "CAST("+o+" AS BINARY)", "CAST("+n+" AS BINARY)"
		}
		same[i] = o + " <=> " + n
	}
	return strings.Join(same, " AND ")
}

// write writes the rows of the round as they are in the source. A row that clashes with one that is not up to date is
// listed again.
func (c *carrier) write(ctx context.Context, r *relation) error {
	dirty, was := c.temporary("dirty", r), c.temporary("was", r)
	from := fmt.Sprintf("%s AS y STRAIGHT_JOIN %s ON %s", dirty, c.source(r), onKey(r.alias("s"), r, "y"))
	if c.name == backward().name {
		if err := c.fits(ctx, r, from); err != nil {
			return err
		}
	}
	if err := c.s.exec(ctx, fmt.Sprintf("DELETE %s FROM %s AS y STRAIGHT_JOIN %s ON %s", r.alias("d"), dirty, c.target(r), onKey(r.alias("d"), r, "y"))); err != nil {
		return err
	}
	stored := r.stored()
	if err := c.s.exec(ctx, fmt.Sprintf("INSERT IGNORE INTO %s (%s) SELECT %s FROM %s", quote(c.to(r.name)), quoteAll(stored), columns(r.alias("s"), stored), from)); err != nil {
		return err
	}
	if err := c.relistClashes(ctx, r, from, "TRUE"); err != nil {
		return err
	}
	if len(r.children) == 0 {
		return nil
	}
	// A row that has gone, or has another key now, without an entry that says so: what referred to it may have changed.
	same := make([]string, len(r.tracked))
	for i, name := range r.tracked {
		o := fmt.Sprintf("w.`o%d`", i)
		d := column(r.alias("d"), name)
		if r.field(name).collation != "" {
			o, d = "CAST("+o+" AS BINARY)", "CAST("+d+" AS BINARY)"
		}
		same[i] = o + " <=> " + d
	}
	return c.s.exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT UUID_SHORT(), 1, w.*, %s FROM %s AS w LEFT JOIN %s ON %s WHERE %s IS NULL OR NOT (%s)",
		quote(c.log(r.name)), nulls(len(r.tracked)), was, c.target(r), onKey(r.alias("d"), r, "w"), column(r.alias("d"), r.key[0]), strings.Join(same, " AND ")))
}

// relistClashes lists the rows that INSERT IGNORE has left out, if it has left out any.
func (c *carrier) relistClashes(ctx context.Context, r *relation, from, where string) error {
	warned, err := texts(ctx, c.s, "SELECT @@warning_count")
	if err != nil || warned[0][0] == "0" {
		return err
	}
	return c.s.exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT UUID_SHORT(), 0, %s, %s FROM %s LEFT JOIN %s ON %s WHERE %s IS NULL AND (%s)",
		quote(c.log(r.name)), nulls(len(r.tracked)), columns(r.alias("s"), r.tracked), from, c.target(r), r.joined(), column(r.alias("d"), r.key[0]), where))
}

// fits returns errTooWide if a row has a value that the old type of its column can't have.
func (c *carrier) fits(ctx context.Context, r *relation, from string) error {
	var outside []string
	for _, planned := range r.plan.Columns {
		low, high, err := bounds(planned.Type)
		if err != nil {
			return err
		}
		outside = append(outside, fmt.Sprintf("%s NOT BETWEEN %s AND %s", column(r.alias("s"), planned.Name), low, high))
	}
	found, err := texts(ctx, c.s, fmt.Sprintf("SELECT 1 FROM %s WHERE %s LIMIT 1", from, strings.Join(outside, " OR ")))
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("mysql: rows of %q can't be written to %q: %w", r.name, c.to(r.name), errTooWide)
	}
	return nil
}

// bounds returns the least and the greatest value of an integer type.
func bounds(full string) (low, high string, err error) {
	unsigned := strings.Contains(full, "unsigned")
	for _, t := range []struct {
		name string
		bits uint
	}{{"tinyint", 8}, {"smallint", 16}, {"mediumint", 24}, {"int", 32}} {
		if !strings.HasPrefix(strings.ToLower(full), t.name) {
			continue
		}
		if unsigned {
			return "0", fmt.Sprint(uint64(1)<<t.bits - 1), nil
		}
		return fmt.Sprint(-(int64(1) << (t.bits - 1))), fmt.Sprint(int64(1)<<(t.bits-1) - 1), nil
	}
	return "", "", fmt.Errorf("mysql: bounds of type %q are not known", full)
}
