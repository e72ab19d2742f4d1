package segments

import (
	"sync/atomic"

	"github.com/shardsnow/snow"
)

// A span is a run of numbers from one database that no caller has yet: first, first+stride and so on.
type span struct {
	counter              int // index of the database
	first, stride, count int64
}

// A block is a span whose numbers callers reserve, each with one addition. It counts for itself and has its own
// end. So a late addition, when another block is already current, either is past the end, or gets a number that no
// other caller gets.
type block struct {
	span
	_        [128]byte    // reserved is written for every id; keep the rest out of its cache lines
	reserved atomic.Int64 // may exceed span.count: nobody gets numbers beyond it
	_        [128]byte
}

// retired is far above every count, and far below an overflow.
const retired = 1 << 62

// fill reserves as many numbers as ids has, or none.
func (b *block) fill(ids []snow.ID) bool {
	n := int64(len(ids))
	for {
		i := b.reserved.Load()
		if i > b.count-n {
			return false
		}
		if b.reserved.CompareAndSwap(i, i+n) {
			b.span.write(ids, i)
			return true
		}
	}
}

// left returns how many numbers nobody has reserved.
func (b *block) left() int64 { return max(0, b.count-b.reserved.Load()) }

// retire ends the block and returns the numbers that nobody has reserved, and how many were issued.
func (b *block) retire() (rest span, issued int64) {
	issued = min(b.reserved.Swap(retired), b.count)
	return b.cut(issued), issued
}

// cut returns the span without its first n numbers.
func (s span) cut(n int64) span {
	s.first += n * s.stride
	s.count -= n
	return s
}

// write sets ids to the numbers from the i-th on.
func (s span) write(ids []snow.ID, i int64) {
	next := s.first + i*s.stride
	for j := range ids {
		ids[j] = snow.ID(next)
		next += s.stride
	}
}
