package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// packed looks for ids that are packed in values, where it is cheap to see: halves in two columns that are named
// so, integers with few high bits, texts of one width that are numbers. It asks only if all ids that are found are
// those of a table.
func (f *referenceFinder) packed(ctx context.Context, t *plan.Table, c *plan.Column) {
	switch s := sqltype.Of(f.dialect, c.Type); s.Kind {
	case sqltype.Integer:
		if other := otherHalf(t, c); other != nil {
			f.halves(ctx, t, c, other)
		} else if s.Bits == 64 {
			f.highBits(ctx, t, c)
		}
	case sqltype.Text:
		f.fixed(ctx, t, c)
	}
}

// otherHalf returns the column with the lower half of the ids that c has the upper half of, by their names, or nil.
func otherHalf(t *plan.Table, c *plan.Column) *plan.Column {
	for _, pair := range [][2]string{{"high", "low"}, {"hi", "lo"}, {"upper", "lower"}, {"msb", "lsb"}} {
		w := refname.Words(c.Name)
		at := slices.Index(w, pair[0])
		if at < 0 {
			continue
		}
		w[at] = pair[1]
		for _, other := range t.Columns {
			if other.Role == plan.RolePlain && other.Generated == "" && slices.Equal(refname.Words(other.Name), w) {
				return other
			}
		}
	}
	return nil
}

// owner returns the only table that has rows for all ids, if there are enough ids, or nil.
func (f *referenceFinder) owner(ctx context.Context, c *plan.Column, found ids) *plan.Table {
	if found.count() < leastOfKind {
		return nil
	}
	owners := f.having(ctx, c, found, 1)
	if len(owners) != 1 {
		return nil
	}
	return owners[0]
}

// idsIn returns the ids in some texts by their places, as a format has them, and false if a text is not of it.
func (f *referenceFinder) idsIn(texts map[string][]string, format packed.Format, places ...string) (map[string]ids, bool) {
	codec, err := format.New(places, "", [2]bool{})
	if err != nil {
		return nil, false
	}
	at := map[string]map[string][]any{}
	for source, all := range texts {
		for _, text := range all {
			if _, err := codec.Replace(text, func(place, id string) (string, error) {
				if at[place] == nil {
					at[place] = map[string][]any{}
				}
				at[place][source] = append(at[place][source], id)
				return id, nil
			}); err != nil {
				return nil, false
			}
		}
	}
	found := map[string]ids{}
	for place, values := range at {
		found[place] = ids{}
		for source, of := range values {
			found[place][source] = distinct(of)
		}
	}
	return found, true
}

// texts returns the sampled values of a column by source.
func (f *referenceFinder) texts(t *plan.Table, column string) map[string][]string {
	all := map[string][]string{}
	for source, values := range f.values(t, column) {
		for _, v := range values {
			all[source] = append(all[source], sqlvalue.Text(v))
		}
	}
	return all
}

func (f *referenceFinder) pack(t *plan.Table, c *plan.Column, format, why string, refers ...*plan.Reference) {
	f.propose(t, c, plan.RolePacked, refers...)
	c.Format = format
	addSuspect(c, "packed ids, format %s? %s", format, why)
}

func (f *referenceFinder) halves(ctx context.Context, t *plan.Table, high, low *plan.Column) {
	texts := map[string][]string{}
	for _, source := range f.plan.SourcesOf(t) {
		s := f.samples[tableOf{source, t.Name}]
		a, b := s.index(high.Name), s.index(low.Name)
		if a < 0 || b < 0 {
			return
		}
		for _, row := range s.rows {
			if row[a] != nil && row[b] != nil {
				texts[source] = append(texts[source], sqlvalue.Text(row[a])+" "+sqlvalue.Text(row[b]))
			}
		}
	}
	found, ok := f.idsIn(texts, packed.Format{Kind: packed.High, Bits: 32}, "id")
	if !ok {
		return
	}
	if owner := f.owner(ctx, high, found["id"]); owner != nil {
		why := fmt.Sprintf("%s and %s are named like halves, and all of %d sampled ids are of %s", high.Name, low.Name, found["id"].count(), owner.Name)
		f.pack(t, high, "high 32", why, &plan.Reference{Path: "id", Table: owner.Name})
		f.pack(t, low, "low 32", why, &plan.Reference{Path: "id", Table: owner.Name})
		high.By, low.By = low.Name, high.Name
		if slices.ContainsFunc(slices.Collect(maps.Values(texts)), func(of []string) bool { return slices.Contains(of, "0 0") }) {
			high.None, low.None = []string{"0"}, []string{"0"}
		}
	}
}

// highBits looks for kinds in the upper bits of integers.
func (f *referenceFinder) highBits(ctx context.Context, t *plan.Table, c *plan.Column) {
	values, ok := f.sampled(t, c)
	if !ok || len(f.having(ctx, c, values, likely)) > 0 {
		return
	}
	texts := f.texts(t, c.Name)
	for _, low := range []int{56, 48, 40, 32, 24} {
		kinds := map[string]bool{}
		marked := false
		for _, all := range texts {
			for _, text := range all {
				n, err := strconv.ParseUint(text, 10, 64)
				if err != nil {
					v, bad := strconv.ParseInt(text, 10, 64)
					if n = uint64(v); bad != nil {
						return
					}
				}
				kinds[strconv.FormatUint(n>>low, 10)] = true
				marked = marked || n>>low > 0
			}
		}
		if !marked || len(kinds) > mostKinds {
			continue
		}
		places := slices.Sorted(maps.Keys(kinds))
		found, ok := f.idsIn(texts, packed.Format{Kind: packed.Bits, Bits: low}, places...)
		if !ok {
			continue
		}
		var refers []*plan.Reference
		var why []string
		for _, place := range places {
			r := &plan.Reference{Path: place}
			if owner := f.owner(ctx, c, found[place]); owner != nil {
				r.Table = owner.Name
				why = append(why, fmt.Sprintf("with the upper bits %s all of %d sampled ids are of %s", place, found[place].count(), owner.Name))
			}
			refers = append(refers, r)
		}
		if len(why) > 0 {
			f.pack(t, c, fmt.Sprintf("bits %d", low), strings.Join(why, "; ")+"; others are copied as they are", refers...)
			return
		}
	}
}

// fixed looks for numbers of one width that are all of a text.
func (f *referenceFinder) fixed(ctx context.Context, t *plan.Table, c *plan.Column) {
	texts := f.texts(t, c.Name)
	width, upper, zeros := 0, false, false
	for _, all := range texts {
		for _, text := range all {
			if width == 0 {
				width = len(text)
			}
			if len(text) != width || width < 6 || width > 19 {
				return
			}
			upper, zeros = upper || strings.ContainsAny(text, "ABCDEF"), zeros || strings.HasPrefix(text, "0")
		}
	}
	for _, form := range []string{"dec", "hex"} {
		if form == "hex" && upper {
			form = "HEX"
		}
		place := fmt.Sprintf("0:%s%d", form, width)
		found, ok := f.idsIn(texts, packed.Format{Kind: packed.Fixed}, place)
		if !ok || !zeros {
			continue
		}
		if owner := f.owner(ctx, c, found[place]); owner != nil {
			f.pack(t, c, "fixed", fmt.Sprintf("all of %d sampled values are ids of %s, as numbers of %d digits", found[place].count(), owner.Name, width), &plan.Reference{Path: place, Table: owner.Name})
			return
		}
	}
}
