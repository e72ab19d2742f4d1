package plan

import "slices"

// The answers to a question.
const (
	Widen = "widen" // the column becomes BIGINT
	Leave = "leave" // it stays
)

// Resolve does what the answers say: it adds columns that are to be widened to their tables, and removes columns that are
// to be left, with those that refer to them by foreign keys. To do it twice changes nothing. [Read] does it.
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
	if q.Proposed == t.Name && slices.Equal(t.PrimaryKey, []string{column}) && t.Key == "" {
		t.Key = column
	}
	to := Wide(q.Type)
	if t.Column(column) != nil || to == "" {
		return
	}
	c := &Column{Name: column, Type: q.Type, To: to}
	if q.Proposed != t.Name || !slices.Contains(t.PrimaryKey, column) {
		c.Refers = q.Proposed
	}
	t.Columns = append(t.Columns, c)
	if t.Method == None {
		if t.Method = Online; t.Why != "" {
			t.Method = Alter
		}
	}
}

func (p *Plan) leave(t *Table, column string) {
	if q := p.question(t.Name, column); q != nil && q.Proposed == t.Name && t.Key == column {
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
			if i := slices.Index(k.RefColumns, column); k.Refers == t.Name && i >= 0 && i < len(k.Columns) {
				p.leave(child, k.Columns[i])
			}
		}
	}
}
