package versioned

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/protocol"
)

// A Registry is the rows of one namespace in a store. Its methods may be called by several goroutines at once. It
// returns the errors of the store unchanged.
type Registry struct {
	Params protocol.Params

	store  Store
	clocks clocks
	page   int64 // rows that a search reads at once

	mu        sync.Mutex
	namespace Entry           // as it was read
	seen      map[int64]Entry // rows as they were read or written last
}

// Options are what a store has of its own.
type Options struct {
	// OwnClock says that Store.Now is the clock of this process, which nobody has compared with another one. The registry
	// compares it with the times that other processes have written into their rows.
	OwnClock bool

	// Page is how many rows a search for a free number reads at once. 0 means 1024. A store that reads each key by itself
	// wants fewer.
	Page int64

	// Mono is a monotonic clock, by which the registry sees that the other one was set. Nil means the process's.
	Mono func() time.Duration
}

// Open reads the constants of a namespace. It returns dberrors.ErrNoNamespace, dberrors.ErrNamespaceMismatch, a
// [*DamagedError], or an error of the store.
func Open(ctx context.Context, s Store, name string, o Options) (*Registry, error) {
	e, p, err := read(ctx, s, name)
	if err != nil {
		return nil, err
	}
	if o.Mono == nil {
		begin := time.Now()
		o.Mono = func() time.Duration { return time.Since(begin) }
	}
	return &Registry{
		Params: p, store: s, clocks: clocks{own: o.OwnClock, mono: o.Mono}, page: cmp.Or(o.Page, page), namespace: e, seen: map[int64]Entry{},
	}, nil
}

// tries is how often Do reads a row again because somebody wrote it meanwhile.
const tries = 5

// Do carries out a request and returns the reply.
func (r *Registry) Do(ctx context.Context, q protocol.Request) protocol.Reply {
	var out protocol.Reply
	var err error
	switch q.Ask {
	case protocol.AskServer:
		out, err = r.server(ctx)
	case protocol.AskFree:
		out.Free, err = r.free(ctx, q)
	case protocol.AskCensus:
		out.Census, err = r.census(ctx)
	case protocol.AskRow:
		out, err = r.row(ctx, q.Worker)
	default:
		out, err = r.update(ctx, q.Worker, func(row *Row, us int64) (bool, error) { return apply(&r.Params, row, &q, us) })
	}
	if err != nil {
		return protocol.Reply{Err: err}
	}
	return out
}

func (r *Registry) server(ctx context.Context) (out protocol.Reply, err error) {
	if err := r.unchanged(ctx); err != nil {
		return out, err
	}
	out.UUID = r.Params.UUID
	out.Now, err = r.now(ctx, -1)
	return out, err
}

// guard returns the namespace's key, which each write expects as it was read.
func (r *Registry) guard() Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.namespace
}

// check returns an error if e is not the key of the namespace that Open has read. Its version may be another one:
// somebody copied the keys to another store.
func (r *Registry) check(e Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Version != 0 && string(e.Value) == string(r.namespace.Value) {
		r.namespace = e
		return nil
	}
	p, err := decodeNamespace(r.Params.Name, e)
	switch {
	case e.Version == 0:
		return fmt.Errorf("%w: its key is gone", ErrElsewhere)
	case err != nil:
		return err
	case p.UUID != r.Params.UUID:
		return fmt.Errorf("%w: its registry_uuid is %q, not %q", ErrElsewhere, p.UUID, r.Params.UUID)
	}
	return &DamagedError{Key: e.Key, Err: fmt.Errorf("it was %s, and is now %.400q", r.namespace.Value, e.Value)}
}

// fetch reads a row, with the namespace's key. ok is false if there is no row.
func (r *Registry) fetch(ctx context.Context, worker int64) (e Entry, row Row, ok bool, err error) {
	entries, err := r.store.Get(ctx, namespaceKey(r.Params.Name), workerKey(r.Params.Name, worker))
	if err != nil {
		return e, row, false, err
	}
	if err := r.check(entries[0]); err != nil {
		return e, row, false, err
	}
	if e = entries[1]; e.Version == 0 {
		return e, row, false, nil
	}
	row, err = decodeRow(e)
	return e, row, err == nil, err
}

func (r *Registry) row(ctx context.Context, worker int64) (out protocol.Reply, err error) {
	_, row, ok, err := r.fetch(ctx, worker)
	if err != nil || !ok {
		return out, err
	}
	out.Row = &row.Row
	out.Now, err = r.now(ctx, worker)
	return out, err
}

