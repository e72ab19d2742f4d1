package plan

import (
	"strings"

	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// Widen gives columns that hold ids, or may hold them, a type of 64 bits, and references the type of their key, as foreign
// keys need it.
func (p *Plan) Widen() { p.widen(func(*Table, *Column) bool { return false }) }

// widen does so for all but some columns.
func (p *Plan) widen(except func(*Table, *Column) bool) {
	d := dialectOf(p.Dialect)
	for _, t := range p.Tables {
		if key := t.Key(); key != nil && !except(t, key) {
			key.Type = sqltype.Wide(d, key.Type)
		}
	}
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if except(t, c) {
				continue
			}
			if c.Role == RoleReference || c.Role == RolePolymorphic || c.Role == RoleUndecided || c.Role == RoleList && strings.HasSuffix(c.Type, "[]") {
				c.Type = sqltype.Wide(d, c.Type)
			}
			if c.Role != RoleReference || len(c.Refers) != 1 || sqltype.Of(d, c.Type).Kind != sqltype.Integer {
				continue
			}
			if parent := p.Table(c.Refers[0].Table); parent != nil && parent.Key() != nil {
				c.Type = parent.Key().Type
			}
		}
	}
}
