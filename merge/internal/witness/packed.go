package witness

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/plan"
)

// between is what is between the contents of several rows that one value refers to.
const between = "\x1f"

// A where is a table of a database, and a sample some rows of one.
type (
	where struct {
		db    *Database
		table *plan.Table
	}
	sample struct {
		where
		shares int64
	}
)

// An unpacked is a link of a packed column: it finds ids in the values, and looks up the contents of their rows.
type unpacked struct {
	link   int
	place  string
	none   []string
	codec  packed.Codec
	values []int // which of the packed columns: one, or the upper half of ids and the lower one
	ids    map[int64]string
}

// packedColumns returns the columns that packed links are in.
func packedColumns(db *Database, t *plan.Table, links []link) (names []string) {
	add := func(name string) {
		if c := t.Column(name); c != nil && (db.Name == "" || c.In(db.Name)) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, l := range links {
		if l.column.Role == plan.RolePacked {
			add(l.column.Name)
			add(l.column.By)
		}
	}
	return names
}

// unpack returns the packed links of a table. It reads the rows once to know which ids there are, and then their contents.
func (w *Witness) unpack(ctx context.Context, db *Database, t *plan.Table, links []link, shares int64) (all []*unpacked, err error) {
	names := packedColumns(db, t, links)
	if w.led == nil {
		w.led, w.seen = map[where]map[int64]string{}, map[sample]bool{}
	}
	for i, l := range links {
		if l.column.Role != plan.RolePacked || !slices.Contains(names, l.column.Name) || db.Name != "" && !l.parent.In(db.Name) {
			continue
		}
		u := &unpacked{link: i, place: l.column.Refers[l.ref].Path, none: l.column.None}
		var format packed.Format
		if u.codec, format, err = w.Codec(t, l.column); err != nil {
			return nil, err
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
			for _, id := range u.find(values) {
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

// find returns the ids at the link's place of a row. What can't be read has none: that is told of elsewhere.
func (u *unpacked) find(values []sql.NullString) (ids []int64) {
	var parts []string
	for _, i := range u.values {
		if !values[i].Valid {
			return nil
		}
		parts = append(parts, values[i].String)
	}
	value := strings.Join(parts, " ")
	if len(parts) == 1 && slices.Contains(u.none, value) {
		return nil
	}
	_, err := u.codec.Replace(value, func(place, id string) (string, error) {
		n, err := strconv.ParseInt(id, 10, 64)
		if err == nil && place == u.place && !slices.Contains(u.none, id) {
			ids = append(ids, n)
		}
		return id, nil
	})
	if err != nil {
		return nil
	}
	return ids
}

// contents returns the contents of the rows that a row refers to.
func (u *unpacked) contents(values []sql.NullString) string {
	ids := u.find(values)
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = u.ids[id]
	}
	return strings.Join(all, between)
}

// lookUp reads the contents of rows of some ids.
func (w *Witness) lookUp(ctx context.Context, at where, ids []int64) error {
	for part := range slices.Chunk(ids, 1000) {
		if err := w.lookUpSome(ctx, at, part); err != nil {
			return err
		}
	}
	return nil
}

func (w *Witness) lookUpSome(ctx context.Context, at where, ids []int64) error {
	key := "p." + w.Dialect.Quote(at.table.Key().Name)
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i], w.led[at][id] = strconv.FormatInt(id, 10), ""
	}
	rows, err := at.db.QueryContext(ctx, "SELECT "+key+", "+w.present("p", at.table)+" FROM "+w.Dialect.Quote(at.table.Name)+" AS p WHERE "+key+" IN ("+strings.Join(list, ", ")+")")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var content string
		if err := rows.Scan(&id, &content); err != nil {
			return err
		}
		w.led[at][id] = content
	}
	return rows.Err()
}
