// Package ids compares generators of ids: time, CPU time and allocations for an
// id, the latency of single calls, how evenly the ids spread, and what it costs to
// write and read them as text.
//
// A generator is an entry in a table: see peers.go.
package ids

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Options say how long to measure. [Full] and [Quick] return them.
type Options struct {
	Rounds int // of speed and texts, interleaved over all generators
	// a generator whose format limits the rate is measured once in so many rounds, and longer
	BoundEvery   int
	Speed        time.Duration // of one measurement of a generator whose format does not limit the rate
	SpeedBound   time.Duration // of one measurement of a generator whose format does
	Latency      time.Duration
	TrickleCalls int // one per millisecond
	EvennessIDs  int // one per two milliseconds
	Text         time.Duration
	Progress     func(string) `json:"-"` // called with the name of the present measurement; may be nil
}

// Full returns the options of a run of about five minutes.
func Full() Options {
	return Options{
		Rounds:       24,
		BoundEvery:   4,
		Speed:        40 * time.Millisecond,
		SpeedBound:   600 * time.Millisecond,
		Latency:      600 * time.Millisecond,
		TrickleCalls: 10_000,
		EvennessIDs:  10_000,
		Text:         15 * time.Millisecond,
	}
}

// Quick returns the options of a run of about 40 seconds.
func Quick() Options {
	return Options{
		Rounds:       6,
		BoundEvery:   3,
		Speed:        10 * time.Millisecond,
		SpeedBound:   150 * time.Millisecond,
		Latency:      100 * time.Millisecond,
		TrickleCalls: 1_500,
		EvennessIDs:  2_500,
		Text:         4 * time.Millisecond,
	}
}

// A Result is everything that one run measured.
type Result struct {
	Options    Options `json:"options"`
	Goroutines []int   `json:"goroutines"` // of the speed measurements
	Procs      int     `json:"procs"`      // GOMAXPROCS
	Rows       []Row   `json:"rows"`       // one for each generator and floor
	Texts      []Text  `json:"texts"`
}

// A Row has the measurements of one generator.
type Row struct {
	Name    string `json:"name"`
	Kind    Kind   `json:"kind"`
	Format  string `json:"format,omitempty"`
	Bits    int    `json:"bits,omitempty"`
	Mutex   bool   `json:"mutex,omitempty"`
	PerCall int    `json:"per_call"`
	// the most that the format allows; 0 if it does not limit the rate
	PerSecond float64       `json:"per_second,omitempty"`
	Speed     []Speed       `json:"speed"`
	Allocs    int64         `json:"allocs"`           // for each call
	Bytes     int64         `json:"bytes"`            // for each call
	Latency   []Percentiles `json:"latency"`          // at saturation
	Trickle   *Percentiles  `json:"trickle"`          // at 1,000 calls a second
	Evenness  []Evenness    `json:"evenness"`         // one for each modulus
	Source    string        `json:"module,omitempty"` // path of the module
}

// Row returns the row with this name, or nil.
func (r *Result) Row(name string) *Row {
	i := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Rows[i]
}

// Measure runs all measurements one after the other. Nothing else should run on
// the machine meanwhile.
func Measure(ctx context.Context, opts Options) (*Result, error) {
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	b := &bench{Options: opts, goroutines: goroutines()}
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, g := range slices.Concat(snowGenerators(cancellable), peers(), floors()) {
		if err := b.add(ctx, g); err != nil {
			return nil, err
		}
	}
	phases := []func(context.Context) error{b.measureSpeed, b.measureLatency, b.measureTrickle, b.measureEvenness}
	for _, phase := range phases {
		if err := phase(ctx); err != nil {
			return nil, err
		}
	}
	texts, err := measureTexts(ctx, opts)
	if err != nil {
		return nil, err
	}
	r := &Result{Options: opts, Goroutines: b.goroutines, Procs: runtime.GOMAXPROCS(0), Texts: texts}
	for _, s := range b.subjects {
		r.Rows = append(r.Rows, s.row)
	}
	return r, nil
}

// goroutines returns the numbers of goroutines to measure speed with.
func goroutines() []int {
	n := []int{1, 2, runtime.GOMAXPROCS(0), 64}
	slices.Sort(n)
	return slices.Compact(n)
}

// A bench is a run under way.
type bench struct {
	Options
	goroutines []int
	subjects   []*subject
}

// A subject is a generator under measurement.
type subject struct {
	Generator
	start Start
	batch int // calls between two readings of the clock
	row   Row
}

func (b *bench) add(ctx context.Context, g Generator) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.Progress("allocations of " + g.Name)
	g.PerCall = max(g.PerCall, 1)
	start, err := g.New()
	if err != nil {
		return fmt.Errorf("ids: %s: %w", g.Name, err)
	}
	s := &subject{Generator: g, start: start, row: Row{
		Name: g.Name, Kind: g.Kind, Format: g.Format, Bits: g.Bits, Mutex: g.Mutex,
		PerCall: g.PerCall, PerSecond: g.PerSecond, Source: g.Module,
	}}
	defer g.Setting.use()()
	if s.batch, err = s.calibrate(); err != nil {
		return fmt.Errorf("ids: %s: %w", g.Name, err)
	}
	if s.row.Allocs, s.row.Bytes, err = allocations(start(), max(100, 1000/g.PerCall)); err != nil {
		return fmt.Errorf("ids: %s: %w", g.Name, err)
	}
	b.subjects = append(b.subjects, s)
	return nil
}

// each calls measure for every subject that want accepts, starting with another
// one each time, and reports progress.
func (b *bench) each(ctx context.Context, round int, what string, want func(*subject) bool, measure func(*subject) error) error {
	n := len(b.subjects)
	for i := range n {
		s := b.subjects[(i+round*n/max(b.Rounds, 1))%n]
		if !want(s) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		b.Progress(fmt.Sprintf("%s, %d of %d: %s", what, i+1, n, s.Name))
		off := s.Setting.use()
		err := measure(s)
		off()
		if err != nil {
			return fmt.Errorf("ids: %s: %w", s.Name, err)
		}
	}
	return nil
}
