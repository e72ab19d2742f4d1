package route

import (
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
)

const explainKey = "gormsnow:explain"

// An Explained says where a statement would go.
type Explained struct {
	Op        string // create, query, update, delete, row or raw
	Model     string // Go type, or empty
	SQL       string // with placeholders
	Shards    []uint64
	Databases []int  // that would be asked, by index; any of them if Shards is empty and the list has one
	Why       string // what tells the shards
	Err       *Error // why it would be refused, or nil
}

// String returns one line.
func (e Explained) String() string {
	at := strings.TrimSpace(e.Op + " " + e.Model)
	switch {
	case e.Err != nil:
		return at + ": refused: " + e.Err.Err.Error() + ": " + e.Err.Reason
	case len(e.Databases) == 1:
		return fmt.Sprintf("%s: database %d, %s", at, e.Databases[0], e.Why)
	}
	return fmt.Sprintf("%s: databases %v, %s", at, e.Databases, e.Why)
}

// Explain says where statements would go, without sending them. As with [gorm.DB.ToSQL], build gets a session in dry
// run: it may give keys to new rows, and preloads, which depend on rows, are not seen.
//
//	plan, err := route.Explain(db, func(tx *gorm.DB) *gorm.DB { return tx.Find(&orders, "id IN ?", ids) })
//
// The error is GORM's or a plugin's, such as one for a row whose key has another shard. A refusal is in the plan.
func Explain(db *gorm.DB, build func(tx *gorm.DB) *gorm.DB) ([]Explained, error) {
	if _, err := RouterOf(db); err != nil {
		return nil, err
	}
	plan := new([]Explained)
	tx := build(db.Session(&gorm.Session{DryRun: true, SkipDefaultTransaction: true}).Set(explainKey, plan).Session(&gorm.Session{}))
	if tx.Error != nil && !errors.Is(tx.Error, gorm.ErrDryRunModeUnsupported) && !errors.As(tx.Error, new(*Error)) {
		return *plan, fmt.Errorf("route: explain: %w", tx.Error)
	}
	return *plan, nil
}

// explain adds the statement to a plan, if its session is of Explain.
func explain(b *bound, r *router) {
	v, _ := b.stmt.Settings.Load(explainKey)
	plan, ok := v.(*[]Explained)
	if !ok || b.stmt.SQL.Len() == 0 {
		return
	}
	e := Explained{Op: b.op, SQL: b.stmt.SQL.String()}
	m := b.model()
	if m != nil {
		e.Model = m.name
	}
	if b.op == opUpdate { // GORM has taken it away
		b.stmt.Clauses["SET"] = clause.Clause{Expression: callbacks.ConvertToAssignments(b.stmt)}
		defer delete(b.stmt.Clauses, "SET")
	}
	p, refused := b.rules.place(b, e.SQL, b.stmt.Vars)
	if refused == nil {
		e.Databases, refused = r.databases(b, m, p)
	}
	if e.Err = refused; refused == nil {
		e.Shards, e.Why = p.shards, why(b, m, p)
	}
	*plan = append(*plan, e)
}

// why returns what tells the shards.
func why(b *bound, m *model, p place) string {
	switch {
	case p.all:
		return "all shards by Scatter"
	case p.any && m != nil && m.global:
		return "any, because its rows are in every database"
	case p.any:
		return "any, because no row can match"
	case b.hint.kind == on:
		return list(p.shards) + " by On"
	case b.from:
		return list(p.shards) + " by the table that it joins"
	case b.op == opCreate:
		return list(p.shards) + " by " + strings.ReplaceAll(m.columns(), " or ", " and ") + " of the rows"
	}
	return list(p.shards) + " by conditions on " + m.columns()
}
