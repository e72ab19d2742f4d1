package registry

import (
	"context"

	"github.com/shardsnow/snow/sqlsnow/internal/dbserver"
	"github.com/shardsnow/snow/sqlsnow/internal/protocol"
)

// A Worker is a row of snow_workers, with its number. Times are milliseconds since 1970, and 0 if there is none.
type Worker struct {
	Number         int64
	State          protocol.State
	Holder         string
	Fence          int64
	Floor, Ceiling int64 // ticks
	Claimed        int64
	Renewed        int64
}

// Workers returns all rows of the namespace, in the order of their numbers.
func (r *Registry) Workers(ctx context.Context) ([]Worker, error) {
	s := compile(r.Engine, selectWorkers)
	rows, err := r.DB.QueryContext(ctx, s.Text, s.Args(map[string]any{"namespace": r.Params.Name})...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := make([]Worker, 0, r.Params.Workers)
	for rows.Next() {
		var w Worker
		if err := rows.Scan(&w.Number, &w.State, &w.Holder, &w.Fence, &w.Floor, &w.Ceiling, &w.Claimed, &w.Renewed); err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, rows.Err()
}

// Fence moves the floor and the ceiling of every row to the end of the longest window that could have been granted before,
// and returns how many rows it moved.
func (r *Registry) Fence(ctx context.Context) (n int64, err error) {
	s := compile(r.Engine, updateFence)
	// LongestWindow includes a skew, because the clock of the database before the restore may have been ahead of this one.
	values := r.values(protocol.Request{Window: r.Params.LongestWindow()})
	err = r.Engine.Write(ctx, r.DB, use(&r.Params), func(on *dbserver.Session) (_ bool, err error) {
		n, err = on.Exec(ctx, s, values)
		return n > 0, err
	})
	return n, err
}
