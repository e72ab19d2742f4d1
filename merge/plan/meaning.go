package plan

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A state is what people decide on of a column.
type state struct {
	role      Role
	refers    []*Reference
	by        string
	separator string
	format    string
	none      []string
	orphans   Orphans
	gone      Orphans
	decided   bool
}

func (c *Column) state() state {
	return state{c.Role, c.Refers, c.By, c.Separator, c.Format, c.None, c.Orphans, c.Gone, c.Decided}
}

func (c *Column) set(s state) {
	c.Role, c.Refers, c.By, c.Separator, c.Format, c.None, c.Orphans, c.Gone, c.Decided = s.role, s.refers, s.by, s.separator, s.format, s.none, s.orphans, s.gone, s.decided
}

func (s state) equal(other state) bool {
	return s.role == other.role && s.by == other.by && s.separator == other.separator && s.format == other.format && s.orphans == other.orphans && s.gone == other.gone && s.decided == other.decided &&
		slices.Equal(s.none, other.none) && slices.EqualFunc(s.refers, other.refers, func(a, b *Reference) bool { return *a == *b })
}

func (s state) holdsReferences() bool { return (&Column{Role: s.role}).HoldsReferences() }

// referenceTo is the state of an undecided reference to a table.
func referenceTo(table string, none []string) state {
	return state{role: RoleReference, refers: []*Reference{{Table: table}}, none: none}
}

// proposal returns the word of [Asked.Proposed] for a state, and false if that word and values for no row do not
// say all of it.
func (s state) proposal() (word string, ok bool) {
	bare := s
	bare.none, bare.decided = nil, false
	switch {
	case bare.equal(state{role: RoleUndecided}):
		return string(RoleUndecided), true
	case bare.equal(state{role: RolePlain}) && len(s.none) == 0:
		return AnswerPlain, true
	case bare.equal(state{role: RoleKey}) && len(s.none) == 0:
		return AnswerKey, true
	case s.role == RoleReference && len(s.refers) == 1 && bare.equal(referenceTo(s.refers[0].Table, nil)) && !isWord(s.refers[0].Table):
		return s.refers[0].Table, true
	}
	return "", false
}

// isWord reports whether an answer has a meaning of its own, so that it names no table.
func isWord(answer string) bool {
	return slices.Contains([]string{"", AnswerPlain, AnswerKey, AnswerEach, AnswerYes, string(RoleUndecided)}, answer)
}

// proposed returns what is proposed, if only by the best candidate.
func (q *Asked) proposed() Answer {
	if best := (&Question{Candidates: q.Candidates}).Best(); q.Proposed.IsZero() && best != nil {
		return Answer{Text: best.Answer}
	}
	return q.Proposed
}

// proposal returns what a column of a question is until it is answered, with some values for no row if it is a
// reference to one table, and false if the question does not say so.
func (q *Asked) proposal(none []string) (state, bool) {
	is := q.proposed()
	if is.Meaning != nil {
		s, err := is.Meaning.state()
		s.decided = false
		return s, err == nil
	}
	switch word := is.Text; word {
	case "", AnswerEach, AnswerYes:
		return state{}, false
	case AnswerPlain, AnswerKey, string(RoleUndecided):
		return state{role: Role(word)}, true
	default:
		return referenceTo(word, none), true
	}
}

// propose sets what the columns of a question are until it is answered, and reports whether a question can say it.
func (q *Asked) propose(s state) bool {
	s.decided = false
	if word, ok := s.proposal(); ok {
		q.Proposed, q.None = Answer{Text: word}, s.none
		return true
	}
	if m := s.meaning(); m != nil {
		m.Proposed = false
		q.Proposed = Answer{Meaning: m}
		return true
	}
	return false
}

