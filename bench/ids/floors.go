package ids

import (
	"sync"
	"sync/atomic"
	"time"
)

// Names of rows that targets refer to.
const (
	FloorEmpty = "floor: empty call"
	FloorID    = "floor: time.Since and atomic Add"
	FloorWrite = "floor: writing 1,000 ids to a slice"
)

// floors are operations that every id needs.
func floors() []Generator {
	base := time.Now()
	list := []Generator{
		{
			Name: FloorEmpty,
			New: floor(func(_ *word, n int) (last uint64) {
				for range n {
					last = empty()
				}
				return last
			}),
		},
		{
			Name: "floor: time.Now",
			New: floor(func(_ *word, n int) (last uint64) {
				for range n {
					last = uint64(time.Now().Nanosecond())
				}
				return last
			}),
		},
		{
			Name: "floor: time.Since",
			New: floor(func(_ *word, n int) (last uint64) {
				for range n {
					last = uint64(time.Since(base))
				}
				return last
			}),
		},
		{
			Name: "floor: atomic Add, one word for all",
			New: floor(func(w *word, n int) (last uint64) {
				for range n {
					last = w.n.Add(1)
				}
				return last
			}),
		},
		{
			Name: FloorID,
			New: floor(func(w *word, n int) (last uint64) {
				for range n {
					last = uint64(time.Since(base)) + w.n.Add(1)
				}
				return last
			}),
		},
		{
			Name: "floor: the same in a function",
			New: floor(func(w *word, n int) (last uint64) {
				for range n {
					last = readAndAdd(base, w)
				}
				return last
			}),
		},
		{
			Name: "floor: mutex Lock and Unlock",
			New: floor(func(w *word, n int) (last uint64) {
				for range n {
					w.mu.Lock()
					last++
					w.mu.Unlock()
				}
				return last
			}),
		},
		{
			Name: FloorWrite, PerCall: 1000,
			New: func() (Start, error) {
				return func() Run {
					ids := make([]uint64, 1000)
					return func(n int) (next uint64, err error) {
						for range n {
							next = write(ids, next)
						}
						return next, nil
					}
				}, nil
			},
		},
	}
	for i := range list {
		list[i].Kind = Floor
	}
	return list
}

// A word is written by all goroutines. Nothing else is in its cache lines.
type word struct {
	_  [128]byte
	n  atomic.Uint64
	_  [128]byte
	mu sync.Mutex
	_  [128]byte
}

func floor(run func(w *word, n int) uint64) func() (Start, error) {
	return func() (Start, error) {
		w := new(word)
		return shared(func(n int) (uint64, error) { return run(w, n), nil }), nil
	}
}

//go:noinline
func empty() uint64 { return 0 }

//go:noinline
func readAndAdd(base time.Time, w *word) uint64 { return uint64(time.Since(base)) + w.n.Add(1) }

//go:noinline
func write(ids []uint64, next uint64) uint64 {
	for i := range ids {
		ids[i] = next
		next++
	}
	return next
}
