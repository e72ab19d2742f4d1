package mergetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/plan"
)

// A value is a kind of plain values.
type value int

const (
	text value = iota
	long
	whole
	decimal
	double
	moment
	day
	blob
	truth
	values // how many there are
)

var texts = []string{
	"", " ", "plain", "it's", `back\slash`, `"quoted"`, "ünïcödé", "雪", "🙂", "%_", "NULL", "null", "0", "two\nlines", "tab\t", "17,3,99", "trailing ",
	"1e5", "0x1F", "?", "$1", ":name", "--", "/* */", "{\"id\": 1}",
}

// make returns a value as it is inserted: nil, a string, or bytes.
func (v value) make(r *rand.Rand) any {
	switch v {
	case text, long:
		return texts[r.IntN(len(texts))]
	case whole:
		return strconv.FormatInt([]int64{0, 1, -1, 1 << 31, 1<<53 + 1, 1<<63 - 1, -1 << 63, r.Int64()}[r.IntN(8)], 10)
	case decimal:
		return []string{"0", "0.1", "-1.25", "123456789.123456", "99999999999.999999"}[r.IntN(5)]
	case double:
		return []string{"0", "0.1", "-1e-300", "1.7976931348623157e308", "3.14159", "1e15"}[r.IntN(6)]
	case moment:
		at := time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.Int64N(int64(600 * 24 * time.Hour))))
		switch r.IntN(12) {
		case 0:
			at = time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC) // before the layout begins
		case 1:
			at = time.Date(2037, 1, 1, 0, 0, 0, 0, time.UTC) // in the future
		case 2:
			at = at.Truncate(24 * time.Hour)
		}
		return at.Format("2006-01-02 15:04:05.000000")
	case day:
		return time.Date(2024, 2, 1+r.IntN(900), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	case blob:
		b := make([]byte, r.IntN(20))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	default:
		return strconv.Itoa(r.IntN(2))
	}
}

// populate makes the rows of a source, and keeps what is inserted in s.inserts.
func (w *world) populate(s *source) {
	r := w.random
	for _, t := range w.tables {
		n := []int{0, 1, 5, 20, 60, 150}[r.IntN(6)]
		if t.shape == dictionary {
			n = 1 + r.IntN(30)
		}
		if t.ids() {
			s.keys[t.name] = w.newKeys(s, t, n)
		}
	}
	w.emptyOut(s)
	s.inserts = make(map[string][][]any)
	for _, t := range w.tables {
		n := len(s.keys[t.name])
		if !t.ids() {
			n = r.IntN(60)
		}
		codes := r.Perm(max(n, 40))
		used := make(map[string]bool)
		for i := range n {
			if values, ok := w.newRow(s, t, i, codes[i], used); ok {
				s.inserts[t.name] = append(s.inserts[t.name], values)
				for t.shape == heap && r.IntN(3) == 0 {
					s.inserts[t.name] = append(s.inserts[t.name], values)
				}
			}
		}
	}
}

// emptyOut leaves no rows where they would have to refer to rows of a table that has none.
func (w *world) emptyOut(s *source) {
	for again := true; again; {
		again = false
		for _, t := range w.tables {
			for _, c := range t.columns {
				if c.declared && !c.nullable && len(s.keys[c.refers[0].Table]) == 0 && len(s.keys[t.name]) > 0 {
					s.keys[t.name], again = nil, true
				}
			}
		}
	}
}

// newKeys returns ids that ascend: small ones with gaps, or snow ids.
func (w *world) newKeys(s *source, t *table, n int) []int64 {
	var keys []int64
	next, at := int64(0), w.layout.Epoch().Add(24*time.Hour)
	if w.random.IntN(6) == 0 && !w.ids.AreNumbers() {
		next = 1<<31 - 1 - 1000 // almost all that 32 bits have
	}
	for range n {
		next += 1 + int64(w.random.IntN(4)/3*w.random.IntN(5))
		key := next
		if !s.mints {
			at = at.Add(time.Duration(1+w.random.IntN(1e6)) * time.Millisecond)
			id, err := w.layout.Compose(snow.Parts{Time: at, Worker: s.worker, Sequence: uint64(w.random.IntN(1024)), Shard: uint64(w.random.IntN(16)) & (1<<w.layout.Bits().Shard - 1)})
			if err != nil {
				panic(err) // the arguments are constants
			}
			key = int64(id)
		}
		keys = append(keys, key)
	}
	return keys
}

