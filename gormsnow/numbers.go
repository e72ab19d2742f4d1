package gormsnow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// ErrNumberSet is returned by an insert of a row that has a gap-free number already. The number may be left from a
// transaction that was rolled back, and belong to another row by now: clear the field. To insert rows with numbers of
// their own, such as old invoices, use db.Set([GivenNumbers], true).
var ErrNumberSet = errors.New("the gap-free number is set already")

// GivenNumbers is the name of a setting: db.Set(gormsnow.GivenNumbers, true) inserts rows with the numbers that they
// have. Rows without one still get one.
const GivenNumbers = "gormsnow:given_numbers"

const (
	numberName = "gormsnow:number"
	forgetName = "gormsnow:forget_numbers"
	takenName  = "gormsnow:taken_numbers"
)

// Tx is a transaction: a [*sql.Tx], or what GORM has in its place.
type Tx = interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	Commit() error
	Rollback() error
}

// A NumberSeries gives numbers for people. [github.com/shardsnow/snow/sqlsnow/numbers.GapFree] and Fast of the same
// package are such series.
type NumberSeries interface {
	Partitions() []string
	GapFree() bool // numbers belong to the transaction, and to nobody if it is rolled back
	// FillIn sets all of texts to numbers, in the transaction of the insert if there is one.
	FillIn(ctx context.Context, tx Tx, texts []string, partitions ...string) error
}

// Numbers returns a plugin that fills fields with a number tag just before the INSERT, after hooks and belongs-to
// associations. It works with the plugin of [New] and without it.
//
//	err := db.Use(gormsnow.Numbers(map[string]gormsnow.NumberSeries{"invoices": series}))
//
//	type Invoice struct {
//		ID     snow.ID
//		Number string `gorm:"uniqueIndex;size:40" snow:"number=invoices,tenant=TenantCode"`
//		TenantCode string
//	}
//
// The tag names the series, and for each partition of its pattern the field with the value, which is a string or an
// integer. Rows of one statement get their numbers in order.
//
// A gap-free series needs a transaction. GORM begins one for each Create, unless SkipDefaultTransaction is set; then an
// insert outside of a transaction fails. If the Create fails, the fields are empty again. A row whose number is set is
// refused with [ErrNumberSet], and ON CONFLICT for a row without one, because the number of a row that is not stored
// would be missing. GORM saves associations with ON CONFLICT: create such a row by itself.
//
// A fast series leaves numbers that are set as they are.
//
// A series is of one database. Behind package route, the series of a shard counts for itself.
func Numbers(series map[string]NumberSeries) gorm.Plugin {
	return &numbersPlugin{series: maps.Clone(series)}
}

type numbersPlugin struct {
	series map[string]NumberSeries
	models sync.Map // *schema.Schema → *numberedModel
}

type numberedModel struct {
	fields []*schema.Field
	all    []analysis.Numbered
	err    error
}

// Name implements [gorm.Plugin].
func (p *numbersPlugin) Name() string { return numberName }

// Initialize implements [gorm.Plugin].
func (p *numbersPlugin) Initialize(db *gorm.DB) error {
	create := db.Callback().Create()
	if create.Get("gorm:create") == nil {
		return fmt.Errorf("gormsnow: register %s: the database has no callback gorm:create", numberName)
	}
	if err := create.Before("gorm:create").Register(numberName, p.assign); err != nil {
		return fmt.Errorf("gormsnow: register %s: %w", numberName, err)
	}
	// Without a transaction GORM has no callback of this name, and calls this one last all the same.
	if err := create.After("gorm:commit_or_rollback_transaction").Register(forgetName, forgetNumbers); err != nil {
		return fmt.Errorf("gormsnow: register %s: %w", forgetName, err)
	}
	return nil
}

// assign fills the number fields of the statement's rows.
func (p *numbersPlugin) assign(db *gorm.DB) {
	if db.Error != nil || db.Statement.Schema == nil || db.DryRun {
		return
	}
	m := p.model(db.Statement.Schema)
	err := m.err
	if err == nil && len(m.all) > 0 {
		err = p.fill(db.Statement, m)
	}
	if err != nil {
		_ = db.AddError(fmt.Errorf("gormsnow: %w", err))
	}
}

