package merge

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/plan"
)

// An executor does the work of a phase on one table of one source, with the
// sessions of one goroutine. It is chosen once, when a goroutine comes to a table.
// There are two: rows that go through this process, and a MySQL server that has
// both databases. They write the same ids and the same ledger, but for the hashes
// of rows, which a server does not make.
type executor interface {
	// Mint decides what becomes of the rows after the last chunk of the ledger.
	Mint(ctx context.Context) error

	// Copy copies the rows of some chunks that follow on each other, in one
	// transaction, and returns about how many bytes they have.
	Copy(ctx context.Context, chunks []ledger.Chunk) (bytes int, err error)

	// Compare compares the rows of some chunks that follow on each other with
	// those of the target.
	Compare(ctx context.Context, tasks []task) (*proof, error)

	// Joins reports whether Compare may be given several chunks at a time.
	Joins() bool

	Close()
}

// A linker sets the references of one table of one source that were NULL when its
// rows were copied.
type linker interface {
	// Link sets those of the rows of some chunks that follow on each other, in one
	// transaction, and returns about how many bytes the rows have.
	Link(ctx context.Context, chunks []ledger.Chunk) (bytes int, err error)

	Close()
}

// A work is what an executor is made for.
type work struct {
	*job
	run   *ledger.Run
	table *ledger.SourceTable
	conns *chunk.Conns
	lease *ledger.Lease // but for verification

	// Phase mint.
	conflicts *rekey.Conflicts
	progress  *progress

	// Phase copy, link.
	deferred []*plan.Column // columns that are NULL until phase link
	last     int64          // the number of the table's last chunk

	// Verification.
	sound map[*plan.Column]bool // references of which all are known to be ids of rows
}

// A task is a chunk to verify, and what phase copy saw in it.
type task struct{ mint, copied ledger.Chunk }
