package work

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/inspect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// OpenInPlan returns what the plan itself leaves open.
func (j *Job) OpenInPlan() (open []report.Open) {
	for _, text := range j.Plan.Accepted {
		open = append(open, report.Open{Kind: report.OpenAccepted, Reason: text})
	}
	for _, t := range j.Plan.Tables {
		for _, c := range t.Columns {
			if !t.Skip && c.Generated != "" && !c.Decided && !ledger.IsComputedAlike(t, c) {
				open = append(open, report.Open{
					Kind: report.OpenUnchecked, Table: t.Name, Column: c.Name,
					Reason: "it is generated from values that change, or by a function that does: it is not compared; if it is right so, list it under plain",
				})
			}
		}
	}
	return open
}

// Seen is what the values of rows have shown of the plan: which paths led to something, and samples of columns that
// nobody has decided on. One goroutine uses it at a time.
type Seen struct {
	paths   map[path]bool // that were looked at: whether they led to a value
	samples map[*plan.Column]map[int64]bool
}

// RefKey is a kind of reference: a column and which of its references it is.
type RefKey struct {
	Column *plan.Column
	Ref    int
}

// A path is one of JSON or of a packed value, in rows of a source.
type path struct {
	RefKey
	source string
}

// NewSeen returns one of no rows.
func NewSeen() *Seen {
	return &Seen{paths: map[path]bool{}, samples: map[*plan.Column]map[int64]bool{}}
}

// Add adds what other rows have shown.
func (s *Seen) Add(o *Seen) {
	for key, reached := range o.paths {
		s.paths[key] = s.paths[key] || reached
	}
	for c, values := range o.samples {
		for v := range values {
			s.sample(c, v)
		}
	}
}

// Reach notes which paths of a column have led to a value in rows of a source.
func (s *Seen) Reach(source string, column *rekey.IDColumn) {
	column.Looked(func(ref int, reached bool) {
		key := path{RefKey{column.Column, ref}, source}
		s.paths[key] = s.paths[key] || reached
	})
}

// mostSamples is how many values of a plain column are kept.
const mostSamples = 300

func (s *Seen) sample(c *plan.Column, v int64) {
	if s.samples[c] == nil {
		s.samples[c] = map[int64]bool{}
	}
	if len(s.samples[c]) < mostSamples {
		s.samples[c][v] = true
	}
}

// EmptyPaths returns the paths that led to nothing in any value of a source.
func (j *Job) EmptyPaths(found *Seen) (open []report.Open) {
	for _, t := range j.Plan.Tables {
		for _, c := range t.Columns {
			for i, ref := range c.Refers {
				for _, source := range j.Plan.SourcesOf(t) {
					if reached, looked := found.paths[path{RefKey{c, i}, source}]; looked && !reached {
						open = append(open, report.Open{
							Kind: report.OpenUnchecked, Source: source, Table: t.Name, Column: c.Name,
							Reason: fmt.Sprintf("no value of the source has anything at path %q: if ids are elsewhere there, old ones are copied as they are", ref.Path),
						})
					}
				}
			}
		}
	}
	return open
}

// sampledRows is how many rows of each read are looked at for samples.
const sampledRows = 50

// SampleRows keeps what [sampleOf] says of values of plain columns that nobody has decided on.
func (j *Job) SampleRows(s *Seen, t *ledger.SourceTable, rows [][]any) {
	for n, c := range t.Columns {
		if !j.undecided(t.Table, c) {
			continue
		}
		for _, row := range rows[:min(len(rows), sampledRows)] {
			if id, ok := sampleOf(row[n]); ok {
				s.sample(c, id)
			}
		}
	}
}

// undecided reports whether a column is plain, and nobody has decided so.
func (j *Job) undecided(t *plan.Table, c *plan.Column) bool {
	return c.Role == plan.RolePlain && !c.Decided && j.Plan.Question(t.Name+"."+c.Name) == nil && sqltype.Of(j.Engine.Kind, c.Type).Kind != sqltype.Time
}

