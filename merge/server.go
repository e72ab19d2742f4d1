package merge

import (
	"context"
	"crypto/rand"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// near returns the name of a source's database, if the session of the target
// reads that very database: both are on one server. Else it returns "".
func (w *worker) near(ctx context.Context, source string) (string, error) {
	if w.merge.engine.dialect != sqlsnow.MySQL {
		return "", nil
	}
	if name, known := w.databases[source]; known {
		return name, nil
	}
	s, err := w.source(ctx, source)
	if err != nil {
		return "", err
	}
	name, err := sameServer(ctx, s, w.target)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil { // the server has no such locks, or none for this account
		name = ""
	}
	if w.databases == nil {
		w.databases = map[string]string{}
	}
	w.databases[source] = name
	return name, nil
}

// sameServer returns the name of the source's database if both sessions are on
// one server, in different databases.
func sameServer(ctx context.Context, source, target *session) (string, error) {
	var name, own sql.NullString
	if err := source.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&name); err != nil {
		return "", err
	}
	if err := target.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&own); err != nil {
		return "", err
	}
	if same, _, err := seesLock(ctx, source, target); err != nil || !same || !name.Valid || name == own {
		return "", err
	}
	// At this level nothing in the source is locked, and replicas are sent rows, for
	// they may not have the source.
	var logs, longest int
	var format string
	err := target.QueryRowContext(ctx, "SELECT @@log_bin, @@binlog_format, @@max_allowed_packet").Scan(&logs, &format, &longest)
	if err != nil || logs != 0 && format == "STATEMENT" || longest < 1<<20 { // functions return NULL for texts that are longer
		return "", err
	}
	_, err = target.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE")
	if err == nil { // a list that is cut off is worse than one that is too long
		_, err = target.ExecContext(ctx, "SET SESSION group_concat_max_len = 1073741824")
	}
	return name.String, err
}

// seesLock reports whether two sessions are on one MySQL server. Addresses
// prove nothing: so one session takes a lock with a name that nobody else knows,
// and the other one must see who has it. It is not known if there are no locks.
func seesLock(ctx context.Context, a, b *session) (same, known bool, err error) {
	lock := "'snow_merge_" + rand.Text() + "'"
	var taken, holder, seen sql.NullInt64
	err = a.QueryRowContext(ctx, "SELECT GET_LOCK("+lock+", 0), CONNECTION_ID()").Scan(&taken, &holder)
	if err != nil || taken.Int64 != 1 {
		return false, false, err
	}
	err = b.QueryRowContext(ctx, "SELECT IS_USED_LOCK("+lock+")").Scan(&seen)
	if undo := a.QueryRowContext(ctx, "SELECT RELEASE_LOCK("+lock+")").Scan(&taken); err == nil {
		err = undo
	}
	return seen.Valid && seen.Int64 == holder.Int64, err == nil, err
}

// A direct is how the server itself makes rows of the target out of rows of a
// source, where the target's session can read both and each column is one of
// plain values, or of integers that are keys or refer to rows. It means the
// same as [rewriter.rewrite].
type direct struct {
	engine *engine
	scope  *scope
	table  string   // of the source, as the target's session calls it
	own    string   // how the row of the map is found for one of the source, s
	joins  string   // what else is looked up for it
	single bool     // the primary key is the scope's key, or there is no map: it is one integer
	hash   string   // what goes before a statement so that rows are found by hashes and not one by one
	dense  bool     // most of the target's rows are of this source, or there are few
	values []string // for each column of the scope, what becomes of it
	exact  []string // the same values in a form whose equality is that of bytes, with % for the column
	alive  string   // whether a row is copied; "" if all are
	sound  []string // what must be so of each row that is copied, or people must be told of it
	texts  []string // the values as texts that can be put in a row, or nil if packs are of no use to the server
	dating *dating  // how the ids of packs are made, if texts is not nil
	bytes  int      // of a row, about
}

