package gormsnow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// FindAcross returns a page of [After] or [Before] over the rows of all shards. It
// asks all databases concurrently, merges their rows by primary key and cuts the
// result to the page's limit.
//
//	orders, err := gormsnow.FindAcross[Order](ctx, shards, gormsnow.After(last, 50))
//
// The page is in the order of the keys, also if the layout has lanes.
//
// For the next page pass the id of the last row, as with one database. Scopes
// apply to the query of each database, for conditions and Preload:
//
//	open := func(db *gorm.DB) *gorm.DB { return db.Where("state = ?", "open") }
//	orders, err := gormsnow.FindAcross[Order](ctx, shards, gormsnow.Before(0, 50), open)
//
// T is a model, or a pointer to one. Each database reads a whole page, so the cost
// of a page grows with the number of shards. A row that is in two databases for a
// while, because it is being moved, is found twice.
//
// If a database fails, FindAcross returns no rows, because the next page would
// skip the rows of that database; the error joins a [*snow.ShardError] for each
// failure. It also returns an error if page was not made by After or Before, or if
// a scope sets a limit or an offset or leaves out the key, and it returns the
// errors of After. FindAcross is as safe for concurrent use as the databases are.
func FindAcross[T any](ctx context.Context, shards *snow.Shards[*gorm.DB], page clause.Expression, scopes ...func(*gorm.DB) *gorm.DB) ([]T, error) {
	rows, err := findAcross[T](ctx, shards, page, scopes)
	if err != nil {
		return nil, fmt.Errorf("gormsnow: find across: %w", err)
	}
	return rows, nil
}

// A ranked row has a rank, which sorts like its key.
type ranked[T any] struct {
	row  T
	rank uint64
}

func findAcross[T any](ctx context.Context, shards *snow.Shards[*gorm.DB], of clause.Expression, scopes []func(*gorm.DB) *gorm.DB) ([]T, error) {
	p, ok := of.(page)
	if !ok {
		return nil, fmt.Errorf("%T is no page: pass what After or Before returns", of)
	}
	if shards == nil || shards.Len() == 0 {
		return nil, errors.New("there are no shards: make them with snow.NewShards")
	}
	parts := make([][]ranked[T], shards.Len())
	err := shards.Each(ctx, func(ctx context.Context, i int, db *gorm.DB) error {
		var rows []T
		tx := db.WithContext(ctx).Clauses(p).Scopes(scopes...).Find(&rows)
		if tx.Error != nil {
			return tx.Error
		}
		limit, _ := tx.Statement.Clauses["LIMIT"].Expression.(clause.Limit)
		if limit.Limit == nil || *limit.Limit != p.limit || limit.Offset > 0 {
			return errors.New("the statement has a limit or an offset of its own, which would leave rows out: drop it")
		}
		var err error
		parts[i], err = rank(tx.Statement, rows)
		return err
	})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(parts...)
	slices.SortStableFunc(all, func(a, b ranked[T]) int {
		if p.newest {
			a, b = b, a
		}
		return cmp.Compare(a.rank, b.rank)
	})
	all = all[:min(len(all), p.limit)]
	rows := make([]T, len(all))
	for i := range all {
		rows[i] = all[i].row
	}
	return rows, nil
}

func rank[T any](stmt *gorm.Statement, rows []T) ([]ranked[T], error) {
	if t := analysis.StructOf(reflect.TypeFor[T]()); t != stmt.Schema.ModelType {
		return nil, fmt.Errorf("the rows are %s, but the model of the statement is %s: leave Model out", reflect.TypeFor[T](), stmt.Schema.ModelType)
	}
	key := stmt.Schema.PrioritizedPrimaryField // an integer, or After would have failed
	all := make([]ranked[T], len(rows))
	for i := range rows {
		value, zero := key.ValueOf(stmt.Context, reflect.ValueOf(&rows[i]).Elem())
		v := reflect.Indirect(reflect.ValueOf(value))
		switch {
		case zero || !v.IsValid() || v.IsZero():
			return nil, fieldError(stmt.Schema, key, "a row has no key to be merged by: select it")
		case v.CanInt():
			all[i] = ranked[T]{rows[i], uint64(v.Int()) ^ 1<<63} // negative numbers come first
		default:
			all[i] = ranked[T]{rows[i], v.Uint()}
		}
	}
	return all, nil
}