// state returns what a column of the meaning is.
func (m *Meaning) state() (state, error) {
	s := state{none: m.None, orphans: m.Orphans, gone: m.Gone, decided: !m.Proposed}
	kinds := 0
	for _, is := range []bool{m.To != "", m.List != "", len(m.JSON) > 0, m.By != "" && m.Format == "", m.Format != "", m.Name != ""} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return s, errors.New("want one of to, list, json, by, format and name")
	case m.Separator != "" && m.List == "" && m.Format == "":
		return s, errors.New("separator is for list and format")
	case (len(m.Kinds) > 0) != (m.By != "" && m.Format == ""):
		return s, errors.New("by and kinds need each other")
	case (len(m.IDs) > 0) != (m.Format != ""):
		return s, errors.New("format and ids need each other")
	case m.To != "":
		s.role, s.refers = RoleReference, []*Reference{{Table: m.To}}
	case m.Name != "":
		at := strings.LastIndexByte(m.Name, '.')
		if at <= 0 {
			return s, fmt.Errorf("name %q: want table.column", m.Name)
		}
		s.role, s.refers = RoleName, []*Reference{{Table: m.Name[:at], Path: m.Name[at+1:]}}
	case m.List != "":
		s.role, s.refers, s.separator = RoleList, []*Reference{{Table: m.List}}, m.Separator
	case m.Format != "":
		s.role, s.format, s.by, s.separator = RolePacked, m.Format, m.By, m.Separator
		for _, place := range m.IDs {
			s.refers = append(s.refers, &Reference{Path: place.Key, Table: tableOf(place.Value)})
		}
	case m.By != "":
		s.role, s.by = RolePolymorphic, m.By
		for _, kind := range m.Kinds {
			refers, err := kind.refers()
			if err != nil {
				return s, err
			}
			s.refers = append(s.refers, refers...)
		}
	default:
		s.role = RoleJSON
		for _, path := range m.JSON {
			s.refers = append(s.refers, &Reference{Path: path.Key, Table: path.Value})
		}
	}
	return s, nil
}

// tableOf returns the table of a pair, or none for plain.
func tableOf(text string) string {
	if text == AnswerPlain {
		return ""
	}
	return text
}

// meaning is the inverse of Meaning.state. It returns nil for what a Meaning can't say.
func (s state) meaning() *Meaning {
	m := &Meaning{None: s.none, Orphans: s.orphans, Gone: s.gone, Proposed: !s.decided}
	for _, r := range s.refers {
		table := r.Table
		if table == "" {
			table = AnswerPlain
		}
		switch s.role {
		case RoleReference:
			m.To = r.Table
		case RoleList:
			m.List, m.Separator = r.Table, s.separator
		case RoleName:
			m.Name = r.Table + "." + r.Path
		case RoleJSON:
			m.JSON = append(m.JSON, Pair{r.Path, r.Table})
		case RolePacked:
			m.Format, m.By, m.Separator, m.IDs = s.format, s.by, s.separator, append(m.IDs, Pair{r.Path, table})
		case RolePolymorphic:
			m.By, m.Kinds = s.by, m.Kinds.addKind(r)
		}
	}
	if again, err := m.state(); err != nil || !again.equal(s) || hasTwice(m.JSON) || m.Kinds.hasTwice() || hasTwice(m.IDs) {
		return nil
	}
	return m
}

func hasTwice(p pairs) bool {
	seen := map[string]bool{}
	for _, pair := range p {
		seen[pair.Key] = true
	}
	return len(seen) < len(p)
}

// checkTables refuses references to tables that the plan does not have, and columns beside that the table does not
// have.
func (s state) checkTables(p *Plan, t *Table, at Name) error {
	for _, r := range s.refers {
		if r.Table != "" && p.Table(r.Table) == nil {
			return at.fault("%q names no table of the sources", r.Table)
		}
		if s.role == RoleName && p.Table(r.Table).Column(r.Path) == nil {
			return at.fault("name: table %q has no column %q", r.Table, r.Path)
		}
	}
	if s.by != "" && t.Column(s.by) == nil {
		return at.fault("by: table %q has no column %q", t.Name, s.by)
	}
	return nil
}

func (s state) String() string {
	var tables []string
	for _, r := range s.refers {
		tables = append(tables, strings.TrimPrefix(r.Path+r.Value+"="+r.Table, "="))
	}
	text := string(s.role)
	if s.holdsReferences() || s.role == RoleName {
		text += fmt.Sprintf(" to %q", tables)
	}
	if s.by != "" {
		text += fmt.Sprintf(" by %q", s.by)
	}
	if s.format != "" {
		text += fmt.Sprintf(", format %q", s.format)
	}
	if s.separator != "" {
		text += fmt.Sprintf(", separator %q", s.separator)
	}
	if len(s.none) > 0 {
		text += fmt.Sprintf(", none %q", s.none)
	}
	if s.orphans != "" {
		text += fmt.Sprintf(", orphans %q", s.orphans)
	}
	if s.gone != "" {
		text += fmt.Sprintf(", gone %q", s.gone)
	}
	if !s.decided {
		text += ", proposed"
	}
	return text
}

// A claim says what a column is, with a rank: the claim of the highest rank counts.
type claim struct {
	rank  int
	state state
	keep  bool // the values for no row, and what becomes of orphans, come from the claim of a lower rank
	agree bool // all is as in the claim of a lower rank, but decided
	at    Name
}

