package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mostRemarks is how many lines of evidence a question has, if that can be done by putting columns together.
const mostRemarks = 3

// Above the certainty sure, types and indexes are not mentioned.
const sure = 0.95

// A remark is the evidence that some fields share: what their names say, how their values compare with the ids of
// a key, and how certain the verdicts are.
type remark struct {
	fields    []*field
	structure string // their types and indexes, if that is said
	of        string // the table, "" if there is none
	why       string // what the names say, if that is said
	values    string // see [claim.group]
	where     string // where they are joined with the key
	besides   string // what else there is to say of the values
}

// evidenceOf tells what speaks for the verdicts on some fields. Fields with the same evidence share a
// line. Where those are too many, less is said of the names, types and tables, but never less of values that are no
// ids. Of a field that is named after no table and has ids of none
// nothing is said, unless it is the only one or there is something besides.
func evidenceOf(fields []*field) (lines []string) {
	if len(fields) > 1 {
		fields = slices.DeleteFunc(slices.Clone(fields), func(f *field) bool { return f.spoken() == nil && f.besides == "" })
	}
	var remarks []*remark
	detail := 3
	if !slices.ContainsFunc(fields, func(f *field) bool { return f.verdict.certainty < sure }) {
		detail = 2
	}
	for ; detail >= 0; detail-- {
		remarks = nil
		for _, f := range fields {
			r := f.remark(detail)
			at := slices.IndexFunc(remarks, func(other *remark) bool { return r.isLike(other) })
			if at < 0 {
				remarks = append(remarks, r)
			} else {
				remarks[at].fields = append(remarks[at].fields, f)
			}
		}
		if len(remarks) <= mostRemarks {
			break
		}
	}
	for _, r := range remarks {
		lines = append(lines, r.tell())
	}
	return lines
}

// evidenceOfEach tells it of each field, the most doubtful one first: they are of different tables.
func evidenceOfEach(fields []*field) (lines []string) {
	fields = slices.Clone(fields)
	slices.SortStableFunc(fields, func(a, b *field) int { return cmp.Compare(a.verdict.certainty, b.verdict.certainty) })
	for _, f := range fields {
		lines = append(lines, f.remark(2).tell())
	}
	return lines
}

// remark returns what is to be said of a field: most for a detail of 3, least for 0.
func (f *field) remark(detail int) *remark {
	r := &remark{fields: []*field{f}, besides: f.besides}
	if detail >= 3 {
		r.structure = f.structure()
	}
	c := f.spoken()
	if c == nil {
		return r
	}
	r.values, r.where = c.group(), f.joined(c.key)
	if f.verdict.key == nil {
		r.values = "many"
	}
	if detail >= 1 {
		r.of = c.key.table.Name
	}
	if detail >= 2 {
		r.why = c.why
	}
	return r
}

func (r *remark) isLike(other *remark) bool {
	return r.structure == other.structure && r.of == other.of && r.why == other.why && r.values == other.values && r.where == other.where && r.besides == other.besides
}

// spoken returns the claim that evidence is about: the one that the verdict follows, or else the best, if the field
// has the name of the table or many of its values are ids of it, or the one that most values speak for; nil if there is
// none.
func (f *field) spoken() *claim {
	if f.verdict.key != nil {
		return f.claimOf(f.verdict.key)
	}
	best := f.best()
	if best != nil && best.fit.found.of > 0 && best.fit.known && (best.direct() || best.fit.found.share() >= 0.5) {
		return best
	}
	if f.name.ID && !f.verdict.isOwn {
		return f.near
	}
	return nil
}

// structure tells the type of a field, and the keys and indexes that it is in.
func (f *field) structure() string {
	text := f.column.Type
	switch {
	case f.alone && f.member && len(f.table.PrimaryKey) == 1:
		text += ", primary key"
	case f.alone:
		text += ", unique"
	case f.member:
		text += ", in the primary key"
	case f.indexed:
		text += ", indexed"
	}
	return text
}

// group says how the values compare with the ids: columns of different groups do not share a line.
func (c *claim) group() string {
	share := c.fit.found.share()
	if c.all.of > 0 {
		share = min(share, c.all.share())
	}
	switch {
	case c.fit.found.of == 0:
		return "no values"
	case !c.fit.known:
		return "which has no rows"
	case share == 1:
		return "all"
	case share >= likely:
		return "most"
	case share > 0:
		return "some"
	}
	return "none"
}

// tell says it. Numbers of values count all fields together.
func (r *remark) tell() string {
	text := r.names()
	if r.structure != "" {
		text += " (" + r.structure + ")"
	}
	var found, all inclusion
	var tables, none []string
	least, most := 1.0, 0.0
	for _, f := range r.fields {
		least, most = min(least, f.verdict.certainty), max(most, f.verdict.certainty)
		none = append(none, f.none...)
		if c := f.spoken(); c != nil {
			found.hits, found.of = found.hits+c.fit.found.hits, found.of+c.fit.found.of
			all.hits, all.of = all.hits+c.all.hits, all.of+c.all.of
			tables = append(tables, c.key.table.Name)
		}
	}
	if len(tables) > 0 {
		tables = distinctNames(tables)
		it := "it"
		if len(tables) > 1 {
			it = "them"
		}
		var says []string
		if r.why != "" {
			says = append(says, r.why)
		}
		switch r.values {
		case "no values", "which has no rows":
			says = append(says, r.values)
		default:
			many := found.String()
			if found.hits == found.of {
				many = fmt.Sprintf("all %d", found.of)
			}
			says = append(says, fmt.Sprintf("%s sampled values are ids of %s", many, it))
		}
		text += ": " + list(tables, 2) + ": " + strings.Join(says, ", ")
		if all.hits < all.of {
			text += fmt.Sprintf("; in all rows, %s different values", all)
		}
	}
	if r.where != "" {
		text += ", joined in " + r.where
	}
	if r.besides != "" {
		text += "; " + r.besides
	}
	if none = slices.DeleteFunc(none, func(v string) bool { return v == "0" }); len(none) > 0 {
		text += "; besides " + list(distinctNames(none), 3)
	}
	if round(least) < round(most) {
		return fmt.Sprintf("%s (%.2f to %.2f)", text, least, most)
	}
	return fmt.Sprintf("%s (%.2f)", text, least)
}

// names lists the fields: where all have one name, with the tables behind it.
func (r *remark) names() string {
	name := r.fields[0].column.Name
	if len(r.fields) == 1 {
		return r.fields[0].String()
	}
	differ := slices.ContainsFunc(r.fields, func(f *field) bool { return f.column.Name != name })
	var names []string
	for _, f := range r.fields {
		if differ {
			names = append(names, f.String())
		} else {
			names = append(names, f.table.Name)
		}
	}
	if differ {
		return list(names, 2)
	}
	return name + " of " + list(names, 2)
}

// distinctNames sorts names, and removes duplicates.
func distinctNames(names []string) []string {
	names = slices.Clone(names)
	slices.SortFunc(names, strings.Compare)
	return slices.Compact(names)
}

// list writes the first n of some names.
func list(names []string, n int) string {
	if len(names) > n {
		return strings.Join(names[:n], ", ") + fmt.Sprintf(" and %d more", len(names)-n)
	}
	return strings.Join(names, ", ")
}

func round(x float64) float64 { return float64(int(x*100+0.5)) / 100 }
