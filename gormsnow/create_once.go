package gormsnow

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// CreateOnce inserts row, or loads the row that is already stored: the one with
// the same primary key or, if on names fields or columns of a unique index, the
// one with the same values in these. So a caller that got no answer may repeat the
// call, also in another process, and there is only one row:
//
//	id, err := generator.Next(ctx) // once for each request, kept by the client
//	order := Order{ID: id, Buyer: buyer}
//	created, err := gormsnow.CreateOnce(db, &order)
//
// If the error is nil, the row is stored. At most one call for a row returns
// created; if the answer to that call was lost, none does. If created is false,
// *row is the row of the table, which may differ from what was passed; its
// associations are loaded if db has Preload, and empty otherwise. A soft-deleted
// row counts as stored and is loaded. After an error the call has stored nothing,
// unless the connection broke during the commit: then repeat the call.
//
// A row without an id gets one from the plugin and keeps it after an error. If on
// is empty, repeat the call with the same id: a new id would be a new row.
//
// The row and its associations are created in a transaction, or in a savepoint if
// db is in a transaction, which can therefore go on after a duplicate, even on
// PostgreSQL. Table, Scopes, Select and Omit of db apply to the insert; Table,
// Scopes and Preload apply to the load.
//
// If db is in a transaction with REPEATABLE READ or SERIALIZABLE on PostgreSQL,
// CreateOnce can't load a row that is newer than the transaction's snapshot, and
// returns the error for another key. On any database a deadlock may end the
// transaction, and so may error 1020 of MariaDB with innodb_snapshot_isolation,
// which is on by default from 11.6: statements after such an error commit one by
// one. Return the error from the transaction, and repeat the whole transaction.
//
// The error is [gorm.ErrDuplicatedKey], and wraps the driver's, if a stored row has
// the same values in another unique key than the one asked for. It is a
// [*FieldError] if the model has no such field, if no primary key, unique field or
// unique index that it declares is a subset of on, or if a value of on is NULL,
// which is never a duplicate. A partial unique index counts; [Check] says whether
// the table has what the model declares. It is [gorm.ErrDryRunModeUnsupported] in
// a dry run. An ON CONFLICT clause is refused. CreateOnce recognises duplicates by
// the error codes that the GORM dialect knows ([gorm.ErrorTranslator]); with other
// dialects they stay errors.
//
// CreateOnce is as safe for concurrent use as db is; row must not be shared.
func CreateOnce[T any](db *gorm.DB, row *T, on ...string) (created bool, err error) {
	created, err = createOnce(db, row, on)
	if err != nil {
		return false, fmt.Errorf("gormsnow: create once: %w", err)
	}
	return created, nil
}

func createOnce[T any](db *gorm.DB, row *T, on []string) (created bool, err error) {
	if row == nil {
		return false, gorm.ErrInvalidValue
	}
	if db.DryRun {
		return false, gorm.ErrDryRunModeUnsupported
	}
	key, err := keyFields(db, row, on)
	if err != nil {
		return false, err
	}
	_, outer := db.Statement.ConnPool.(gorm.TxCommitter)
	db = db.Session(&gorm.Session{})
	log := db.Logger
	db.Logger = quiet{log, db}
	db.DisableNestedTransaction = false // only for this session, which has a Config of its own
	var values []clause.Expression
	err = db.Transaction(func(tx *gorm.DB) error {
		tx = tx.Create(row)
		// By now hooks and associations have set their values.
		var null error
		values, null = keyValues(tx.Statement, key, row)
		switch {
		case tx.Error != nil:
			return tx.Error
		case null != nil:
			return null
		}
		return inserted(tx)
	})
	if err == nil || !duplicate(db, err) {
		return err == nil, err
	}
	db.Logger = log
	stored, loadErr := load[T](db, values, outer && db.Name() == "mysql")
	if loadErr != nil {
		return false, errors.Join(loadErr, err)
	}
	if stored == nil {
		names := make([]string, len(key))
		for i, f := range key {
			names[i] = f.DBName
		}
		return false, fmt.Errorf("%w: not on %s: %w", gorm.ErrDuplicatedKey, strings.Join(names, ", "), err)
	}
	*row = *stored
	return false, nil
}

