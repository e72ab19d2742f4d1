package versioned

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// Memory is a Store in memory, for tests. The zero value is empty, and has the clock of this process.
type Memory struct {
	// Clock is what Now returns, in microseconds since 1970, if it is not nil.
	Clock func() int64

	mu       sync.Mutex
	entries  map[string]Entry
	revision int64
}

// Get implements Store.
func (m *Memory) Get(ctx context.Context, keys ...string) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]Entry, len(keys))
	for i, key := range keys {
		all[i] = m.get(key)
	}
	return all, ctx.Err()
}

func (m *Memory) get(key string) Entry {
	e := m.entries[key]
	e.Key = key
	return e
}

// List implements Store.
func (m *Memory) List(ctx context.Context, prefix, from string, limit int) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Entry
	for key, e := range m.entries {
		if strings.HasPrefix(key, prefix) && key >= from {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return all[:min(len(all), limit)], ctx.Err()
}

// Write implements Store.
func (m *Memory) Write(ctx context.Context, expected, puts []Entry) (done bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	for _, e := range expected {
		if got := m.get(e.Key); got.Version != e.Version || string(got.Value) != string(e.Value) {
			return false, nil
		}
	}
	m.revision++
	for i := range puts {
		puts[i].Version = m.revision
		m.put(puts[i])
	}
	return true, nil
}

func (m *Memory) put(e Entry) {
	if m.entries == nil {
		m.entries = map[string]Entry{}
	}
	m.entries[e.Key] = e
}

// Set writes a key as somebody else would, by hand. A nil value deletes it.
func (m *Memory) Set(key string, value []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.revision++; value == nil {
		delete(m.entries, key)
		return
	}
	m.put(Entry{Key: key, Value: value, Version: m.revision})
}

// Snapshot returns what is in the store, for Restore.
func (m *Memory) Snapshot() (entries map[string]Entry, revision int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entries = map[string]Entry{}
	for key, e := range m.entries {
		entries[key] = e
	}
	return entries, m.revision
}

// Restore puts a snapshot back. Revisions go on from the snapshot's, so that the versions of later writes may be equal
// to versions that were forgotten.
func (m *Memory) Restore(entries map[string]Entry, revision int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries, m.revision = map[string]Entry{}, revision
	for key, e := range entries {
		m.entries[key] = e
	}
}

// Now implements Store.
func (m *Memory) Now(ctx context.Context) (int64, error) {
	if m.Clock != nil {
		return m.Clock(), ctx.Err()
	}
	return time.Now().UnixMicro(), ctx.Err()
}
