package witness

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/jsonpath"
	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/plan"
)

// An unpacked is a link of a column whose values have ids inside: it finds them, and looks up the contents of their
// rows.
type unpacked struct {
	link   int
	column *plan.Column
	place  string
	codec  packed.Codec
	of     *plan.Column // the column that has kinds, or nil
	by     int          // which of the columns says of what kind a value is
	kind   string
	values []int // which of the columns with ids inside: one, or the upper half of ids and the lower one
	ids    map[int64]string
}

// columnsWithin returns the columns that such links are in.
func columnsWithin(db *Database, t *plan.Table, links []link) (names []string) {
	add := func(name string) {
		if c := t.Column(name); c != nil && (db.Name == "" || c.In(db.Name)) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, l := range links {
		if !l.joins() {
			add(l.column.Name)
			add(l.column.By)
		}
	}
	return names
}

// unpack returns the links of a table that SQL can't join. It reads the rows once to know which ids there are, and
// then their contents.
func (w *Witness) unpack(ctx context.Context, db *Database, t *plan.Table, links []link, shares int64) (all []*unpacked, err error) {
	names := columnsWithin(db, t, links)
	for i, l := range links {
		if l.joins() || !slices.Contains(names, l.column.Name) || db.Name != "" && !l.parent.In(db.Name) {
			continue
		}
		u := &unpacked{link: i, column: l.column, place: l.column.Refers[l.ref].Path}
		if l.column.Role == plan.RolePolymorphic {
			if u.by = slices.Index(names, l.column.By); u.by < 0 {
				continue
			}
			u.of, u.kind = l.column, l.column.Refers[l.ref].Value
			u.column, _ = l.column.Kind(u.kind)
		}
		var format packed.Format
		switch u.column.Role {
		case plan.RoleList:
			u.codec = list{cmp.Or(u.column.Separator, ","), strings.HasSuffix(u.column.Type, "[]")}
		case plan.RoleJSON:
			steps, err := jsonpath.Parse(u.place)
			if err != nil {
				return nil, err
			}
			u.codec = document{u.place, steps}
		default:
			if u.codec, format, err = w.Codec(t, u.column); err != nil {
				return nil, err
			}
		}
		u.values = []int{slices.Index(names, l.column.Name)}
		switch other := slices.Index(names, l.column.By); {
		case !format.Half():
		case other < 0:
			continue
		case format.Kind == packed.High:
			u.values = append(u.values, other)
		default:
			u.values = []int{other, u.values[0]}
		}
		at := where{db, l.parent}
		if w.led[at] == nil {
			w.led[at] = map[int64]string{}
		}
		u.ids = w.led[at]
		all = append(all, u)
	}
	if len(all) == 0 || w.seen[sample{where{db, t}, shares}] {
		return all, nil
	}
	wanted := map[*plan.Table]map[int64]bool{}
	if err := w.scan(ctx, db, t, links, shares, false, func(_ tuple, values []sql.NullString, _ []string) {
		for _, u := range all {
			parent := links[u.link].parent
			if wanted[parent] == nil {
				wanted[parent] = map[int64]bool{}
			}
			ids, _ := u.find(values)
			for _, id := range ids {
				if _, known := u.ids[id]; !known {
					wanted[parent][id] = true
				}
			}
		}
	}); err != nil {
		return nil, err
	}
	for parent, ids := range wanted {
		if err := w.lookUp(ctx, where{db, parent}, slices.Sorted(maps.Keys(ids))); err != nil {
			return nil, fmt.Errorf("contents of table %q: %w", parent.Name, err)
		}
	}
	w.seen[sample{where{db, t}, shares}] = true
	return all, nil
}

// find returns the ids at the link's place of a row. That a value is not of its format is an error.
func (u *unpacked) find(values []sql.NullString) (ids []int64, err error) {
	if u.of != nil && !u.isKind(values[u.by].String) { // NULL is empty
		return nil, nil
	}
	var parts []string
	for _, i := range u.values {
		if !values[i].Valid {
			return nil, nil
		}
		parts = append(parts, values[i].String)
	}
	value := strings.Join(parts, " ")
	if len(parts) == 1 && (slices.Contains(u.column.None, value) || u.column.Role != plan.RolePacked && strings.TrimSpace(value) == "") {
		return nil, nil
	}
	_, err = u.codec.Replace(value, func(place, id string) (string, error) {
		n, err := strconv.ParseInt(id, 10, 64)
		if err == nil && place == u.place && !slices.Contains(u.column.None, id) {
			ids = append(ids, n)
		}
		return id, nil
	})
	return ids, err
}

// isKind reports whether a value of the column By is of the link's kind.
func (u *unpacked) isKind(by string) bool {
	return by == u.kind || u.kind == plan.AnyKind && !slices.ContainsFunc(u.of.Refers, func(r *plan.Reference) bool { return r.Value == by })
}

// contents returns the contents of the rows that a row refers to.
func (u *unpacked) contents(values []sql.NullString) string {
	ids, err := u.find(values)
	if err != nil {
		return unreadable
	}
	var all []string
	for _, id := range ids {
		if u.ids[id] != "" || !u.column.BecomesNull() { // those are left out of the target's
			all = append(all, u.ids[id])
		}
	}
	if u.column.Role == plan.RoleJSON { // a database may write members in another order, after their names have changed
		slices.Sort(all)
	}
	return strings.Join(all, between)
}

// lookUp reads the contents of rows of some ids.
func (w *Witness) lookUp(ctx context.Context, at where, ids []int64) error {
	key := "p." + w.Dialect.Quote(at.table.Key().Name)
	for part := range slices.Chunk(ids, 1000) {
		literals := make([]string, len(part))
		for i, id := range part {
			literals[i], w.led[at][id] = strconv.FormatInt(id, 10), ""
		}
		text := "SELECT " + key + ", " + w.present("p", at.table) + " FROM " + at.db.SQL(at.table.Name) + " AS p WHERE " + key + " IN (" + strings.Join(literals, ", ") + ")"
		if err := visit(ctx, at.db, text, func(rows *sql.Rows) error {
			var id int64
			var content string
			err := rows.Scan(&id, &content)
			w.led[at][id] = content
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// A list finds the ids in a delimited text, or in an array as PostgreSQL writes it.
type list struct {
	separator string
	array     bool
}

func (l list) Replace(value string, by func(place, id string) (string, error)) (string, error) {
	parts := strings.Split(value, l.separator)
	if l.array { // it may begin with its bounds, as in [0:1]={7,8}
		parts = strings.FieldsFunc(value[max(0, strings.IndexByte(value, '{')):], func(r rune) bool { return strings.ContainsRune("{},", r) })
	}
	for _, part := range parts {
		if _, err := by("", strings.TrimSpace(part)); err != nil {
			return "", err
		}
	}
	return value, nil
}

// A document finds the ids at a path of JSON.
type document struct {
	path  string
	steps []jsonpath.Step
}

func (d document) Replace(value string, by func(place, id string) (string, error)) (string, error) {
	var failed error
	_, err := jsonpath.Edit(value, []jsonpath.Route{{Steps: d.steps}}, func(_ int, text string) (string, bool) {
		var quoted string
		if json.Unmarshal([]byte(text), &quoted) != nil {
			quoted = text
		}
		_, err := by(d.path, quoted)
		failed = cmp.Or(failed, err)
		return text, true
	})
	return value, cmp.Or(err, failed)
}
