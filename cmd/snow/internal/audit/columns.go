package audit

import (
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/idcolumn"
)

// columns finds columns that make up numbers, and keys and references that are too narrow for ids.
func (a *audit) columns(t *table) {
	for _, c := range t.columns {
		if c.Auto != "" {
			severity, more := Warning, ""
			if t.hasIDs {
				severity, more = Error, ", and it counts on from the largest id"
			}
			a.find(t, c.Name, severity, "the table makes up its own numbers where an id is missing: it is "+c.Auto+more, c.Cure)
		}
		target, key, by := a.target(t, c)
		switch {
		case target != nil:
			severity := Warning
			if target.hasIDs {
				severity = Error
			}
			if key.Kind == idcolumn.Text {
				continue // the referenced key is no number
			}
			if problem, remedy := c.Refuse(idcolumn.Number); problem != "" {
				a.find(t, c.Name, severity, problem+"; "+by+" "+target.label+"."+key.Name, remedy)
			}
		case isKey(t, c) && c.Kind == idcolumn.Integer:
			if problem, remedy := c.Refuse(idcolumn.Number); problem != "" {
				a.find(t, c.Name, Warning, problem, remedy)
			}
		}
	}
}

// isKey reports whether a column alone is the primary key, or makes up numbers.
func isKey(t *table, c idcolumn.Column) bool {
	return c.Auto != "" || len(t.key) == 1 && strings.EqualFold(t.key[0], c.Name)
}

// target returns the key that a column refers to by a foreign key, or by its name, such as user_id for the table users;
// nil if there is none that is a number, or none that this audit looks at.
func (a *audit) target(t *table, c idcolumn.Column) (target *table, key idcolumn.Column, by string) {
	i := slices.IndexFunc(t.references, func(r reference) bool { return strings.EqualFold(r.column, c.Name) })
	if i >= 0 {
		r := t.references[i]
		target = a.named[a.nameOf(r.schema, r.table)]
		if target == nil {
			return nil, key, ""
		}
		if r.to == "" && len(target.key) == 1 {
			r.to = target.key[0]
		}
		key, ok := target.column(r.to)
		if !ok || !isKey(target, key) {
			return nil, key, ""
		}
		return target, key, "it refers to"
	}
	base, ok := strings.CutSuffix(strings.ToLower(c.Name), "_id")
	if !ok || base == "" || isKey(t, c) {
		return nil, key, ""
	}
	names := []string{base, base + "s", base + "es"}
	if stem, ok := strings.CutSuffix(base, "y"); ok {
		names = append(names, stem+"ies")
	}
	for _, name := range names {
		found := a.named[a.nameOf(t.schema, name)]
		if found == nil || len(found.key) != 1 {
			continue
		}
		if key, ok := found.column(found.key[0]); ok && key.Kind == idcolumn.Integer {
			return found, key, "by its name it refers to"
		}
	}
	return nil, key, ""
}