// keyFields returns the fields that identify the row.
func keyFields(db *gorm.DB, row any, on []string) ([]*schema.Field, error) {
	if reflect.TypeOf(row).Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%w: %T is no pointer to a struct", gorm.ErrInvalidValue, row)
	}
	stmt := &gorm.Statement{DB: db}
	if err := stmt.Parse(row); err != nil {
		return nil, err
	}
	if len(on) == 0 {
		if len(stmt.Schema.PrimaryFields) == 0 {
			return nil, &FieldError{stmt.Schema.ModelType.String(), "ID", "the model has no primary key: name the columns of a unique index"}
		}
		return stmt.Schema.PrimaryFields, nil
	}
	key := make([]*schema.Field, len(on))
	for i, name := range on {
		key[i] = stmt.Schema.LookUpField(name)
		if key[i] == nil || key[i].DBName == "" {
			return nil, &FieldError{stmt.Schema.ModelType.String(), name, "the model has no such column"}
		}
	}
	for _, u := range analysis.UniqueKeys(stmt.Schema) {
		if !slices.ContainsFunc(u.Columns, func(column string) bool {
			return !slices.ContainsFunc(key, func(f *schema.Field) bool { return f.DBName == column })
		}) {
			return key, nil
		}
	}
	return nil, fieldError(stmt.Schema, key[0], "nothing makes "+strings.Join(on, ", ")+" unique: declare it with the tag uniqueIndex")
}

// keyValues returns the condition that a row has the same key as this one.
func keyValues(stmt *gorm.Statement, key []*schema.Field, row any) ([]clause.Expression, error) {
	exprs := make([]clause.Expression, len(key))
	for i, f := range key {
		value, _ := f.ValueOf(stmt.Context, reflect.ValueOf(row))
		null := value == nil
		if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer {
			null = v.IsNil()
		}
		if valuer, ok := value.(driver.Valuer); ok && !null {
			plain, err := valuer.Value()
			null = err == nil && plain == nil // if it fails, so does the insert
		}
		if null {
			return nil, fieldError(f.Schema, f, "it is NULL, which is never a duplicate: set it")
		}
		exprs[i] = clause.Eq{Column: clause.Column{Table: clause.CurrentTable, Name: f.DBName}, Value: value}
	}
	return exprs, nil
}

// inserted returns an error unless a create without an error has certainly inserted
// the row.
func inserted(tx *gorm.DB) error {
	if _, ok := tx.Statement.Clauses["ON CONFLICT"]; ok {
		return errors.New("the statement has an ON CONFLICT clause: drop it")
	}
	if tx.RowsAffected != 1 {
		return fmt.Errorf("the database reports %d rows inserted, want 1", tx.RowsAffected)
	}
	return nil
}

// quiet is a logger that does not log duplicates as errors: every repeated call
// causes one, and the caller gets the error for a duplicate of another key.
type quiet struct {
	logger.Interface
	db *gorm.DB
}

// LogMode implements [logger.Interface].
func (q quiet) LogMode(level logger.LogLevel) logger.Interface {
	return quiet{q.Interface.LogMode(level), q.db}
}

// Trace implements [logger.Interface].
func (q quiet) Trace(ctx context.Context, begin time.Time, sql func() (string, int64), err error) {
	if err != nil && duplicate(q.db, err) {
		err = nil
	}
	q.Interface.Trace(ctx, begin, sql, err)
}

// ParamsFilter implements [gorm.ParamsFilter] as the logger below does.
func (q quiet) ParamsFilter(ctx context.Context, sql string, params ...any) (string, []any) {
	if filter, ok := q.Interface.(gorm.ParamsFilter); ok {
		return filter.ParamsFilter(ctx, sql, params...)
	}
	return sql, params
}

// duplicate reports whether err means that a unique key is taken.
func duplicate(db *gorm.DB, err error) bool {
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return true
	}
	translator, ok := db.Dialector.(gorm.ErrorTranslator)
	for ; ok && err != nil; err = errors.Unwrap(err) {
		if errors.Is(translator.Translate(err), gorm.ErrDuplicatedKey) {
			return true
		}
	}
	return false
}

// load returns the one row with these values, or nil. It runs in a transaction,
// because other queries may go to a replica that does not have the row yet.
func load[T any](db *gorm.DB, values []clause.Expression, lock bool) (stored *T, err error) {
	err = db.Transaction(func(tx *gorm.DB) error {
		// Soft-deleted rows come second: a partial index may exclude them.
		for _, deleted := range []bool{false, true} {
			query := tx.Limit(2)
			query.Statement.Selects, query.Statement.Omits = nil, nil
			// A condition of the caller, joined by OR, could match another row.
			query.Statement.Clauses["WHERE"] = clause.Clause{Name: "WHERE", Expression: clause.Where{Exprs: values}}
			if lock {
				// A locking read sees the row even if the snapshot of the caller's transaction is older.
				query = query.Clauses(clause.Locking{Strength: clause.LockingStrengthShare})
			}
			if deleted {
				query = query.Unscoped()
			}
			var rows []T
			if err := query.Find(&rows).Error; err != nil {
				return err
			}
			switch len(rows) {
			case 1:
				stored = &rows[0]
				return nil
			case 2:
				return errors.New("several rows have the key: it is not unique")
			}
		}
		return nil
	})
	return stored, err
}
