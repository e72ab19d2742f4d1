package merge

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/mysqlexec"
	"github.com/shardsnow/snow/merge/internal/phases"
	"github.com/shardsnow/snow/merge/internal/rowexec"
)

// newExecutor chooses who does a work: the MySQL server that has both databases,
// if it can, or else this process row by row.
func newExecutor(ctx context.Context, w phases.Work) (phases.Executor, error) {
	rows, err := rowexec.New(ctx, w)
	if err != nil {
		return nil, err
	}
	server, err := mysqlexec.New(ctx, w, rows)
	if err != nil {
		rows.Close()
		return nil, err
	}
	if server == nil {
		return rows, nil
	}
	return server, nil
}
