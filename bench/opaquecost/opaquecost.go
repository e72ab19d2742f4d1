// Package opaquecost measures what it takes to write an id as a text that people
// outside see, and to read it, with package opaque and with other ways.
package opaquecost

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/shardsnow/snow"
)

// Options say how much is measured. The zero value of a field is its default.
type Options struct {
	Rounds   int          // in which all ways take turns. Default: 15
	IDs      int          // written and read in a round by each way. Default: 100,000
	Progress func(string) // Default: nothing
}

// A Result has the cost of each way.
type Result struct {
	Ways []Way `json:"ways"`
}

// A Way is one form of texts.
type Way struct {
	Name        string    `json:"name"`
	Example     string    `json:"example"` // the text of the first id
	Write       []float64 `json:"write"`   // nanoseconds of CPU time for an id, in each round
	Read        []float64 `json:"read"`
	WriteAllocs float64   `json:"writeAllocs"` // for an id
	ReadAllocs  float64   `json:"readAllocs"`
}

// Median returns the median of the rounds.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(x))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

const first snow.ID = 286467607756828714

// Measure measures all ways. CPU time is of the whole process, so other programs change it little.
func Measure(ctx context.Context, opts Options) (r Result, err error) {
	opts.Rounds, opts.IDs = cmp.Or(opts.Rounds, 15), cmp.Or(opts.IDs, 100_000)
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	ways, err := newWays()
	if err != nil {
		return r, fmt.Errorf("opaquecost: %w", err)
	}
	texts := make([]string, opts.IDs)
	for _, w := range ways {
		text, err := w.write(first)
		if err != nil {
			return r, fmt.Errorf("opaquecost: %s: %w", w.name, err)
		}
		one := Way{Name: w.name, Example: text}
		if one.WriteAllocs, err = allocations(func(i int) (err error) { texts[0], err = w.write(first + snow.ID(i)); return err }); err == nil {
			one.ReadAllocs, err = allocations(func(int) error { return w.reads(text, first) })
		}
		if err != nil {
			return r, fmt.Errorf("opaquecost: %s: %w", w.name, err)
		}
		r.Ways = append(r.Ways, one)
	}
	for round := range opts.Rounds {
		opts.Progress(fmt.Sprintf("round %d of %d", round+1, opts.Rounds))
		for i, w := range ways {
			if err := ctx.Err(); err != nil {
				return r, err
			}
			written, read, err := w.round(texts)
			if err != nil {
				return r, fmt.Errorf("opaquecost: %s: %w", w.name, err)
			}
			r.Ways[i].Write, r.Ways[i].Read = append(r.Ways[i].Write, written), append(r.Ways[i].Read, read)
		}
	}
	return r, nil
}

// round returns nanoseconds of CPU time for an id.
func (w way) round(texts []string) (written, read float64, err error) {
	runtime.GC() // the garbage of other ways
	start := used()
	for i := range texts {
		if texts[i], err = w.write(first + snow.ID(i)); err != nil {
			return 0, 0, err
		}
	}
	middle := used()
	for i, text := range texts {
		if err := w.reads(text, first+snow.ID(i)); err != nil {
			return 0, 0, err
		}
	}
	n := float64(len(texts))
	return float64(middle-start) / n, float64(used()-middle) / n, nil
}

// reads reads a text, and checks that it is of id.
func (w way) reads(text string, id snow.ID) error {
	got, err := w.read(text)
	if err == nil && got != id {
		err = fmt.Errorf("%q is read as %d, want %d", text, got, id)
	}
	return err
}

func used() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

// allocations returns the allocations of a call, the least of several rounds.
func allocations(do func(int) error) (float64, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools
	least := math.Inf(1)
	const n = 1000
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range n {
			if err := do(i); err != nil {
				return 0, err
			}
		}
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.Mallocs-before.Mallocs)/n)
	}
	return least, nil
}