// direct returns nil if rows of a scope must go through this process.
func (w *worker) direct(ctx context.Context, r *run, s *scope) (*direct, error) {
	database, err := w.near(ctx, s.source)
	if err != nil || database == "" || s.changed {
		return nil, err
	}
	e := w.merge.engine
	d := &direct{engine: e, scope: s, table: e.quote(database) + "." + e.quote(s.table.Name)}
	from, err := e.tableIn(ctx, w.target, literal(database), s.table.Name)
	if err != nil {
		return nil, err
	}
	to, err := e.tableIn(ctx, w.target, "DATABASE()", s.table.Name)
	if err != nil || from == nil || to == nil || !slices.Equal(from.primary, s.table.PrimaryKey) || !slices.Equal(to.primary, s.table.PrimaryKey) {
		return nil, err
	}
	d.bytes = e.sampleBytes(ctx, w.target, d.table, from)
	key := s.table.PrimaryKey[0]
	d.single = len(s.primary) == 1 && countable(from.columns[key].typ) && (!s.maps || s.primary[0] == s.key)
	if s.maps {
		d.own = " LEFT JOIN snow_merge_map AS m FORCE INDEX (PRIMARY) ON m.scope = " + strconv.FormatInt(s.id, 10) + " AND m.old_id = s." + e.quote(s.columns[s.key].Name)
		if d.alive = "m.old_id IS NULL"; s.mints {
			d.alive = "m.kind = 0"
		}
	}
	d.dense = to.rows <= 4*from.rows+100_000
	scopes := r.of(s.source)
	for at, c := range s.columns {
		is, becomes := from.columns[c.Name], to.columns[c.Name]
		exact, ok := exactly(is, becomes)
		integer := countable(is.typ) && sqltype.Of(sqlsnow.MySQL, becomes.typ).Kind == sqltype.Integer
		if !integer && (!ok || c.Role != plan.RolePlain || slices.Contains(s.primary, at)) {
			return nil, nil
		}
		value := "s." + e.quote(c.Name)
		switch c.Role {
		case plan.RolePlain:
			if !ok {
				return nil, nil
			}
		case plan.RoleKey:
			if s.mints {
				value = "m.new_id"
			}
		case plan.RoleReference:
			if value = d.reference(c, at, database, scopes); value == "" {
				return nil, nil
			}
		default:
			return nil, nil
		}
		if integer {
			exact = "%"
		}
		d.values, d.exact = append(d.values, value), append(d.exact, exact)
		if text, ok := textual(is, becomes, c.Role == plan.RoleReference); ok {
			d.texts = append(d.texts, text)
		}
	}
	if s.packs {
		d.dating = e.dating(r, s, from)
	}
	if len(d.texts) < len(d.values) || d.dating == nil || !from.ordered || !to.ordered || d.bytes > hashedBytes {
		d.texts = nil
	}
	// The account of the target may be another one, which can't read this.
	_, err = w.target.ExecContext(ctx, "SELECT "+strings.Join(d.values, ", ")+d.from(nil, nil)+" LIMIT 0")
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, nil
	}
	// References are all over their tables, and hashes would be made of all of those.
	if d.single && d.joins == "" && s.maps == s.mints && d.bytes <= hashedBytes {
		if _, err := w.target.ExecContext(ctx, hashing+"SELECT 1"); err == nil { // MySQL does so anyway, if it is not told to use an index
			d.hash = hashing
		}
	}
	return d, ctx.Err()
}

// hashing is how MariaDB is told to join ranges of rows by hashes, in place of
// a search for each row. It is half the time where a range is not much larger
// than the buffer: so rows are to have less than so many bytes, about.
const (
	hashing     = "SET STATEMENT join_cache_level = 4, join_buffer_size = 2097152, optimizer_switch = 'join_cache_hashed=on,outer_join_with_cache=on' FOR "
	hashedBytes = 1000
)

