package report

import (
	"io"
	"strings"
	"time"

	"github.com/shardsnow/snow/merge/plan"
)

// A LeftOut counts the rows of a source's table that were left out for one reason. The list of these rows has the same
// reasons, see [github.com/shardsnow/snow/merge.ExportLeftOut].
type LeftOut struct {
	Table  string `json:"table"`
	Source string `json:"source"`
	// "without_rows" and the number of a condition in the plan's table, "empty", or Column
	Reason string `json:"reason"`
	Column string `json:"column,omitempty"` // the rows refer to rows in it that were left out or do not exist
	Where  string `json:"where,omitempty"`  // the condition, as SQL, with its exception
	Rows   int64  `json:"rows"`
}

// A Clash counts the rows of a source's table that gave way to others in a unique key, by what became of them.
type Clash struct {
	Table  string `json:"table"`
	Source string `json:"source"`
	// the columns of the unique key; of several, if the rows may have clashed in any of them
	Unique [][]string `json:"unique"`
	Rule   plan.Rule  `json:"rule"`             // what became of them
	Column string     `json:"column,omitempty"` // RuleSuffix, RuleRenumber: which has the new name or number
	How    []string   `json:"how,omitempty"`    // what the plan says of it, for people
	Rows   int64      `json:"rows"`             // new names or numbers, or rows that were merged into others
	Names  []NewName  `json:"names,omitempty"`  // at most MaxSamples
}

// Keys are the columns of the unique keys, such as "(realm, name) or (email)".
func (c Clash) Keys() string {
	var all []string
	for _, columns := range c.Unique {
		all = append(all, "("+strings.Join(columns, ", ")+")")
	}
	return strings.Join(all, " or ")
}

// A NewName is a name that was changed.
type NewName struct {
	Row    string `json:"row"` // its key in the source
	Before string `json:"before"`
	After  string `json:"after"`
}

// OldNames counts the values of a column of a source that are names which rows of the source lose, by RuleSuffix.
type OldNames struct {
	Table  string `json:"table"`
	Column string `json:"column"`
	Source string `json:"source"`
	Of     string `json:"of"` // the table and column of the names, as table.column
	Rows   int64  `json:"rows"`
	// whether the values become the new names: the column has the plan's role name. Others stay as they are
	Follow  bool     `json:"follow"`
	Samples []string `json:"samples"` // at most MaxSamples, as old: new
}

// writeOldNames writes a table of them.
func writeOldNames(w io.Writer, all []OldNames) {
	t := newTable(w, "Old names", "Source", "Of", "Rows", "Become", "Such as")
	for _, row := range all {
		become := "stay"
		if row.Follow {
			become = "new names"
		}
		t.row(row.Table+"."+row.Column, row.Source, row.Of, row.Rows, become, suchAs(row.Samples))
	}
	t.end()
}

// A Phase says how long a phase of the run took. Times are by the target's clock, from the end of the phase
// before to the last transaction of this one, over all processes that worked on the run.
type Phase struct {
	Name  string    `json:"name"` // as in [Event]: "mint" is with "choose"
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended"`
	Rows  int64     `json:"rows"` // of sources that it has read

	// Idle is the part of it when no transaction ended for more than five minutes each time: because the run
	// was paused or interrupted, or because the database was slow.
	Idle time.Duration `json:"idle_ns,omitempty"`
}

// Took is how long the phase was at work: without Idle.
func (p Phase) Took() time.Duration { return p.Ended.Sub(p.Began) - p.Idle }

// String says what the phase does.
func (p Phase) String() string {
	switch p.Name {
	case "mint":
		return "Decide, and give new ids"
	case "copy":
		return "Copy"
	case "link":
		return "Set references of circles"
	case "verify":
		return "Verify"
	}
	return p.Name
}

// A Statement is one of [github.com/shardsnow/snow/merge/plan.Plan.After].
type Statement struct {
	SQL   string `json:"sql"`
	State string `json:"state,omitempty"` // empty if it has not begun, "begun", or "done"
	Rows  int64  `json:"rows"`            // that it has changed, as far as the database tells
}
