package gormsnow

import (
	"database/sql"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

var _ analysis.Unchanged = witness{}

// A witness is an assignment of ON DUPLICATE KEY UPDATE that changes no column. It makes
// the server report a last insert id that is not zero if the statement has met a row:
// whichever unique key that row has, and whether or not the model declares it.
type witness struct{ key clause.Column }

// Build implements [clause.Expression].
func (w witness) Build(b clause.Builder) {
	_, _ = b.WriteString("IF(LAST_INSERT_ID(")
	b.WriteQuoted(w.key)
	_, _ = b.WriteString("|1),") // never zero, even if the key is
	b.WriteQuoted(w.key)
	_ = b.WriteByte(',')
	b.WriteQuoted(w.key)
	_ = b.WriteByte(')')
}

// Unchanged implements [analysis.Unchanged], by which package route knows that the key stays.
func (witness) Unchanged() {}

// addWitness adds a witness to the statement's ON DUPLICATE KEY UPDATE, if it can have one.
func addWitness(stmt *gorm.Statement, m *model) {
	if stmt.Dialector.Name() != "mysql" || stmt.Clauses["ON CONFLICT"].Expression == nil || !isPlain(stmt.ConnPool) {
		return
	}
	on := conflictOf(stmt)
	key := on.soleKey(stmt, m)
	// GORM makes the assignments of UpdateAll later. INSERT IGNORE drops rows that no
	// assignment sees. A text can have no bit set.
	if key == nil || on.UpdateAll || on.modified || on.returning || key.IndirectFieldType.Kind() == reflect.String {
		return
	}
	column := clause.Column{Name: key.DBName}
	on.DoUpdates = append(slices.Clip(on.DoUpdates), clause.Assignment{Column: column, Value: witness{column}})
	setConflict(stmt, on.OnConflict)
	if stmt.Result == nil {
		stmt.Result = gorm.WithResult()
		issuedTo(stmt).result = true
	}
	stmt.Result.Result = nil
}

// isPlain reports whether a pool sends statements as they are. Another one, such as gorm.io/sharding's, may send an
// upsert to another table without a word, and its answer to the SELECT after it shows that.
func isPlain(pool gorm.ConnPool) bool {
	switch pool.(type) {
	case *sql.DB, *sql.Tx, *sql.Conn, *gorm.PreparedStmtDB, *gorm.PreparedStmtTX:
		return true
	}
	return false
}

// dropWitness takes the witness of this or an earlier insert out of the statement. It
// reports whether the witness says that the insert has met no row.
func dropWitness(stmt *gorm.Statement) (none bool) {
	on, _ := stmt.Clauses["ON CONFLICT"].Expression.(clause.OnConflict)
	i := slices.IndexFunc(on.DoUpdates, isWitness)
	if i < 0 {
		return false
	}
	on.DoUpdates = slices.Delete(slices.Clone(on.DoUpdates), i, i+1)
	setConflict(stmt, on)
	made, result := issuedTo(stmt), stmt.Result
	if made != nil && made.result {
		stmt.Result = nil
	}
	if made == nil || result == nil || result.Result == nil {
		return false
	}
	last, err := result.Result.LastInsertId()
	rows, _ := stmt.Clauses["VALUES"].Expression.(clause.Values)
	// A server or proxy that does not know the function might report zero at any time.
	return err == nil && last == 0 && result.RowsAffected == int64(len(rows.Values))
}

func isWitness(a clause.Assignment) bool {
	_, ok := a.Value.(witness)
	return ok
}

func setConflict(stmt *gorm.Statement, on clause.OnConflict) {
	c := stmt.Clauses["ON CONFLICT"]
	c.Expression = on
	stmt.Clauses["ON CONFLICT"] = c
}