// update changes a row as change does, and returns the time that change was called with. The row that it begins with is
// the one that this process knows, which saves reading it in most cases. If that one is out of date, the write has no
// effect, and update reads the row.
func (r *Registry) update(ctx context.Context, worker int64, change func(row *Row, us int64) (bool, error)) (out protocol.Reply, err error) {
	for range tries {
		e, known := r.recall(worker)
		row, err := decodeRow(e)
		if !known || err != nil {
			var ok bool
			if e, row, ok, err = r.fetch(ctx, worker); err != nil || !ok {
				return out, err
			}
			known = false
		}
		us, err := r.now(ctx, worker)
		if err != nil {
			return out, err
		}
		changed, err := change(&row, us)
		if err != nil {
			return out, err
		}
		if !changed {
			if known { // it may have changed since
				continue
			}
			return out, nil
		}
		puts := []Entry{{Key: e.Key, Value: row.encode()}}
		done, err := r.store.Write(ctx, []Entry{r.guard(), e}, puts)
		if err != nil {
			return out, err
		}
		if done {
			r.remember(map[int64]Entry{worker: puts[0]})
			return protocol.Reply{Changed: true, Now: us}, nil
		}
	}
	return out, ErrBusy
}

// recall returns a row as this process knows it, and forgets it.
func (r *Registry) recall(worker int64) (e Entry, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok = r.seen[worker]
	delete(r.seen, worker)
	return e, ok
}

func (r *Registry) remember(rows map[int64]Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = rows
}

// page is how many rows a search for a free number reads at once, unless Options say otherwise.
const page = 256

// free returns rows that may be taken, from q.Start on, of the first page that has any.
func (r *Registry) free(ctx context.Context, q protocol.Request) (all []protocol.FreeRow, err error) {
	us, err := r.now(ctx, -1)
	if err != nil {
		return nil, err
	}
	tick := r.Params.TickAt(us)
	seen := map[int64]Entry{}
	from, vote := q.Start, r.clocks.due()
	if vote && r.Params.Workers <= r.page {
		from = 0 // one page has all rows
	} else if vote {
		from = min(q.Start, r.Params.Workers-r.page) // of a pinned number, too
	}
	for from < q.End && len(all) == 0 {
		var rows []numbered
		end := q.End
		if vote {
			end = r.Params.Workers
		}
		if rows, err = r.list(ctx, from, min(from+r.page, end)); err != nil {
			return nil, err
		}
		if vote {
			// The rows may have been written since, if the store is slow.
			if us, err = r.store.Now(ctx); err != nil {
				return nil, err
			}
			if err := r.clocks.judge(rows, us); err != nil {
				return nil, err
			}
			vote = false
		}
		for _, n := range rows {
			if n.err != nil || n.worker < q.Start || n.worker >= q.End || len(all) == 64 || !eligible(&r.Params, &n.row, tick) {
				continue
			}
			all = append(all, protocol.FreeRow{Worker: n.worker, Fence: n.row.Fence, Ceiling: n.row.Ceiling})
			seen[n.worker] = n.entry
		}
		from += r.page
	}
	r.remember(seen)
	return all, nil
}

func (r *Registry) census(ctx context.Context) (c protocol.Census, err error) {
	us, err := r.now(ctx, -1)
	if err != nil {
		return c, err
	}
	p, tick := &r.Params, r.Params.TickAt(us)
	rows, err := r.list(ctx, 0, p.Workers)
	for _, n := range rows {
		if n.err != nil || n.row.State == protocol.Reserved {
			continue
		}
		free := n.row.Ceiling
		switch n.row.State {
		case protocol.Granted:
			if tick < n.row.Ceiling && us < (n.row.Renewed+p.Late().Milliseconds())*1000 {
				c.Live++
			}
		case protocol.Free:
			free -= p.Ticks(protocol.Slack)
		}
		if c.All == 0 || free < c.Earliest {
			c.Earliest = free
		}
		c.All++
	}
	return c, err
}

// now returns the time that counts. own is the number of the row that is about to be written.
func (r *Registry) now(ctx context.Context, own int64) (int64, error) {
	us, err := r.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	if us <= 0 {
		return 0, fmt.Errorf("%w: the time is %d", dberrors.ErrBadReply, us)
	}
	if stepped, expected := r.clocks.stepped(us); stepped {
		rows, err := r.list(ctx, 0, r.Params.Workers)
		if err != nil {
			return 0, err
		}
		before := us
		if us, err = r.store.Now(ctx); err != nil {
			return 0, err
		}
		if err := r.clocks.follow(rows, own, us, expected+us-before); err != nil {
			return 0, err
		}
	}
	return us, nil
}
