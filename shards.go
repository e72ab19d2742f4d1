package snow

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
)

// Shards maps the logical shards of a layout, 2^Bits.Shard of them, to targets:
// databases, tables, or structs of both. Logical shard s is on target s modulo
// the number n of targets. If n is a power of two, a proxy that routes by id % n
// agrees with Shards, and doubling the targets moves exactly half of the logical
// shards, from target i to target i+n.
//
// Shards are immutable and safe for concurrent use. Make them with [NewShards];
// the zero Shards has no targets, and Of and At panic.
type Shards[T any] struct {
	layout  Layout
	targets []T
}

// NewShards returns the mapping to targets, whose order must never change. It
// returns a [*FieldError] if there is no target, if a target is nil, and if there
// are more targets than logical shards.
func NewShards[T any](layout Layout, targets ...T) (*Shards[T], error) {
	s := &Shards[T]{layout, append([]T(nil), targets...)}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("snow: new shards: %w", err)
	}
	return s, nil
}

func (s *Shards[T]) check() error {
	n := uint64(len(s.targets))
	switch {
	case !s.layout.valid():
		return errInvalidLayout
	case n == 0:
		return &FieldError{"targets", "0", "want at least 1"}
	case n > 1<<s.layout.bits.Shard:
		return &FieldError{"targets", strconv.FormatUint(n, 10), fmt.Sprintf("the layout has %d logical shards", uint64(1)<<s.layout.bits.Shard)}
	}
	for i := range s.targets {
		switch v := reflect.ValueOf(&s.targets[i]).Elem(); v.Kind() {
		case reflect.Pointer, reflect.Interface, reflect.Func, reflect.Map, reflect.Chan:
			if v.IsNil() {
				return &FieldError{"target", strconv.Itoa(i), "it is nil"}
			}
		}
	}
	return nil
}

// Layout returns the layout whose shards are mapped.
func (s *Shards[T]) Layout() Layout { return s.layout }

// Len returns the number of targets.
func (s *Shards[T]) Len() int { return len(s.targets) }

// Of returns the target of an id.
func (s *Shards[T]) Of(id ID) T { return s.At(s.layout.Shard(id)) }

// At returns the target of a logical shard, which is taken modulo
// 2^Bits.Shard: pass it what you pass to [Layout.WithShard], such as
// HashShard("ann") or HashShardInt(4711). The shard of an id is not its hash: see Of.
func (s *Shards[T]) At(shard uint64) T { return s.targets[s.Index(shard)] }

// Index returns the position of the target of a logical shard, which is taken
// modulo 2^Bits.Shard, among the targets.
func (s *Shards[T]) Index(shard uint64) int {
	return int(s.layout.Shard(ID(shard)) % uint64(len(s.targets)))
}

// Each calls do for every target concurrently, with the target's position, and
// returns when all calls have returned. A call that fails does not stop the
// others. The error joins a [*ShardError] for each call that failed, in the order
// of the targets.
func (s *Shards[T]) Each(ctx context.Context, do func(ctx context.Context, index int, target T) error) error {
	errs := make([]error, len(s.targets))
	var group sync.WaitGroup
	for i, target := range s.targets {
		group.Go(func() {
			if err := do(ctx, i, target); err != nil {
				errs[i] = &ShardError{i, err}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// A ShardError says on which target an operation failed.
type ShardError struct {
	Index int // position of the target
	Err   error
}

// Error returns the position and the cause.
func (e *ShardError) Error() string { return "shard " + strconv.Itoa(e.Index) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ShardError) Unwrap() error { return e.Err }

// HashShard returns a hash of a string key, for [Layout.WithShard] and
// [Shards.At], which take it modulo the number of logical shards. It spreads keys
// evenly and will never change: FNV-1a with 64 bits (draft-eastlake-fnv), then
// the finalizer of SplitMix64.
func HashShard(key string) uint64 {
	h := uint64(0xCBF29CE484222325)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 0x100000001B3
	}
	return mix(h)
}

// HashShardInt does for integer keys what [HashShard] does for strings. It will
// never change: it is the finalizer of SplitMix64. Keys that are already evenly
// spread, such as dense numbers, can be used as shards without it.
func HashShardInt(key int64) uint64 { return mix(uint64(key)) }

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
