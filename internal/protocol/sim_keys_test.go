package protocol

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// A SimEntry is a key of a store and its value. Its Version is the store's revision at the last write of the key, or 0
// if there is none.
type SimEntry struct {
	Key     string
	Value   []byte
	Version int64
}

// A simKey is an entry, and who took the number that it is about.
type simKey struct {
	SimEntry
	by      int
	written time.Duration // true time
}

// A simChange undoes a write: a snapshot that is put back does not have it.
type simChange struct {
	at       time.Duration // true time
	before   simKey
	revision int64 // of the store
}

// simKeyFlaws are bugs of a store and of its clients.
type simKeyFlaws struct {
	stale       time.Duration // a write compares what a member has that lags behind by up to this
	staleReads  time.Duration // reads ask such a member; see TestSimulationOfStaleReads
	unguarded   bool          // a write does not compare the namespace's key
	blind       bool          // a write does not compare the row
	versionOnly bool          // a write compares versions, and not values
	expires     bool          // a row belongs to nobody when it was not written for the time of a window
	forgets     bool          // a key that was not written since the last compaction counts as one that never was
	repeats     bool          // a release without a reply is written again, whatever the row is by then
	noFence     bool          // a snapshot is put back without Fence
}

// simKeys is a store of keys with versions, such as etcd. What its methods do happens at one moment.
type simKeys struct {
	entries   map[string]simKey
	names     []string // of the entries, in their order
	revision  int64
	compacted int64
	log       []simChange
	flaws     simKeyFlaws
	window    time.Duration // see simKeyFlaws.expires

	// wrote, if not nil, is called for each write of a row.
	wrote func(before, after simKey)
}

func newSimKeys(p *simPlan) *simKeys {
	return &simKeys{entries: map[string]simKey{}, flaws: p.flaws.keys, window: p.params.Window}
}

// get returns a key as it was behind ago.
func (k *simKeys) get(key string, now, behind time.Duration) SimEntry {
	e := k.entries[key]
	for i := len(k.log) - 1; behind > 0 && i >= 0 && k.log[i].at > now-behind; i-- {
		if k.log[i].before.Key == key {
			e = k.log[i].before
		}
	}
	if k.flaws.forgets && e.Version <= k.compacted {
		e.Value, e.Version = nil, 0
	}
	e.Key = key
	return e.SimEntry
}

// list returns up to limit keys that begin with a prefix, from one on.
func (k *simKeys) list(prefix, from string, limit int, now, behind time.Duration) (all []SimEntry) {
	first, _ := slices.BinarySearch(k.names, max(prefix, from))
	for _, name := range k.names[first:] {
		if !strings.HasPrefix(name, prefix) || len(all) == limit {
			break
		}
		if e := k.get(name, now, behind); e.Version != 0 {
			all = append(all, e)
		}
	}
	return all
}

// write sets keys, if others are as expected, and reports whether it did. by is the incarnation that takes a number, or
// 0 if the write takes none.
func (k *simKeys) write(expected, puts []SimEntry, by int, now, behind time.Duration) bool {
	for _, want := range expected {
		row := strings.HasPrefix(want.Key, "workers/")
		if k.flaws.unguarded && !row || k.flaws.blind && row {
			continue
		}
		got := k.get(want.Key, now, behind)
		if got.Version != want.Version || !k.flaws.versionOnly && string(got.Value) != string(want.Value) {
			return false
		}
	}
	k.revision++
	for _, e := range puts {
		e.Version = k.revision
		k.put(simKey{SimEntry: e, by: by, written: now}, now)
	}
	return true
}

func (k *simKeys) put(after simKey, now time.Duration) {
	before, ok := k.entries[after.Key]
	if !ok {
		before.Key = after.Key
		i, _ := slices.BinarySearch(k.names, after.Key)
		k.names = slices.Insert(k.names, i, after.Key)
	}
	if after.by == 0 {
		after.by = before.by
	}
	k.log = append(k.log, simChange{now, before, k.revision - 1})
	k.entries[after.Key] = after
	if k.wrote != nil && strings.HasPrefix(after.Key, "workers/") {
		k.wrote(before, after)
	}
}

// lose puts back a snapshot of a true time, and returns how many writes it does not have. The revisions go on from the
// snapshot's.
func (k *simKeys) lose(after time.Duration) (n int) {
	for len(k.log) > 0 && k.log[len(k.log)-1].at > after {
		last := k.log[len(k.log)-1]
		k.log = k.log[:len(k.log)-1]
		k.entries[last.before.Key], k.revision = last.before, last.revision
		n++
	}
	return n
}

// expire frees rows whose holder did not write them in time, as if they were keys of an etcd lease.
func (k *simKeys) expire(now time.Duration, tick int64) {
	if !k.flaws.expires {
		return
	}
	k.wrote = nil // this is no request
	for _, name := range k.names {
		e := k.entries[name]
		if row := e.row(); strings.HasPrefix(name, "workers/") && row.State == Granted && e.written+k.window < now {
			k.revision++
			e.Version, e.Value = k.revision, simRowText(Row{Fence: row.Fence, Floor: min(row.Floor, tick), Ceiling: min(row.Ceiling, tick)}, row.Renewed)
			k.put(e, now)
		}
	}
}

// simRecord is the value of a row, as package versioned writes it.
type simRecord struct {
	State   string `json:"state"`
	Owner   string `json:"owner,omitempty"`
	Fence   int64  `json:"fence"`
	Floor   int64  `json:"floor_tick"`
	Ceiling int64  `json:"ceiling_tick"`
	Claimed int64  `json:"claimed_at_ms"`
	Renewed int64  `json:"renewed_at_ms"`
	Seq     int64  `json:"renew_seq"`
	Holder  string `json:"holder"`
}

// row returns the row in a value. A value that is no row is the row of a number that was never used.
func (e simKey) row() simRow {
	var c simRecord
	_ = json.Unmarshal(e.Value, &c)
	r := simRow{Row: Row{Owner: c.Owner, Fence: c.Fence, Floor: c.Floor, Ceiling: c.Ceiling, Claimed: c.Claimed, Holder: c.Holder}, Renewed: c.Renewed, By: e.by}
	switch c.State {
	case "granted":
		r.State = Granted
	case "reserved":
		r.State = Reserved
	}
	return r
}

// simRowText returns the value of a free row.
func simRowText(r Row, renewed int64) []byte {
	text, _ := json.Marshal(simRecord{State: "free", Fence: r.Fence, Floor: r.Floor, Ceiling: r.Ceiling, Renewed: renewed})
	return text
}
