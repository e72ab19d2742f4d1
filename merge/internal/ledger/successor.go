package ledger

// A Fate is what became of a row of a source.
type Fate uint8

// The fates.
const (
	Missing Fate = iota // the row does not exist
	Kept                // it has the id that it had
	Rekeyed             // it has a new id
	Merged              // another row stands for it
	Dropped             // it is not copied
)

// fateOf returns what a kind in snow_merge_map stands for: from Rekeyed, which is 0,
// to Dropped, which is 2.
func fateOf(kind int64) Fate { return Rekeyed + Fate(kind) }

// A Successor is the id that references to a row have to have now.
type Successor struct {
	ID   int64 // of no meaning for rows that are missing or dropped
	Fate Fate
}
