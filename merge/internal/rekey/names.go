package rekey

import (
	"context"
	"strings"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// NewNames are the new names of the rows of a source table that are renamed, by the old ones. A nil one has none. It
// holds all of them in memory.
type NewNames struct {
	exact  map[string]string
	folded map[string]string // by old names in lower case; nil where case tells names apart
}

// NewNewNames returns an empty one for the names in a column.
func NewNewNames(d sqlsnow.Dialect, t *plan.Table, column *plan.Column) *NewNames {
	n := &NewNames{exact: map[string]string{}}
	collation := column.Collation
	if collation == "" {
		collation = strings.TrimPrefix(t.Options, "COLLATE=")
	}
	if d == sqlsnow.MySQL && !strings.HasSuffix(collation, "_bin") && !strings.Contains(collation, "_cs") {
		n.folded = map[string]string{}
	}
	return n
}

// Add adds the new name of a row.
func (n *NewNames) Add(before, after any) {
	old, now := sqlvalue.Text(before), sqlvalue.Text(after)
	n.exact[old] = now
	if n.folded != nil {
		n.folded[strings.ToLower(old)] = now
	}
}

// Len returns how many rows are renamed.
func (n *NewNames) Len() int {
	if n == nil {
		return 0
	}
	return len(n.exact)
}

// Of returns the new name in the place of an old one, as a value of the same type, and false if no row that had the name
// gets another one.
func (n *NewNames) Of(v any) (any, bool) {
	if n == nil || v == nil || len(n.exact) == 0 {
		return nil, false
	}
	text := sqlvalue.Text(v)
	now, ok := n.exact[text]
	if !ok && n.folded != nil {
		now, ok = n.folded[strings.ToLower(text)]
	}
	if !ok {
		return nil, false
	}
	return like(v, now), true
}

// NamesOf returns the new names of the rows of a source table in one of its columns, by the ledger.
func NamesOf(ctx context.Context, l ledger.Ledger, t *ledger.SourceTable, column *plan.Column) (*NewNames, error) {
	n := NewNewNames(l.Engine.Kind, t.Table, column)
	renames, err := l.Renames(ctx, t)
	for _, c := range renames {
		if c.Column == column.Name {
			n.Add(c.Before, c.After)
		}
	}
	return n, err
}

// names puts the new names of rows that are renamed in the place of old ones, in columns of RoleName.
func (w *Rewriter) names(ctx context.Context, t *ledger.SourceTable, rows []Row) error {
	for at, c := range t.Columns {
		if c.Role != plan.RoleName {
			continue
		}
		names, known := w.renamed[c]
		if !known {
			if parent := w.Tables[c.Refers[0].Table]; parent != nil {
				var err error
				if names, err = NamesOf(ctx, w.IDs.Ledger, parent, parent.Table.Column(c.Refers[0].Path)); err != nil {
					return err
				}
			}
			if w.renamed == nil {
				w.renamed = map[*plan.Column]*NewNames{}
			}
			w.renamed[c] = names
		}
		for i := range rows {
			if r := &rows[i]; r.New != nil {
				if now, ok := names.Of(r.New[at]); ok {
					r.New[at] = now
				}
			}
		}
	}
	return nil
}
