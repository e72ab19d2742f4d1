//go:build unix

package leasefaults

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/shardsnow/snow"
)

// A ledger counts the ids that were issued, and the faults among them. See the package's documentation.
type ledger struct {
	Files      int // files with ids in them
	IDs        int
	Numbers    int // worker numbers with ids
	Duplicates int // ids that were issued before
	Shared     int // ticks of a worker number with ids of more than one lease; ticks with duplicates count too
	Descents   int // ids that are not greater than the one before from the same lease
	Examples   []string
}

const mostExamples = 5

func (l *ledger) example(format string, args ...any) {
	if len(l.Examples) < mostExamples {
		l.Examples = append(l.Examples, fmt.Sprintf(format, args...))
	}
}

// issued is an id, and the lease that made it.
type issued struct {
	id   snow.ID
	file int32
}

// readLedger merges the files of a directory.
func readLedger(dir string, l snow.Layout) (*ledger, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.ids"))
	if err != nil {
		return nil, err
	}
	sum := &ledger{}
	var all []issued
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var last snow.ID
		for ; len(text) >= 8; text = text[8:] { // a process that was killed during a write leaves a rest
			id := snow.ID(binary.LittleEndian.Uint64(text))
			if id <= last {
				sum.Descents++
				sum.example("%s: %d after %d", filepath.Base(path), id, last)
			}
			all, last = append(all, issued{id, int32(i)}), id
		}
		if last != 0 {
			sum.Files++
		}
	}
	sum.IDs = len(all)
	slices.SortFunc(all, func(a, b issued) int { return cmp.Compare(a.id, b.id) })
	return sum, sum.count(all, paths, l)
}

// count compares neighbours in ascending order. Tick and worker number are above the sequence, so the ids of one
// tick and one number are neighbours.
func (l *ledger) count(all []issued, paths []string, layout snow.Layout) error {
	bits := layout.Bits()
	shift := bits.Sequence + bits.Shard
	numbers := make(map[snow.ID]bool)
	counted := snow.ID(-1) // the last tick and number that was found to be shared
	for i, this := range all {
		group := this.id >> shift
		numbers[group&(1<<(bits.Worker+bits.Datacenter)-1)] = true
		if i == 0 {
			continue
		}
		before := all[i-1]
		if this.id == before.id {
			l.Duplicates++
		}
		if group != before.id>>shift || this.file == before.file || group == counted {
			continue
		}
		counted = group
		l.Shared++
		parts, err := layout.Decompose(this.id)
		if err != nil {
			return err
		}
		l.example("%s and %s: worker %d at %s", filepath.Base(paths[before.file]), filepath.Base(paths[this.file]),
			parts.Worker, parts.Time.Format("15:04:05.000"))
	}
	l.Numbers = len(numbers)
	return nil
}
