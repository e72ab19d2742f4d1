package versioned

import (
	"context"
	"fmt"
	"time"

	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/retry"
)

// read reads the constants of a namespace.
func read(ctx context.Context, s Store, name string) (e Entry, p protocol.Params, err error) {
	entries, err := s.Get(ctx, namespaceKey(name))
	if err != nil {
		return e, p, err
	}
	if e = entries[0]; e.Version == 0 {
		return e, p, errNoNamespace{}
	}
	p, err = decodeNamespace(name, e)
	return e, p, err
}

// Names returns the names of all namespaces, in the order of their keys.
func Names(ctx context.Context, s Store) (all []string, err error) {
	for from := namespaces; ; {
		entries, err := s.List(ctx, namespaces, from, most)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name, err := nameOf(e.Key)
			if err != nil {
				return nil, err
			}
			all = append(all, name)
		}
		if len(entries) < most {
			return all, nil
		}
		from = entries[len(entries)-1].Key + "\x00"
	}
}

// Create makes the rows of a namespace: first the rows of its worker numbers, then its own. So if the namespace's key
// exists, all rows existed once, and numbers without a row may have been used: their first windows begin after the
// windows that they may have had. The same holds if only the namespace's key is gone. want has no LossWindow. Create returns
// dberrors.ErrNamespaceMismatch for other constants, and a [*protocol.ClockError] if it has to make deleted rows and
// others show that the clock may be behind.
func Create(ctx context.Context, s Store, want protocol.Params, o Options) error {
	for {
		done, err := create(ctx, s, want, o)
		if err != nil || done {
			return err
		}
		// Another process makes the same keys.
		if err := retry.Pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// create reports whether the namespace is complete. Otherwise somebody else wrote one of its keys meanwhile.
func create(ctx context.Context, s Store, want protocol.Params, o Options) (done bool, err error) {
	entries, err := s.Get(ctx, namespaceKey(want.Name))
	if err != nil {
		return false, err
	}
	ns := entries[0]
	if ns.Version != 0 {
		got, err := decodeNamespace(want.Name, ns)
		if err == nil {
			err = compare(&want, &got)
		}
		if err != nil {
			return false, err
		}
		want = got
	}
	rows, err := list(ctx, s, want.Name, 0, want.Workers)
	if err != nil {
		return false, err
	}
	used, there := ns.Version != 0, make([]bool, want.Workers)
	for _, n := range rows {
		if n.err != nil {
			return false, n.err
		}
		there[n.worker] = true
		used = used || n.row.State != protocol.Free || n.row.Fence > 0 || n.row.Ceiling > 0
	}
	var fresh Row
	if used {
		us, err := s.Now(ctx)
		if err != nil {
			return false, err
		}
		if o.OwnClock && int64(len(rows)) < want.Workers {
			if err := judge(rows, us, 1); err != nil {
				return false, err
			}
		}
		fresh.Floor = longestWindow(&want, us)
		fresh.Ceiling = fresh.Floor
	}
	value := fresh.encode()
	expected, puts := []Entry{ns}, []Entry(nil)
	for worker := range want.Workers {
		if !there[worker] {
			e := Entry{Key: workerKey(want.Name, worker)}
			expected = append(expected, e)
			e.Value = value
			puts = append(puts, e)
		}
		if len(puts) == Batch-1 || worker == want.Workers-1 && len(puts) > 0 {
			if done, err := s.Write(ctx, expected, puts); err != nil || !done {
				return false, err
			}
			expected, puts = []Entry{ns}, nil
		}
	}
	if ns.Version != 0 {
		return true, nil
	}
	want.UUID = names.NewUUID()
	return s.Write(ctx, []Entry{ns}, []Entry{{Key: ns.Key, Value: encodeNamespace(&want)}})
}

// compare returns an error if got, the constants in the store, differ from want.
func compare(want, got *protocol.Params) error {
	for _, c := range []struct {
		name         string
		wanted, have any
	}{
		{"layout", want.Layout.String(), got.Layout.String()},
		{"workers", want.Workers, got.Workers},
		{"loss", want.Loss.Milliseconds(), got.Loss.Milliseconds()},
		{"window", want.Window.Milliseconds(), got.Window.Milliseconds()},
		{"pinned", want.Pinned.Milliseconds(), got.Pinned.Milliseconds()},
	} {
		if c.wanted != c.have {
			return fmt.Errorf("%w: its %s is %v, not %v", dberrors.ErrNamespaceMismatch, c.name, c.have, c.wanted)
		}
	}
	return nil
}
