package merge

import (
	"context"

	"github.com/shardsnow/snow/merge/plan"
)

// An executor does the work of a phase on one table of one source, with the
// sessions of one goroutine. There are two: rows that go through this process
// ([rowExecutor]), and a MySQL server that has both databases ([serverExecutor]).
// They write the same ids and the same ledger, but for the hashes of rows, which
// a server does not make.
type executor interface {
	// mint decides what becomes of the rows after the last chunk of the ledger.
	mint(ctx context.Context) error

	// copy copies the rows of some chunks that follow on each other, in one
	// transaction, and returns about how many bytes they have.
	copy(ctx context.Context, chunks []Chunk) (bytes int, err error)

	// compare compares the rows of some chunks that follow on each other with
	// those of the target.
	compare(ctx context.Context, tasks []task) (*proof, error)

	// joins reports whether compare may be given several chunks at a time.
	joins() bool

	close()
}

// A work is what an executor is made for.
type work struct {
	*job
	run   *run
	table *SourceTable
	conns *conns
	lease *lease // but for verification

	// Phase mint.
	conflicts *conflicts
	progress  *progress

	// Phase copy, link.
	deferred []*plan.Column // columns that are NULL until phase link
	last     int64          // the number of the table's last chunk

	// Verification.
	sound map[*plan.Column]bool // references of which all are known to be ids of rows
}

// A task is a chunk to verify, and what phase copy saw in it.
type task struct{ mint, copied Chunk }

// newExecutor chooses who does a work: once, when a goroutine comes to a table.
func newExecutor(ctx context.Context, w work) (executor, error) {
	rows, err := newRowExecutor(ctx, w)
	if err != nil {
		return nil, err
	}
	server, err := newServerExecutor(ctx, w, rows)
	if err != nil {
		rows.close()
		return nil, err
	}
	if server == nil {
		return rows, nil
	}
	return server, nil
}
