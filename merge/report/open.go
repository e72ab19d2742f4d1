package report

import (
	"fmt"
	"slices"
	"strings"
)

// An Open is something that nobody has decided or checked. The merge may be right all the same: nothing says so,
// and nothing says that it is wrong.
type Open struct {
	Kind   OpenKind `json:"kind"`
	Source string   `json:"source,omitempty"`
	Table  string   `json:"table,omitempty"`
	Column string   `json:"column,omitempty"`
	Reason string   `json:"reason"`

	// Certainty is how likely it is, from 0 to 1, that a column of OpenUndecided has ids. Lists of what is open begin
	// with the highest.
	Certainty float64 `json:"certainty,omitempty"`
}

// An OpenKind says why something is open.
type OpenKind string

// The kinds.
const (
	// a column is plain and looks like ids, and nobody has decided that it is plain
	OpenUndecided OpenKind = "undecided"
	OpenAccepted  OpenKind = "accepted"  // no person has taken the decision, see plan.Plan
	OpenUnchecked OpenKind = "unchecked" // it could not be looked at, or not be compared
)

// String returns it as one line.
func (o Open) String() string {
	where := o.Table
	if o.Column != "" {
		where += "." + o.Column
	}
	text := string(o.Kind)
	if where != "" {
		text += ", " + where
	}
	if o.Source != "" {
		text += ", source " + o.Source
	}
	return text + ": " + o.Reason
}

// asPlain returns the line of a plan that says of undecided columns that they are plain, or "" if there are none.
// It leaves out names that need a backslash in a plan.
func asPlain(open []Open) string {
	var names []string
	for _, o := range open {
		name := o.Table + "." + o.Column
		if o.Kind == OpenUndecided && o.Column != "" && !slices.Contains(names, name) && !strings.ContainsAny(o.Column, `\.*(),[]{}'"#: `) && !strings.ContainsAny(o.Table, `\*(),[]{}'"#: `) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "plain: [" + strings.Join(names, ", ") + "]"
}

// An OpenError says that nothing was found wrong, and that something was left open. A run that returns it has
// copied and compared everything else.
type OpenError struct {
	Open []Open // at least one
}

func (e *OpenError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "merge: nothing was found wrong, and %s left open", things(int64(len(e.Open))))
	for i, o := range e.Open {
		if i == 3 {
			return b.String() + "; and more"
		}
		b.WriteString("; " + o.String())
	}
	return b.String()
}

// things says how many things were, or one thing was.
func things(n int64) string {
	if n == 1 {
		return "1 thing was"
	}
	return fmt.Sprintf("%d things were", n)
}