// reference returns what becomes of a reference, and looks up what it takes. It
// returns "" if that can't be said.
func (d *direct) reference(c *plan.Column, at int, database string, scopes map[string]*scope) string {
	e := d.engine
	parent := scopes[c.Refers[0].Table]
	if parent == nil || parent.key < 0 {
		return ""
	}
	n := strconv.Itoa(at)
	value := "s." + e.quote(c.Name)
	found := value // what becomes of it if the row is not in the map
	if c.Orphans != plan.OrphansFail && !parent.mints {
		key := parent.columns[parent.key]
		if !slices.Equal(parent.table.PrimaryKey, []string{key.Name}) || !countable(key.Type) {
			return ""
		}
		found = "p" + n + "." + e.quote(key.Name)
		d.joins += " LEFT JOIN " + e.quote(database) + "." + e.quote(parent.table.Name) + " AS p" + n + " FORCE INDEX (PRIMARY) ON " + found + " = " + value
	}
	after := found
	switch {
	case parent.mints:
		after = "m" + n + ".new_id"
	case parent.maps:
		after = "CAST(CASE WHEN m" + n + ".old_id IS NULL THEN " + found + " ELSE m" + n + ".new_id END AS SIGNED)"
	}
	if parent.maps {
		d.joins += " LEFT JOIN snow_merge_map AS m" + n + " FORCE INDEX (PRIMARY) ON m" + n + ".scope = " + strconv.FormatInt(parent.id, 10) + " AND m" + n + ".old_id = " + value
	}
	if after == value {
		return value
	}
	none := d.none(value, c)
	if c.Orphans != plan.OrphansNull {
		d.sound = append(d.sound, "("+value+" IS NULL OR "+none+after+" IS NOT NULL)")
	}
	if none == "" {
		return after
	}
	return "CAST(CASE WHEN " + strings.TrimSuffix(none, " OR ") + " THEN " + value + " ELSE " + after + " END AS SIGNED)"
}

// none returns the condition that a reference stands for no row, with OR after
// it, or "" if no number does so.
func (d *direct) none(value string, c *plan.Column) string {
	var ids []int64
	for _, text := range c.None {
		if id, ok := parseID(text); ok {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	condition, _ := d.engine.anyOf(value, ids)
	return condition + " OR "
}

// from returns the rows of the source with what is looked up for them, row by
// row: the optimizer knows little of tables that were filled just now.
func (d *direct) from(lo, hi []any) string {
	own := d.own
	if own != "" {
		own += d.between("m.old_id", lo, hi)
	}
	if d.hash != "" {
		own = strings.Replace(own, " LEFT JOIN", " JOIN", 1) // rows that are not in the map are not copied
	}
	return " FROM " + d.table + " AS s FORCE INDEX (PRIMARY)" + own + d.joins
}

// rows returns the same without what is looked up of the row itself, as it is
// not there where the map has packs.
func (d *direct) rows() string {
	return " FROM " + d.table + " AS s FORCE INDEX (PRIMARY)" + d.joins
}

// between returns the condition that a column which is equal to the primary key
// is above lo and up to hi, so that the server does not have to look elsewhere.
func (d *direct) between(column string, lo, hi []any) (text string) {
	if d.single && lo != nil {
		text += " AND " + column + " > " + textOf(lo[0])
	}
	if d.single && hi != nil {
		text += " AND " + column + " <= " + textOf(hi[0])
	}
	return text
}

// within returns the condition that a row of the source is above lo and up to
// hi, and false if those are no integers. Nil is no bound.
func (d *direct) within(lo, hi []any) (string, bool) {
	conditions := []string{"TRUE"}
	for _, bound := range []struct {
		key    []any
		before string
		last   string
	}{{lo, " > ", " > "}, {hi, " < ", " <= "}} {
		text := ""
		for i, v := range slices.Backward(bound.key) {
			id, ok := v.(int64)
			if !ok {
				return "", false
			}
			name, number := "s."+d.engine.quote(d.scope.table.PrimaryKey[i]), strconv.FormatInt(id, 10)
			if text == "" {
				text = name + bound.last + number
			} else {
				text = "(" + name + bound.before + number + " OR " + name + " = " + number + " AND " + text + ")"
			}
		}
		if text != "" {
			conditions = append(conditions, text)
		}
	}
	return strings.Join(conditions, " AND "), true
}
