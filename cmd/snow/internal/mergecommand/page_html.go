package mergecommand

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// pageLists are the names of the files with all rows, where a page shows only some. An empty one is not mentioned.
type pageLists struct{ LeftOut, Renamed string }

// maxLines is how many lines a list of a page has at most. The report as JSON has all of them.
const maxLines = 500

//go:embed page.html
var pageText string

// writePage writes a report as one page of HTML, to be kept and printed. The page has no scripts and loads nothing: it
// only mentions the files of lists. What comes from databases is escaped.
func writePage(w io.Writer, r *report.Report, lists pageLists) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"count": count, "took": took, "utc": utc, "perSecond": perSecond, "newIDs": newIDs,
		"settled": settled, "join": strings.Join, "cell": newCell,
		"shown": func(n int) int { return min(n, maxLines) },
		"more":  func(n int) int64 { return int64(max(0, n-maxLines)) },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, newPage(r, lists)); err != nil {
		return err
	}
	_, err = w.Write(bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD")))
	return err
}

// A page is a report and what the template shows beside it.
type page struct {
	*report.Report
	Lists   pageLists
	Verdict verdict
	Sum     pageTotal    // of all sources
	Totals  []pageTotal  // of each source
	Into    []pageTarget // tables with rows
	Empty   []string     // tables that have rows neither in the sources nor in the target
	Settled []clash
	Checked report.Reference // sums over references
	Hashed  []report.Table   // with a hash
	Moved   []report.Table   // with new ids of another time than the row's
	Began   time.Time        // the first phase
	Took    time.Duration    // all phases
	Done    int              // statements
}

// A verdict is what the page begins with.
type verdict struct{ Class, Word, Text, Advice string }

// A pageTotal is a sum over the tables of a source.
type pageTotal struct {
	Source string
	Tables int // with rows
	report.Table
}

func (t *pageTotal) add(row report.Table) {
	if row.Rows > 0 {
		t.Tables++
	}
	t.Rows += row.Rows
	t.Copied += row.Copied
	t.Rekeyed += row.Rekeyed
	t.Merged += row.Merged
	t.Dropped += row.Dropped
	t.Renamed += row.Renamed
}

// A pageTarget is a table of the target with what it has from each source.
type pageTarget struct {
	report.Target
	Sources []report.Table
}

// A clash is what became of rows of several sources in one way.
type clash struct {
	report.Clash
	Sources []report.Clash
}

// A cell is a number of a table, with the name of its column for narrow screens.
type cell struct {
	Label string
	N     int64
}

func newCell(label string, n int64) cell { return cell{label, n} }

func newPage(r *report.Report, lists pageLists) *page {
	p := &page{Report: r, Lists: lists, Verdict: verdictOf(r)}
	for _, name := range r.Sources {
		t := pageTotal{Source: name}
		for _, row := range r.Tables {
			if row.Source == name {
				t.add(row)
				p.Sum.add(row)
			}
		}
		p.Totals = append(p.Totals, t)
	}
	sources := map[string][]report.Table{} // with rows of a table
	for _, row := range r.Tables {
		if row.Rows > 0 {
			sources[row.Table] = append(sources[row.Table], row)
		}
	}
	for _, row := range r.Targets {
		t := pageTarget{row, sources[row.Table]}
		if len(t.Sources) == 0 && row.Rows == 0 {
			p.Empty = append(p.Empty, row.Table)
			continue
		}
		p.Into = append(p.Into, t)
	}
	for _, row := range r.Tables {
		if row.Hash != "" && row.Rows > 0 {
			p.Hashed = append(p.Hashed, row)
		}
		if row.Displacement > 0 {
			p.Moved = append(p.Moved, row)
		}
	}
	for _, c := range r.Clashes {
		at := slices.IndexFunc(p.Settled, func(o clash) bool { return o.Table == c.Table && o.Rule == c.Rule && o.Column == c.Column })
		if at < 0 {
			at = len(p.Settled)
			p.Settled = append(p.Settled, clash{Clash: c})
			p.Settled[at].Rows = 0
		}
		p.Settled[at].Rows += c.Rows
		p.Settled[at].Sources = append(p.Settled[at].Sources, c)
	}
	for _, row := range r.References {
		p.Checked.Checked += row.Checked
		p.Checked.Orphans += row.Orphans
		p.Checked.Witnessed += row.Witnessed
		p.Checked.Undetermined += row.Undetermined
	}
	p.Began = r.Started
	for i, phase := range r.Phases {
		if i == 0 {
			p.Began = phase.Began
		}
		p.Took += phase.Took()
	}
	for _, s := range r.After {
		if s.State == "done" {
			p.Done++
		}
	}
	return p
}

// verdictOf says in words what the report comes to.
func verdictOf(r *report.Report) verdict {
	switch {
	case r.Failed > 0:
		text := fmt.Sprintf("%s found wrong.", things(r.Failed))
		return verdict{"wrong", "Wrong", text, "Do not open the servers on this target. The sources are as they were."}
	case len(r.Open) > 0:
		text := fmt.Sprintf("Nothing was found wrong, but %s left open.", things(int64(len(r.Open))))
		return verdict{"open", "Open", text, "Decide, or look at what was left open, before you use the target."}
	case slices.ContainsFunc(r.After, func(s report.Statement) bool { return s.State != "done" }):
		return verdict{"open", "Not finished", "All rows are as they should be, but statements that come after the merge have not run.", "Run the merge again before you use the target."}
	}
	return verdict{"right", "Verified", "Everything is as it should be.", "Each row was compared with its source, and nothing was left open."}
}

// things says how many things were, or one thing was.
func things(n int64) string {
	if n == 1 {
		return "1 thing was"
	}
	return count(n) + " things were"
}

// perSecond writes how many rows there were in a second, or nothing if no time went by.
func perSecond(rows int64, d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return count(int64(float64(rows) / d.Seconds()))
}

func utc(t time.Time) string { return t.UTC().Format(time.DateTime + " UTC") }

// took writes a duration in its two largest units.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

// newIDs says what the new ids of a source's table are.
func newIDs(t report.Table) string {
	switch {
	case t.Offset != nil:
		return fmt.Sprintf("old id + %s", count(*t.Offset))
	case t.Worker != nil:
		return fmt.Sprintf("%s, worker %d", t.IDs, *t.Worker)
	}
	return string(t.IDs)
}

// settled says what became of the rows of a clash.
func settled(c report.Clash) string {
	switch c.Rule {
	case plan.RuleSuffix:
		return "renamed"
	case plan.RuleRenumber:
		return "with new numbers"
	}
	return "merged into rows that came before"
}
