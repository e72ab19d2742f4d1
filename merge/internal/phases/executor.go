package phases

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/plan"
)

// An Executor does the work of a phase on one table of one source, with the
// sessions of one goroutine. It is chosen once, when a goroutine comes to a table.
// There are two: rows that go through this process, and a MySQL server that has
// both databases. They write the same ids and the same ledger, but for the hashes
// of rows, which a server does not make.
type Executor interface {
	// Mint decides what becomes of the rows after the last chunk of the ledger.
	Mint(ctx context.Context) error

	// Copy copies the rows of some chunks that follow on each other, in one
	// transaction, and returns about how many bytes they have.
	Copy(ctx context.Context, chunks []ledger.Chunk) (bytes int, err error)

	// Compare compares the rows of some chunks that follow on each other with
	// those of the target.
	Compare(ctx context.Context, tasks []Task) (*Findings, error)

	// Link sets the references that were NULL when the rows of some chunks that
	// follow on each other were copied, in one transaction, and returns about how
	// many bytes the rows have.
	Link(ctx context.Context, chunks []ledger.Chunk) (bytes int, err error)

	Close()
}

// A Work is what an executor is made for.
type Work struct {
	*Job
	Run   *ledger.Run
	Table *ledger.SourceTable
	Conns *chunk.Conns
	Lease *ledger.Lease // but for verification

	// Phase mint.
	Conflicts *rekey.Conflicts
	Progress  *Progress

	// Phase copy, link.
	Deferred []*plan.Column // columns that are NULL until phase link
	Last     int64          // the number of the table's last chunk

	// Verification.
	Sound map[*plan.Column]bool // references of which all are known to be ids of rows
}

// A Task is a chunk to verify, and what phase copy saw in it.
type Task struct{ Mint, Copied ledger.Chunk }
