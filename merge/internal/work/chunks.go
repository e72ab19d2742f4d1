package work

import (
	"context"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
)

// A Task is a chunk as phase mint has decided on it, and, for verification, as phase copy has seen it.
type Task struct{ Mint, Copied ledger.Chunk }

// Chunks is a feed of the chunks of a source table, for several goroutines. It is safe for concurrent use.
type Chunks struct {
	Table    *ledger.SourceTable
	Pace     *chunk.Pace
	Progress *Progress
	Single   bool // whether a batch has one chunk only

	// Read returns the next chunks, by the ledger. None means that there are no more.
	Read func(ctx context.Context, l ledger.Ledger) ([]Task, error)

	Ended func() // is called when all chunks are done; may be nil

	mu    sync.Mutex
	tasks []Task // that are not given out yet
	begun bool
	empty bool // there are no more chunks
	busy  int  // how many goroutines are at work
}

// Enter reports whether there may be work for one more goroutine, which then calls [Chunks.Each].
func (f *Chunks) Enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.empty {
		return false
	}
	f.begin()
	f.busy++
	return true
}

// Begin tells of the table, if no goroutine has begun to work on it.
func (f *Chunks) Begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begin()
}

func (f *Chunks) begin() {
	if !f.begun {
		f.begun = true
		f.Progress.Begin()
	}
}

// Each calls do with chunks that follow on each other, until there are no more. do is called by several goroutines.
func (f *Chunks) Each(ctx context.Context, j *Job, l ledger.Ledger, do func(ctx context.Context, tasks []Task) (bytes int, err error)) error {
	if err := Loop(ctx, j, &chunkFeed{f, l}, do); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy--; f.busy == 0 && f.Ended != nil {
		f.Ended()
	}
	return nil
}

// A chunkFeed is the [Feed] of one goroutine.
type chunkFeed struct {
	*Chunks
	ledger ledger.Ledger
}

// Next returns chunks that follow on each other.
func (f *chunkFeed) Next(ctx context.Context) ([]Task, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.tasks) == 0 {
		var err error
		if f.tasks, err = f.Read(ctx, f.ledger); err != nil || len(f.tasks) == 0 {
			f.empty = err == nil
			return nil, false, err
		}
	}
	n, rows, most := 1, f.tasks[0].Mint.Read, int64(f.Pace.Size())
	for ; n < len(f.tasks) && !f.Single && f.tasks[n].Mint.Seq == f.tasks[n-1].Mint.Seq+1 && rows+f.tasks[n].Mint.Read <= most; n++ {
		rows += f.tasks[n].Mint.Read
	}
	tasks := f.tasks[:n:n]
	f.tasks = f.tasks[n:]
	return tasks, true, nil
}

// Done counts the rows of chunks.
func (f *chunkFeed) Done(_ context.Context, tasks []Task, bytes int, took time.Duration) error {
	rows := 0
	for _, t := range tasks {
		rows += int(t.Mint.Read)
	}
	if f.Table.Content == nil { // otherwise most of the time goes by rows that are not part of the chunks
		f.Pace.Observe(rows, bytes, took)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Progress.Chunk(rows, took)
	return nil
}
