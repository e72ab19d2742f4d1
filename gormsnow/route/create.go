package route

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
)

// CreateAcross inserts rows of several shards: the rows of each logical shard in one transaction of their own,
// one after the other. It is not atomic as a whole: after an error the rows of other shards are stored. The
// error joins a [*snow.ShardError] for each shard that failed, whose Index is the database's. A row that was not
// stored may have a key already, and keeps it.
//
//	err := route.CreateAcross(db, orders)
//
// db is a router's. The field that the shard tag names must be set, unless the key is: a hook or an association
// that would set it runs too late.
func CreateAcross[T any](db *gorm.DB, rows []T) error {
	if err := createAcross(db, rows); err != nil {
		return fmt.Errorf("route: create across: %w", err)
	}
	return nil
}

func createAcross[T any](db *gorm.DB, rows []T) error {
	r, ok := routerOf(db.Config.ConnPool)
	if !ok {
		return errors.New("the database is no router: make it with New")
	}
	if t := reflect.TypeFor[T](); t.Kind() != reflect.Struct {
		return fmt.Errorf("the rows are %s, not structs: %w", t, gorm.ErrInvalidData)
	}
	stmt := &gorm.Statement{DB: db, Context: db.Statement.Context}
	if err := stmt.Parse(new(T)); err != nil {
		return err
	}
	m := r.rules.model(stmt.Schema)
	if m.key == nil {
		return &Error{Op: opCreate, Model: m.name, Err: ErrUnrouted, Reason: "it has no shard tag"}
	}
	groups := make(map[uint64][]*T)
	for i := range rows {
		row := reflect.ValueOf(&rows[i]).Elem()
		value, zero := m.source.ValueOf(stmt.Context, row)
		shard, known := m.shard(m.source, value)
		if zero || !known {
			value, zero = m.key.ValueOf(stmt.Context, row)
			shard, known = m.shard(m.key, value)
		}
		if zero || !known {
			return &Error{Op: opCreate, Model: m.name, Err: ErrUnrouted, Reason: fmt.Sprintf("row %d has neither %s nor %s: set one", i, m.source.Name, m.key.Name)}
		}
		groups[shard] = append(groups[shard], &rows[i])
	}
	shards := make([]uint64, 0, len(groups))
	for s := range groups {
		shards = append(shards, s)
	}
	slices.Sort(shards)
	var errs []error
	for _, s := range shards {
		err := db.Transaction(func(tx *gorm.DB) error { return tx.Create(groups[s]).Error })
		if err != nil {
			errs = append(errs, &snow.ShardError{Index: r.shards.Index(s), Err: err})
		}
	}
	return errors.Join(errs...)
}
