package phases

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Findings are what was found in one chunk, or in several.
type Findings struct {
	ledger.Counts
	Renamed int64
	Bytes   int // about how much the rows of the source have in memory, where they were read

	Source      chunk.Sum // of the rows of the source, as they are
	Want, Found chunk.Sum // of those that should be in the target, and of those that are
	First, Last int64
	references  map[RefKey]*report.Reference
	paths       map[path]bool // that were looked at: whether they led to a value
	samples     map[*plan.Column]map[int64]bool
	Failures    []report.Failure
	failed      int64
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

// NewFindings returns one of no rows.
func NewFindings() *Findings {
	return &Findings{references: map[RefKey]*report.Reference{}, paths: map[path]bool{}, samples: map[*plan.Column]map[int64]bool{}}
}

// Fail keeps a failure, if there are not many of the check already.
func (p *Findings) Fail(f report.Failure) {
	p.failed++
	p.Failures = f.AppendTo(p.Failures)
}

// Add takes over what was found in other chunks of the same table and source.
func (p *Findings) Add(o *Findings) {
	p.Counts.Add(o.Counts)
	p.Renamed += o.Renamed
	p.Bytes += o.Bytes
	p.Source.Add(o.Source)
	p.Want.Add(o.Want)
	p.Found.Add(o.Found)
	p.addReferences(o)
	for c, values := range o.samples {
		for v := range values {
			p.sample(c, v)
		}
	}
	for _, f := range o.Failures {
		p.Fail(f)
	}
	p.failed += o.failed - int64(len(o.Failures))
}

func (p *Findings) addReferences(o *Findings) {
	for key, ref := range o.references {
		p.Reference(key).Checked += ref.Checked
		p.Reference(key).Orphans += ref.Orphans
	}
	for key, reached := range o.paths {
		p.paths[key] = p.paths[key] || reached
	}
}

// Reach takes over which paths of a column have led to a value in rows of a source.
func (p *Findings) Reach(source string, column *rekey.IDColumn) {
	for ref, reached := range column.Reached {
		key := path{RefKey{column.Column, ref}, source}
		p.paths[key] = p.paths[key] || reached
	}
}

// Reference returns the counts of a kind of reference, which the caller adds to.
func (p *Findings) Reference(key RefKey) *report.Reference {
	r := p.references[key]
	if r == nil {
		r = &report.Reference{}
		p.references[key] = r
	}
	return r
}

// mostSamples is how many values of a plain column are kept.
const mostSamples = 300

func (p *Findings) sample(c *plan.Column, v int64) {
	if p.samples[c] == nil {
		p.samples[c] = map[int64]bool{}
	}
	if len(p.samples[c]) < mostSamples {
		p.samples[c][v] = true
	}
}

// FailureOf returns the failure that an error of a row is.
func FailureOf(err error) (report.Failure, bool) {
	var orphan *report.OrphanError
	var bad *report.RowError
	switch {
	case errors.As(err, &orphan):
		return report.Failure{
			Check: report.CheckReference, Source: orphan.Source, Table: orphan.Table, Column: orphan.Column, Row: orphan.Row,
			Reason: fmt.Sprintf("%q is the id of no row of the source", orphan.Value),
		}, true
	case errors.As(err, &bad):
		return report.Failure{Check: report.CheckSource, Source: bad.Source, Table: bad.Table, Row: bad.Row, Reason: bad.Err.Error()}, true
	}
	return report.Failure{}, false
}

// inTarget returns a column as the target has it or, if it is missing there, as Schema makes it.
func (d *dryRun) inTarget(t *plan.Table, c *plan.Column) *plan.Column {
	if table := d.before.target.TableLike(t.Name); table != nil {
		if there := catalog.ColumnLike(table.Table, c.Name); there != nil {
			return there
		}
	}
	made := *c
	made.Type = d.Plan.TargetType(t, c)
	return &made
}

// A room is what a column of the target has room for.
type room struct {
	dialect      sqlsnow.Dialect
	column       *plan.Column
	typ          sqltype.Type
	decimal      bool
	whole, scale int // digits of a decimal
	enum         bool
}

func roomOf(d sqlsnow.Dialect, c *plan.Column) *room {
	r := &room{dialect: d, column: c, typ: sqltype.Of(d, c.Type), enum: strings.HasPrefix(strings.ToLower(c.Type), "enum(")}
	r.whole, r.scale, r.decimal = decimalOf(c.Type)
	return r
}

// misfit says why a column of the target does not take a value, or "".
func misfit(d sqlsnow.Dialect, c *plan.Column, v any) string { return roomOf(d, c).misfit(v) }

// misfit says why the column does not take a value, or "".
func (r *room) misfit(v any) string {
	d, c, s := r.dialect, r.column, r.typ
	if v == nil {
		if !c.Nullable {
			return "NULL"
		}
		return ""
	}
	if d == sqlsnow.SQLite {
		return "" // takes anything
	}
	if n, ok := v.(int64); ok && s.Kind == sqltype.Integer && n >= 0 && (s.Bits == 64 || n < 1<<(s.Bits-1)) {
		return ""
	}
	text := sqlvalue.Text(v)
	switch s.Kind {
	case sqltype.Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		if s.Unsigned {
			var u uint64
			if u, err = strconv.ParseUint(text, 10, 64); err == nil && s.Bits < 64 && u >= 1<<s.Bits {
				err = strconv.ErrRange
			}
		} else if err == nil && s.Bits < 64 && (n >= 1<<(s.Bits-1) || n < -1<<(s.Bits-1)) {
			err = strconv.ErrRange
		}
		if err != nil {
			return sqlvalue.Sample(v) + " is not in the range of " + c.Type
		}
	case sqltype.Text:
		if n := rekey.TextLength(d, c, text); s.Length > 0 && n > s.Length {
			return fmt.Sprintf("%d characters, and %s takes %d", n, c.Type, s.Length)
		}
	case sqltype.Bytes:
		if s.Length > 0 && len(text) > s.Length {
			return fmt.Sprintf("%d bytes, and %s takes %d", len(text), c.Type, s.Length)
		}
	}
	if r.decimal && !fitsDecimal(text, r.whole, r.scale) {
		return sqlvalue.Sample(v) + " is not in the range of " + c.Type
	}
	if r.enum && !strings.Contains(c.Type, "'"+strings.ReplaceAll(text, "'", "''")+"'") {
		return sqlvalue.Sample(v) + " is none of " + c.Type
	}
	return ""
}

// decimalOf returns how many digits a decimal has before and after the point.
func decimalOf(typ string) (whole, scale int, ok bool) {
	name, rest, found := strings.Cut(strings.ToLower(typ), "(")
	if name = strings.TrimSpace(name); !found || name != "decimal" && name != "numeric" && name != "dec" {
		return 0, 0, false
	}
	rest, _, _ = strings.Cut(rest, ")")
	precision, digits, _ := strings.Cut(rest, ",")
	p, err := strconv.Atoi(strings.TrimSpace(precision))
	scale, _ = strconv.Atoi(strings.TrimSpace(digits))
	return p - scale, scale, err == nil
}

func fitsDecimal(text string, whole, scale int) bool {
	before, after, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	before, after = strings.TrimLeft(before, "0"), strings.TrimRight(after, "0")
	return len(before) <= whole && len(after) <= scale
}