// newRow returns the values of row i, in the order of columns. There is none
// where a unique key has it already.
func (w *world) newRow(s *source, t *table, i, code int, used map[string]bool) ([]any, bool) {
	r := w.random
	values := make([]any, len(t.columns))
	set := make(map[string]any)
	for j, c := range t.columns {
		var v any
		switch {
		case c.role == plan.RoleName:
			v = c.called(i)
		case c.role == plan.RoleKey:
			v = strconv.FormatInt(s.keys[t.name][i], 10)
		case c.name == "tag":
			v = tag(s, t, i)
		case c.name == "code":
			v = fmt.Sprintf("code %d", code)
		case c.name == "title":
			v = fmt.Sprintf("title of %d", code)
		case c.name == "name":
			v = fmt.Sprintf("name %d", code)
		case strings.HasSuffix(c.name, "_kind"):
			v = []any{"first", "second"}[r.IntN(2)]
		case c.name == "fa", c.name == "fb":
			continue // below
		case c.nullable && r.IntN(5) == 0:
		case c.role == plan.RolePlain:
			v = c.value.make(r)
		default:
			v = w.refer(s, c, set)
			if v == nil && !c.nullable {
				return nil, false
			}
		}
		values[j], set[c.name] = v, v
	}
	if t.follows != nil && len(s.inserts[t.follows.name]) > 0 {
		from := s.inserts[t.follows.name][r.IntN(len(s.inserts[t.follows.name]))]
		for j, c := range t.columns {
			switch c.name {
			case "fa":
				values[j] = from[slices.IndexFunc(t.follows.columns, func(c *column) bool { return c.name == "a" })]
			case "fb":
				values[j] = from[slices.IndexFunc(t.follows.columns, func(c *column) bool { return c.name == "b" })]
			}
		}
	}
	for _, u := range t.unique {
		key := u.columns[0]
		for _, name := range u.columns {
			key += fmt.Sprintf("/%v", set[name])
		}
		if used[key] {
			return nil, false
		}
		used[key] = true
	}
	return values, true
}

func tag(s *source, t *table, i int) string { return fmt.Sprintf("%s/%s/%d", s.name, t.name, i) }

// stray is an id that no row has.
const stray = 2_000_000_000

// refer returns the value of a column that refers to rows, or nil where there are none.
func (w *world) refer(s *source, c *column, set map[string]any) any {
	r := w.random
	pick := func(ref *plan.Reference) (int64, bool) {
		if c.orphans == plan.OrphansNull && r.IntN(10) == 0 {
			return stray, true
		}
		keys := s.keys[ref.Table]
		if len(keys) == 0 {
			return 0, false
		}
		return keys[r.IntN(len(keys))], true
	}
	switch c.role {
	case plan.RoleReference:
		if c.zero && r.IntN(5) == 0 {
			return "0"
		}
		if id, ok := pick(c.refers[0]); ok {
			return strconv.FormatInt(id, 10)
		}
	case plan.RolePolymorphic:
		for _, ref := range c.refers {
			if set[c.by] == ref.Value || ref.Value == plan.AnyKind && set[c.by] != "first" {
				if id, ok := pick(ref); ok {
					return strconv.FormatInt(id, 10)
				}
			}
		}
	case plan.RoleList:
		var parts []string
		for range r.IntN(5) {
			if id, ok := pick(c.refers[0]); ok {
				parts = append(parts, strconv.FormatInt(id, 10))
			}
		}
		return strings.Join(parts, c.separation())
	case plan.RoleJSON:
		return w.referInJSON(c, pick)
	}
	return nil
}

func (c *column) separation() string {
	if c.separator == "" {
		return ","
	}
	return c.separator
}

// referInJSON has ids as numbers and, as for JavaScript, as texts.
func (w *world) referInJSON(c *column, pick func(*plan.Reference) (int64, bool)) string {
	r := w.random
	id := func(i int) any {
		n, ok := pick(c.refers[i])
		switch {
		case !ok:
			return nil
		case r.IntN(3) == 0:
			return strconv.FormatInt(n, 10)
		}
		return n
	}
	doc := map[string]any{"note": texts[r.IntN(len(texts))], "big": json.Number("12345678901234567890"), "share": 0.1}
	if r.IntN(4) > 0 {
		doc["owner"] = id(0)
	}
	if r.IntN(4) > 0 {
		items := []any{}
		for range r.IntN(3) {
			items = append(items, map[string]any{"id": id(1), "n": r.IntN(9)})
		}
		doc["items"] = items
	}
	if r.IntN(4) > 0 {
		ids := []any{}
		for range r.IntN(4) {
			if v := id(2); v != nil {
				ids = append(ids, v)
			}
		}
		doc["ids"] = ids
	}
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err) // maps of texts and numbers only
	}
	return string(b)
}
