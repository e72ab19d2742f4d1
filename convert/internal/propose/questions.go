package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/convert/plan"
	mergeplan "github.com/shardsnow/snow/merge/plan"
)

// Certainties that merge gives no number for.
const (
	byKind    = 0.8 // a column beside one that names its table, as far as a sample says
	uncounted = 0.5 // a key that no database counts: only people know who numbers it
)

// ask makes questions of the columns that may have ids, and that no foreign key declares. Their columns are in the plan
// until the answer is leave.
func (p *proposer) ask() {
	for _, t := range p.all {
		for _, c := range p.merge(t.Name).Columns {
			q := p.question(t, c)
			if q == nil {
				p.noteIDs(t, c)
				continue
			}
			p.plan.Questions = append(p.plan.Questions, q)
		}
	}
	for _, q := range p.plan.Questions {
		t, name := p.split(q.Column)
		refers := q.Proposed
		if isKey(t, name, q) {
			refers = ""
		}
		p.add(t, name, refers)
	}
	p.followAll()
}

func (p *proposer) split(name string) (*plan.Table, string) {
	for _, t := range p.all {
		if column, ok := strings.CutPrefix(name, t.Name+"."); ok && p.merge(t.Name).Column(column) != nil {
			return t, column
		}
	}
	return nil, ""
}

// isKey reports whether a question is about the key of a table that no database counts.
func isKey(t *plan.Table, column string, q *plan.Question) bool {
	return q.Proposed == t.Name && slices.Equal(t.PrimaryKey, []string{column})
}

// question returns the question about a column, or nil.
func (p *proposer) question(t *plan.Table, c *mergeplan.Column) *plan.Question {
	s := p.schema.Table(t.Name).Column(c.Name)
	if s == nil || plan.Wide(s.Type) == "" || t.Column(c.Name) != nil || c.Name == t.Key || p.barred(t, c.Name) != "" {
		return nil
	}
	q := &plan.Question{Column: t.Name + "." + c.Name, Type: s.Type}
	for _, k := range t.ForeignKeys {
		if i := slices.Index(k.Columns, c.Name); i >= 0 {
			return p.declared(q, k.Refers, k.RefColumns[i])
		}
	}
	asked := p.asked(q.Column)
	switch c.Role {
	case mergeplan.RoleReference:
		p.reference(q, c, asked)
	case mergeplan.RolePolymorphic:
		q.Certainty, q.Evidence = byKind, slices.Clone(c.Suspects)
		q.Evidence = append(q.Evidence, fmt.Sprintf("%s says whose ids these are: %s", c.By, strings.Join(parents(c), ", ")))
		if at := slices.IndexFunc(parents(c), p.getsIDs); at >= 0 {
			q.Proposed = parents(c)[at]
		}
	case mergeplan.RoleUndecided:
		p.undecided(q, asked)
	case mergeplan.RoleKey:
		if !slices.Equal(t.PrimaryKey, []string{c.Name}) || isShort(s.Type) {
			return nil
		}
		q.Proposed, q.Certainty = t.Name, uncounted
		q.Evidence = append([]string{"a primary key that no database counts: widen it if programs number its rows, and will do so with snow ids"}, p.children(t, c.Name)...)
		return q
	default:
		return nil
	}
	if q.Proposed != "" && !p.getsIDs(q.Proposed) {
		return nil
	}
	return q
}

// declared returns the question about a column of a foreign key, or nil if it refers to ids that stay small. A key of
// 64 bits that no database counts gets its ids from programs, which may come to give it snow ids.
func (p *proposer) declared(q *plan.Question, parent, key string) *plan.Question {
	c := p.schema.Table(parent).Column(key)
	if c == nil || !plan.IsWide(c.Type) {
		return nil
	}
	q.Proposed, q.Certainty = parent, byKind
	q.Evidence = []string{fmt.Sprintf("a foreign key refers to %s.%s, which is %s, and which no database counts", parent, key, c.Type)}
	return q
}

// reference says what is known of a column that merge takes for a reference.
func (p *proposer) reference(q *plan.Question, c *mergeplan.Column, asked *mergeplan.Question) {
	if len(c.Refers) > 0 {
		q.Proposed = c.Refers[0].Table
	}
	q.Evidence = slices.Clone(c.Suspects)
	if asked == nil {
		return
	}
	q.Evidence = append(q.Evidence, evidence(asked, q.Column)...)
	for _, candidate := range asked.Candidates {
		if candidate.Answer == q.Proposed || candidate.Answer == mergeplan.AnswerEach {
			q.Certainty = candidate.Certainty
			break
		}
	}
}

// undecided says what is known of a column about which merge proposes nothing. It may have several candidates.
func (p *proposer) undecided(q *plan.Question, asked *mergeplan.Question) {
	if asked == nil {
		return
	}
	q.Evidence = evidence(asked, q.Column)
	for _, candidate := range asked.Candidates {
		named := slices.ContainsFunc(q.Evidence, func(line string) bool { return strings.Contains(line, ": "+candidate.Answer+":") })
		if named && p.table(candidate.Answer) != nil && candidate.Certainty > q.Certainty {
			q.Proposed, q.Certainty = candidate.Answer, candidate.Certainty
		}
	}
}

// evidence returns the lines of merge's question that are about a column: its own ones, or else the ones about all.
func evidence(asked *mergeplan.Question, column string) (lines []string) {
	for _, line := range asked.Evidence {
		if about(line, column) {
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 {
		return lines
	}
	for _, line := range asked.Evidence {
		if !slices.ContainsFunc(asked.Columns, func(other string) bool { return about(line, other) }) {
			lines = append(lines, line)
		}
	}
	return lines
}

func about(line, column string) bool {
	rest, ok := strings.CutPrefix(line, column)
	return ok && rest != "" && strings.ContainsAny(rest[:1], ":; ")
}

// getsIDs reports whether rows of a table may get snow ids: the database counts its key, or has room for them.
func (p *proposer) getsIDs(table string) bool {
	t := p.table(table)
	if t == nil {
		return false
	}
	if t.Key != "" || len(t.PrimaryKey) != 1 {
		return t.Key != ""
	}
	c := p.schema.Table(table).Column(t.PrimaryKey[0])
	return c != nil && (plan.IsWide(c.Type) || t.Column(c.Name) != nil || plan.Wide(c.Type) != "" && !isShort(c.Type))
}

// isShort reports whether a type is too small for numbers of anything but a dictionary.
func isShort(typ string) bool {
	return strings.HasPrefix(typ, "tinyint") || strings.HasPrefix(typ, "smallint") || strings.HasPrefix(typ, "mediumint")
}

// children says how many foreign keys refer to a column.
func (p *proposer) children(t *plan.Table, column string) []string {
	n := 0
	for _, child := range p.all {
		for _, k := range child.ForeignKeys {
			if k.Refers == t.Name && slices.Contains(k.RefColumns, column) {
				n++
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("foreign keys that refer to it, and follow: %d", n)}
}

// parents returns the tables whose ids a column may have.
func parents(c *mergeplan.Column) (tables []string) {
	for _, r := range c.Refers {
		if r.Table != "" && !slices.Contains(tables, r.Table) {
			tables = append(tables, r.Table)
		}
	}
	return tables
}

// asked returns merge's question about a column, or nil.
func (p *proposer) asked(column string) *mergeplan.Question {
	for _, q := range p.found.Questions {
		if slices.Contains(q.Columns, column) {
			return q
		}
	}
	return nil
}
