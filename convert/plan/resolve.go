package plan

import "slices"

// The answers to a question.
const (
	Widen = "widen" // the column becomes BIGINT
	Leave = "leave" // it stays
)

// Resolve does what the answers say: it adds columns that are to be widened to their tables, and removes columns that
// are to be left, with those that refer to them by foreign keys. To do it twice changes nothing. [Read] does it.
func (p *Plan) Resolve() {
	for _, q := range p.Questions {
		t, column := p.split(q.Column)
		if t == nil {
			continue
		}
		switch q.Answer {
		case Widen:
			p.widen(t, column, q)
		case Leave:
			p.leave(t, column)
		}
	}
}

// Accept answers the questions that have no answer: with widen if the certainty is at least what is given, and with
// leave if its opposite is as certain. It returns the questions that are still open.
func (p *Plan) Accept(certainty float64) (open []*Question) {
	for _, q := range p.Questions {
		switch {
		case q.Answer != "":
		case q.Certainty >= certainty:
			q.Answer = Widen
		case 1-q.Certainty >= certainty:
			q.Answer = Leave
		default:
			open = append(open, q)
		}
	}
	p.Resolve()
	return open
}

func (p *Plan) widen(t *Table, column string, q *Question) {
	if isKey(t, column, q) && t.Key == "" {
		t.Key = column
	}
	to := Wide(q.Type)
	if t.Column(column) != nil || to == "" {
		return
	}
	c := &Column{Name: column, Type: q.Type, To: to}
	if !isKey(t, column, q) {
		c.Refers = q.Proposed
	}
	t.Columns = append(t.Columns, c)
	if t.Method == None {
		if t.Method = Online; t.Why != "" {
			t.Method = Alter
		}
	}
}

// isKey reports whether a question is about the key of a table that no database counts.
func isKey(t *Table, column string, q *Question) bool {
	return q.Proposed == t.Name && slices.Equal(t.PrimaryKey, []string{column})
}

func (p *Plan) leave(t *Table, column string) {
	if q := p.question(t.Name, column); q != nil && isKey(t, column, q) && t.Key == column {
		t.Key = ""
	}
	at := slices.IndexFunc(t.Columns, func(c *Column) bool { return c.Name == column })
	if at < 0 {
		return
	}
	t.Columns = slices.Delete(t.Columns, at, at+1)
	if len(t.Columns) == 0 {
		t.Method, t.Group, t.Columns = None, 0, nil
	}
	for _, child := range p.Tables {
		for _, k := range child.ForeignKeys {
			i := slices.Index(k.RefColumns, column)
			if k.Refers == t.Name && i >= 0 && i < len(k.Columns) && !p.follows(child, k.Columns[i]) {
				p.leave(child, k.Columns[i])
			}
		}
	}
}

// follows reports whether a foreign key of a column refers to one that becomes wider.
func (p *Plan) follows(t *Table, column string) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(k *ForeignKey) bool {
		i, parent := slices.Index(k.Columns, column), p.Table(k.Refers)
		return i >= 0 && i < len(k.RefColumns) && parent != nil && parent.Column(k.RefColumns[i]) != nil
	})
}
