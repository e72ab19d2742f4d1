package registry

import (
	"context"
	"time"

	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/protocol"
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

// Fence moves the floor and the ceiling of every row to the end of the longest window that could have been granted
// before, as far as the later of the database's clock and local can tell. It returns how many rows it moved.
func (r *Registry) Fence(ctx context.Context, local time.Time) (n int64, err error) {
	return r.updateAll(ctx, updateFence, local)
}

// Fenced returns how many rows the database will remember as Fence left them.
func (r *Registry) Fenced(ctx context.Context, local time.Time) (n int64, err error) {
	return r.updateAll(ctx, updateFenced, local)
}

func (r *Registry) updateAll(ctx context.Context, text string, local time.Time) (n int64, err error) {
	s := compile(r.Engine, text)
	values := r.values(protocol.Request{Window: r.Params.LongestWindow()})
	values["local"] = r.Params.TickAt(local.UnixMicro())
	err = r.Engine.Write(ctx, r.DB, use(&r.Params), func(on *dbserver.Session) (_ bool, err error) {
		n, err = on.Exec(ctx, s, values)
		return n > 0, err
	})
	return n, err
}