func (p *numbersPlugin) model(s *schema.Schema) *numberedModel {
	if m, ok := p.models.Load(s); ok {
		return m.(*numberedModel)
	}
	m := &numberedModel{}
	all, err := analysis.Numbers(s)
	if err != nil {
		m.err = (*FieldError)(err)
	}
	for _, n := range all {
		m.fields, m.all = append(m.fields, n.Field), append(m.all, n)
		series := p.series[n.Series]
		if series == nil {
			m.err = fieldError(s, n.Field, "its tag names the series "+strconv.Quote(n.Series)+", which gormsnow.Numbers was not given")
			break
		}
		want, got := series.Partitions(), slices.Sorted(maps.Keys(n.Partitions))
		slices.Sort(want)
		if !slices.Equal(want, got) {
			m.err = fieldError(s, n.Field, fmt.Sprintf("its tag names the partitions %q, and the series %s has %q", got, n.Series, want))
			break
		}
	}
	stored, _ := p.models.LoadOrStore(s, m)
	return stored.(*numberedModel)
}

// A batch is the rows of a statement that share a counter.
type batch struct {
	series NumberSeries
	values []string
	slots  []slot
}

func (p *numbersPlugin) fill(stmt *gorm.Statement, m *numberedModel) error {
	if err := include(stmt, m.fields); err != nil {
		return err
	}
	batches, err := p.batches(stmt, m)
	if err != nil {
		return err
	}
	tx, _ := stmt.ConnPool.(Tx)
	var taken []slot
	// In one order, so that transactions don't wait for each other in a circle.
	for _, key := range slices.Sorted(maps.Keys(batches)) {
		b := batches[key]
		texts := make([]string, len(b.slots))
		if err = b.series.FillIn(stmt.Context, tx, texts, b.values...); err != nil {
			err = fmt.Errorf("number %s: %w", analysis.Name(stmt.Schema), err)
			break
		}
		for i, s := range b.slots {
			s.putText(texts[i])
		}
		if b.series.GapFree() {
			taken = append(taken, b.slots...)
		}
	}
	stmt.DB.InstanceSet(takenName, taken)
	return err
}

// batches returns the rows that need a number, by their counters.
func (p *numbersPlugin) batches(stmt *gorm.Statement, m *numberedModel) (map[string]*batch, error) {
	given, _ := stmt.Get(GivenNumbers)
	_, upsert := stmt.Clauses["ON CONFLICT"].Expression.(clause.OnConflict)
	batches := make(map[string]*batch)
	for i, n := range m.all {
		series := p.series[n.Series]
		err := each(stmt, m.fields[i:i+1], func(s slot) error {
			if !isZero(s.value()) {
				if series.GapFree() && given != true && !p.keeps(stmt) {
					return fmt.Errorf("model %s, field %s: %w", analysis.Name(stmt.Schema), n.Field.Name, ErrNumberSet)
				}
				return nil
			}
			if series.GapFree() && upsert {
				return fieldError(stmt.Schema, n.Field, "with ON CONFLICT, the gap-free number of a row that is not stored would be missing: insert the row by itself")
			}
			var values []string
			for _, name := range series.Partitions() {
				value, err := partitionOf(stmt, s, n.Partitions[name])
				if err != nil {
					return err
				}
				values = append(values, value)
			}
			key := n.Series + "\x00" + strings.Join(values, "\x00")
			b := batches[key]
			if b == nil {
				b = &batch{series: series, values: values}
				batches[key] = b
			}
			b.slots = append(b.slots, s)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return batches, nil
}

// keeps reports whether the statement changes nothing of a row that is stored already, as GORM saves an association.
func (p *numbersPlugin) keeps(stmt *gorm.Statement) bool {
	on, ok := stmt.Clauses["ON CONFLICT"].Expression.(clause.OnConflict)
	return ok && on.DoNothing
}

// partitionOf returns the value of a partition in the row of s.
func partitionOf(stmt *gorm.Statement, s slot, source *schema.Field) (string, error) {
	var v reflect.Value
	if s.row != nil {
		name, err := entryName(stmt, source, s.row)
		if err != nil {
			return "", err
		}
		v = reflect.ValueOf(s.row[name])
	} else {
		value, _ := source.ValueOf(stmt.Context, s.record)
		v = reflect.ValueOf(value)
	}
	switch v = reflect.Indirect(v); {
	case !v.IsValid():
		return "", nil // the series says which partition has no value
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), nil
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), nil
	case v.Kind() == reflect.String:
		return v.String(), nil
	}
	return "", fieldError(stmt.Schema, s.key, "a partition can't be taken from a "+v.Type().String())
}

// putText stores the text of a number.
func (s slot) putText(text string) {
	v := reflect.New(s.key.IndirectFieldType)
	v.Elem().SetString(text)
	s.set(v)
}

// forgetNumbers clears the gap-free numbers of a Create that failed: its transaction was rolled back.
func forgetNumbers(db *gorm.DB) {
	taken, ok := db.InstanceGet(takenName)
	if db.Error == nil || !ok {
		return
	}
	for _, s := range taken.([]slot) {
		s.set(reflect.Zero(reflect.PointerTo(s.key.IndirectFieldType)))
	}
}
