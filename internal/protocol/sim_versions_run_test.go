package protocol_test

import (
	"context"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/versioned"
)

// keys is a store of the simulation as package versioned sees it.
type keys struct{ protocol.SimStore }

func given(all []protocol.SimEntry) []versioned.Entry {
	out := make([]versioned.Entry, len(all))
	for i, e := range all {
		out[i] = versioned.Entry(e)
	}
	return out
}

func taken(all []versioned.Entry) []protocol.SimEntry {
	out := make([]protocol.SimEntry, len(all))
	for i, e := range all {
		out[i] = protocol.SimEntry(e)
	}
	return out
}

func (k keys) Get(_ context.Context, names ...string) ([]versioned.Entry, error) {
	all, err := k.SimStore.Get(names...)
	return given(all), err
}

func (k keys) List(_ context.Context, prefix, from string, limit int) ([]versioned.Entry, error) {
	all, err := k.SimStore.List(prefix, from, limit)
	return given(all), err
}

func (k keys) Write(_ context.Context, expected, puts []versioned.Entry) (bool, error) {
	sent := taken(puts)
	done, err := k.SimStore.Write(taken(expected), sent)
	if done && err == nil {
		copy(puts, given(sent))
	}
	return done, err
}

func (k keys) Now(context.Context) (int64, error) { return k.SimStore.Now(), nil }

// leases is a registry as the simulation sees it.
type leases struct{ *versioned.Registry }

func (l leases) Params() protocol.Params { return l.Registry.Params }

func (l leases) Do(q protocol.Request) protocol.Reply { return l.Registry.Do(context.Background(), q) }

func (l leases) Fence(local time.Time) error {
	_, err := l.Registry.Fence(context.Background(), local)
	return err
}

// overKeys is package versioned, with the store of the simulation and the clocks of its processes.
func overKeys() *protocol.SimVersions {
	return &protocol.SimVersions{
		Create: func(s protocol.SimStore, p protocol.Params) error {
			return versioned.Create(context.Background(), keys{s}, p, versioned.Options{OwnClock: true})
		},
		Open: func(s protocol.SimStore, name string, mono func() time.Duration) (protocol.SimLeases, error) {
			r, err := versioned.Open(context.Background(), keys{s}, name, versioned.Options{OwnClock: true, Mono: mono})
			if err != nil {
				return nil, err
			}
			return leases{r}, nil
		},
	}
}

// TestSimulationOfVersions has package versioned in place of the tables.
func TestSimulationOfVersions(t *testing.T) {
	protocol.SimulateVersions(t, overKeys(), protocol.Faithful)
}

// TestSimulationOfVersionsKeenly has an enemy who strikes after writes.
func TestSimulationOfVersionsKeenly(t *testing.T) {
	protocol.SimulateVersions(t, overKeys(), protocol.Keen)
}

// TestSimulationOfStaleReads has reads that are not linearizable. Numbers stay unique, because each write compares
// what was read.
func TestSimulationOfStaleReads(t *testing.T) {
	protocol.SimulateVersions(t, overKeys(), protocol.StaleReads)
}

// TestMutantsAreCaughtOverKeys plants bugs of stores of keys.
func TestMutantsAreCaughtOverKeys(t *testing.T) { protocol.CatchKeyMutants(t, overKeys()) }
