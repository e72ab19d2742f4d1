package route

import "strings"

// found is what a SELECT has beside conditions.
type found struct {
	selects  bool // it is a SELECT
	joins    bool // a JOIN
	calls    bool // parentheses among what it selects, as functions have
	distinct bool
	grouped  bool
	ordered  bool
	limited  bool
	offset   bool
	locking  bool
}

// note remembers a word at the end of a SELECT.
func (f *found) note(t token, limited bool) {
	is := func(w string) bool { return strings.EqualFold(t.text, w) }
	switch {
	case t.kind == tail && is("ORDER"):
		f.ordered = true
	case t.kind == tail:
		f.grouped = true
	case t.kind == last && is("LIMIT"):
		f.limited = true
	case t.kind == last && (is("FOR") || is("LOCK")):
		f.locking = true
	case t.kind == last, limited && (t.kind == comma || t.kind == name && is("OFFSET")):
		f.offset = true
	}
}
