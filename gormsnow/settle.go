package gormsnow

import (
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// issuedName is the entry of a statement's clauses that remembers the ids that the
// plugin has put into its rows. GORM builds no clause of this name.
const issuedName = "gormsnow:issued"

// issued are the ids that the plugin gave to the rows of a statement.
type issued struct {
	ids    []snow.ID // ascending
	one    [1]snow.ID
	result bool // the statement's Result is the plugin's
}

func newIssued(n int) *issued {
	made := new(issued)
	if made.ids = made.one[:]; n > 1 {
		made.ids = make([]snow.ID, n)
	}
	return made
}

// Build implements [clause.Expression].
func (*issued) Build(clause.Builder) {}

func (i *issued) has(id snow.ID) bool {
	_, found := slices.BinarySearch(i.ids, id)
	return found
}

// issuedTo returns the ids that the statement's rows got, or nil.
func issuedTo(stmt *gorm.Statement) *issued {
	made, _ := stmt.Clauses[issuedName].Expression.(*issued)
	return made
}

// holders says which slot holds an id of a statement.
type holders map[snow.ID]slot

// Build implements [clause.Expression].
func (holders) Build(clause.Builder) {}

// keep remembers the holders until settle.
func (h holders) keep(stmt *gorm.Statement) {
	c := stmt.Clauses[issuedName]
	c.AfterExpression = h
	stmt.Clauses[issuedName] = c
}

// replacesRows reports whether GORM may write the rows that the insert returns over
// the start of the caller's slice. It does so for RETURNING *, which a field's
// clauses may still add.
func replacesRows(stmt *gorm.Statement) bool {
	_, returning := stmt.Clauses["RETURNING"]
	return returning || len(stmt.Schema.CreateClauses) > 0
}

// locate finds the ids in the rows of the statement.
func (i *issued) locate(stmt *gorm.Statement, m *model) (holders, error) {
	rows := make(holders, len(i.ids))
	err := each(stmt, m.Keys, func(s slot) error {
		if id := idOf(s.value()); i.has(id) {
			rows[id] = s
		}
		return nil
	})
	return rows, err
}

// A doubt is a row that the database may have skipped or merged into another.
type doubt struct {
	slots   []slot          // the keys that the plugin has filled
	sent    map[string]any  // the values of the INSERT, by column
	stored  []reflect.Value // pointers to the keys of the existing row, in the model's order
	matches int             // how many existing rows it may have met
}

// settle corrects the keys after the insert. A key that the plugin assigned to a
// row that was not inserted becomes the key of the row that is there instead, or
// zero if settle can't tell which row that is. It sends no statement if every row
// must have been inserted.
func (p *plugin) settle(stmt *gorm.Statement, m *model) error {
	made := issuedTo(stmt)
	if none := dropWitness(stmt); made == nil || stmt.DB.DryRun || none {
		return nil
	}
	on := conflictOf(stmt)
	if on.impossible() {
		return nil
	}
	doubts, err := on.doubts(stmt, m, made)
	if err == nil {
		doubts, err = on.dropInserted(stmt, m, doubts)
	}
	if err == nil {
		err = on.find(stmt, m, doubts)
	}
	if err != nil {
		// It is unknown which rows are stored, and whether the insert is rolled back.
		// As after every failed insert, the rows keep their ids.
		return fmt.Errorf("look for the ids of %s after the insert: %w", analysis.Name(stmt.Schema), err)
	}
	for _, d := range doubts {
		for _, s := range d.slots {
			if d.matches == 1 {
				s.set(d.stored[slices.Index(m.Keys, s.key)].Elem())
			} else {
				s.set(reflect.Zero(reflect.PointerTo(s.key.IndirectFieldType)))
			}
		}
	}
	return nil
}

// A conflict says what a statement does with a row that meets an existing one.
type conflict struct {
	clause.OnConflict
	upsert    bool
	modified  bool // INSERT IGNORE and the like
	returning bool
	anyKey    bool // a conflict with any unique key counts, whatever the target is
	rows      clause.Values
	affected  int64
}

func conflictOf(stmt *gorm.Statement) conflict {
	on := conflict{affected: stmt.DB.RowsAffected}
	var c clause.Clause
	c, on.upsert = stmt.Clauses["ON CONFLICT"]
	on.OnConflict, _ = c.Expression.(clause.OnConflict)
	_, on.returning = stmt.Clauses["RETURNING"]
	insert, _ := stmt.Clauses["INSERT"].Expression.(clause.Insert)
	on.modified = insert.Modifier != ""
	on.rows, _ = stmt.Clauses["VALUES"].Expression.(clause.Values)
	switch stmt.Dialector.Name() {
	case "postgres", "sqlite":
	default: // ON DUPLICATE KEY has no target
		on.anyKey = true
	}
	return on
}

// impossible reports whether all rows are known to be inserted, without a query.
func (on *conflict) impossible() bool {
	switch {
	case on.modified || on.dropped():
		return false
	case !on.upsert:
		return true
	default:
		// MySQL may count rows that it found and did not change, and GORM may count
		// more rows than RETURNING returned.
		return on.DoNothing && !on.anyKey && (len(on.rows.Values) == 1 || !on.returning)
	}
}

// dropped reports whether the database says that it inserted fewer rows than it
// was sent: a trigger may drop some, except on MySQL.
func (on *conflict) dropped() bool { return !on.anyKey && on.affected < int64(len(on.rows.Values)) }

// doubts returns the rows that have an id from the plugin and may not be stored.
func (on *conflict) doubts(stmt *gorm.Statement, m *model, made *issued) ([]*doubt, error) {
	rows, kept := stmt.Clauses[issuedName].AfterExpression.(holders)
	if !kept {
		var err error
		if rows, err = made.locate(stmt, m); err != nil {
			return nil, err
		}
	}
	var all []*doubt
	for _, row := range on.rows.Values {
		d := &doubt{sent: make(map[string]any, len(row))}
		for i, value := range row {
			d.sent[on.rows.Columns[i].Name] = value
		}
		fresh := false
		for _, key := range m.Keys {
			id := idOf(reflect.ValueOf(d.sent[key.DBName]))
			// GORM may have put another row there by now.
			if s, ok := rows[id]; ok && idOf(s.value()) == id {
				d.slots = append(d.slots, s)
				fresh = fresh || on.targets(key.DBName)
			}
		}
		if len(d.slots) > 0 && (!fresh || on.dropped()) {
			all = append(all, d)
		}
	}
	return all, nil
}

// targets reports whether only rows with the same value in column can conflict.
// No row has the value of an id that was just made.
func (on *conflict) targets(column string) bool {
	return !on.anyKey && !on.modified && on.upsert && on.OnConstraint == "" &&
		slices.Contains(on.Columns, clause.Column{Name: column})
}

// changes reports whether a row that is met gets a new value in column.
func (on *conflict) changes(column string) bool {
	return slices.ContainsFunc(on.DoUpdates, func(a clause.Assignment) bool {
		return a.Column.Name == column && !isWitness(a) && a.Value != any(a.Column) // DO NOTHING is id = id in MySQL
	})
}