var (
	listed = regexp.MustCompile(`^[\[({" ]*([0-9]{1,19})(?:[", ;|#]+[0-9]{1,19})*[\])}", ;|#]*$`)
	inJSON = regexp.MustCompile(`[:\[,]\s*"?([1-9][0-9]{0,18})"?\s*[,\]}]`)
	opaque = regexp.MustCompile(`^[0-9A-Za-z+/=_-]{20,}$`) // UUIDs, hashes, tokens
)

// longestSample is how much of a value is looked at, in bytes.
const longestSample = 4096

// sampleOf returns the first positive integer of a value that is one, or a list or JSON of some. It returns 0 for
// another value that may have ids in it, and false for one that has none.
func sampleOf(v any) (id int64, may bool) {
	if id, ok := sqlvalue.ID(v); ok {
		return max(id, 0), true
	}
	text := sqlvalue.Text(v)
	if _, ok := v.([]byte); ok && !utf8.ValidString(text) {
		return 0, !slices.Contains([]int{16, 20, 32, 64}, len(text)) // UUIDs and hashes
	}
	text = strings.TrimSpace(text[:min(len(text), longestSample)])
	first := listed.FindStringSubmatch(text)
	if first == nil && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) {
		first = inJSON.FindStringSubmatch(text)
	}
	if first != nil {
		if id, ok := sqlvalue.ParseID(first[1]); ok {
			return id, true
		}
		return 0, true
	}
	return 0, strings.ContainsAny(text, "0123456789") && !(opaque.MatchString(text) && strings.ContainsFunc(text, unicode.IsLetter))
}

// Leftovers returns the plain columns that nobody has decided on and that look like ids: by their names, or because
// their values are all ids of one table, and not only small ones. A source in which no row gets a new id has none.
func (j *Job) Leftovers(ctx context.Context, conns *chunk.Conns, t *ledger.SourceTable, found *Seen) (open []report.Open, err error) {
	var parents []*plan.Table
	for _, p := range j.Plan.Tables {
		if !p.Skip && p.In(t.Source) && p.Key() != nil && (p.Rekeys(t.Source) || p.Merges(j.Plan.Sources)) {
			parents = append(parents, p)
		}
	}
	if len(parents) == 0 {
		return nil, nil
	}
	namesIDs := inspect.NamesIDs(j.Plan)
	for _, c := range t.Columns {
		values := slices.Sorted(maps.Keys(found.samples[c]))
		if len(values) == 0 {
			continue
		}
		if values[0] == 0 { // is no id
			values = values[1:]
		}
		reasons, err := idsOf(ctx, conns, t, parents, values)
		if err != nil {
			return nil, err
		}
		if namesIDs(c.Name) {
			reasons = append([]string{"it is named like ids"}, reasons...)
		}
		if len(reasons) > 0 {
			open = append(open, report.Open{
				Kind: report.OpenUndecided, Source: t.Source, Table: t.Table.Name, Column: c.Name,
				Reason: "it is plain, but " + strings.Join(reasons, ", and ") + ": if these are references, the plan is wrong; if not, list it under plain",
			})
		}
	}
	return open, nil
}

// idsOf says which tables have rows of all the ids in values, which ascend.
func idsOf(ctx context.Context, conns *chunk.Conns, t *ledger.SourceTable, parents []*plan.Table, values []int64) (reasons []string, err error) {
	if len(values) < inspect.FewestUnnamed {
		return nil, nil
	}
	source, err := conns.Source(ctx, t.Source)
	if err != nil {
		return nil, err
	}
	for _, parent := range parents {
		n, most, err := (&rekey.Checker{Engine: source.Engine, Q: source}).Count(ctx, parent, values)
		if err != nil {
			return nil, err
		}
		if n == len(values) && inspect.Reaches(values, 0, most) {
			reasons = append(reasons, fmt.Sprintf("all of %d sampled numbers are ids of table %q", n, parent.Name))
		}
	}
	return reasons, nil
}