// The ranks of claims, from the lowest.
const (
	rankQuestion        = iota + 1 // proposed by a question that has no answer
	rankProposedPattern            // proposed by a pattern
	rankProposed                   // proposed by the full name
	rankAnswer                     // decided by the answer of a question
	rankPattern                    // decided by a pattern
	rankName                       // decided by the full name
)

// resolve returns what a column is by the claims. The first of a rank counts. Two of the same rank that
// disagree are an error.
func resolve(base state, claims []claim) (state, error) {
	slices.SortStableFunc(claims, func(a, b claim) int {
		switch {
		case a.rank != b.rank:
			return a.rank - b.rank
		case a.agree == b.agree:
			return 0
		case a.agree: // of suspects, where a question says what it is
			return 1
		}
		return -1
	})
	var last *claim
	for i := range claims {
		c := &claims[i]
		next := c.state
		switch {
		case c.agree:
			next = base
			next.decided = true
		case c.keep && next.role == RoleReference && base.holdsReferences():
			if next.orphans == "" {
				next.orphans = base.orphans
			}
			if next.gone == "" {
				next.gone = base.gone
			}
			if len(next.none) == 0 {
				next.none = base.none
			}
		}
		if last != nil && last.rank == c.rank {
			if !c.agree && !last.agree && !reflect.DeepEqual(last.state, c.state) {
				return base, c.at.fault("%q is %v here, and %v by %s", c.at.Text, c.state, last.state, last.at)
			}
			continue
		}
		base, last = next, c
	}
	return base, nil
}

// sameClash reports whether two unique keys have the same rule in every respect.
func sameClash(a, b *Unique) bool {
	return reflect.DeepEqual(a.clash(), b.clash())
}

// clash returns what an entry of unique says of the key.
func (u *Unique) clash() *Clash {
	c := &Clash{
		Rule: u.Rule, Rename: u.Rename, Suffix: u.Suffix, Prefer: u.Prefer, Proposed: !u.Decided,
		Template: u.Template, Pattern: u.Pattern, Winner: u.Winner, Both: u.Both, Set: u.Set, Least: u.Least, Most: u.Most,
	}
	if len(c.Prefer) == 0 {
		c.Prefer = nil
	}
	if len(c.Winner) == 0 {
		c.Winner = nil
	}
	if len(c.Set) == 0 {
		c.Set = nil
	}
	return c
}

// set is the inverse of clash.
func (c *Clash) set(u *Unique) {
	u.Rule, u.Rename, u.Suffix, u.Prefer, u.Decided = c.Rule, c.Rename, c.Suffix, c.Prefer, !c.Proposed
	u.Template, u.Pattern, u.Winner, u.Both, u.Set = c.Template, c.Pattern, c.Winner, c.Both, c.Set
	u.Least, u.Most = c.Least, c.Most
}

// keepRules gives the unique keys without a rule in tables the rules that they had, or fail if they are new.
func keepRules(t *Table, was []*Unique) {
	for _, u := range t.Unique {
		if u == nil || u.Rule != "" {
			continue
		}
		at := slices.IndexFunc(was, func(o *Unique) bool { return slices.Equal(o.Columns, u.Columns) })
		if at < 0 {
			u.Rule = RuleFail
			continue
		}
		was[at].clash().set(u)
		u.Suspects = was[at].Suspects
	}
}

// refers returns the references of a kind.
func (k Kind) refers() ([]*Reference, error) {
	m := k.Is.Meaning
	if m == nil {
		return []*Reference{{Value: k.Value, Table: tableOf(k.Is.Text)}}, nil
	}
	if m.To != "" || m.Name != "" || m.By != "" || len(m.None) > 0 || m.Orphans != "" || m.Gone != "" || m.Proposed || len(m.Columns) > 0 {
		return nil, fmt.Errorf("kind %q: want a table, plain, list, json or format: all else is said of the column", k.Value)
	}
	s, err := m.state()
	if err != nil {
		return nil, fmt.Errorf("kind %q: %w", k.Value, err)
	}
	format := s.format
	switch s.role {
	case RoleList:
		format = formatList
	case RoleJSON:
		format = formatJSON
	}
	if s.separator != "" {
		format += " " + s.separator
	}
	var refers []*Reference
	for _, r := range s.refers {
		refers = append(refers, &Reference{Value: k.Value, Table: r.Table, Path: r.Path, Format: format})
	}
	return refers, nil
}
