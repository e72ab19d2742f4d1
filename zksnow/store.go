package zksnow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow/internal/versioned"
)

// A store is a versioned.Store in a tree of znodes. The znode of a key is the key below the root. Its value is the
// znode's data, its version the znode's data version plus one. Each znode of a key has one child, which [tag] names.
type store struct {
	conn  client
	root  string
	slots chan struct{} // of requests

	mu  sync.Mutex
	acl []zk.ACL // of the root, which all znodes get; nil until it was read
}

// A client is what a store needs of a *zk.Conn.
type client interface {
	Children(path string) ([]string, *zk.Stat, error)
	Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error)
	Exists(path string) (bool, *zk.Stat, error)
	Get(path string) ([]byte, *zk.Stat, error)
	GetACL(path string) ([]zk.ACL, *zk.Stat, error)
	Multi(ops ...any) ([]zk.MultiResponse, error)
	Server() string
	SessionID() int64
	Set(path string, data []byte, version int32) (*zk.Stat, error)
	State() zk.State
}

var (
	_ versioned.Store = (*store)(nil)
	_ client          = (*zk.Conn)(nil)
)

func newStoreOf(conn client, root string) *store {
	return &store{conn: conn, root: root, slots: make(chan struct{}, inFlight)}
}

// path returns the znode of a key.
func (s *store) path(key string) string { return s.root + "/" + key }

// clock is the znode that Now writes.
func (s *store) clock() string { return s.path("clock") }

// errNewSession says that reads may not be of one session.
var errNewSession = errors.New("the session ended meanwhile, and the reads of another one may be older")

// Get implements versioned.Store.
func (s *store) Get(ctx context.Context, keys ...string) (all []versioned.Entry, err error) {
	err = s.fresh(ctx, func() error {
		all, err = s.getAll(ctx, keys, false)
		return err
	})
	return all, err
}

// fresh calls read so that it sees every write that was confirmed before. A member answers reads from what it knows,
// which may be older than what the majority has. So fresh first writes the clock: when the client has the reply, the
// member knows that write and all before it, and the client accepts no other member that doesn't. A new session does
// accept one, so the session must be the same before and after. Sync is not enough: a leader answers it even if the
// others have elected another one.
func (s *store) fresh(ctx context.Context, read func() error) error {
	for range 3 {
		session := s.conn.SessionID()
		if _, err := s.tick(ctx); err != nil && !errors.Is(err, zk.ErrNoNode) { // which is an answer of the majority too
			return err
		}
		if err := read(); err != nil {
			return err
		}
		if session != 0 && s.conn.SessionID() == session {
			return nil
		}
	}
	return s.failed("read", s.root, errNewSession)
}

// getAll reads keys at the same time. If damaged, the entries of values that were written by hand have no values;
// otherwise one of them is an error.
func (s *store) getAll(ctx context.Context, keys []string, damaged bool) ([]versioned.Entry, error) {
	all, errs := make([]versioned.Entry, len(keys)), make([]error, len(keys))
	var group sync.WaitGroup
	places := make(chan struct{}, inFlight/2)
	for i, key := range keys {
		places <- struct{}{}
		group.Go(func() {
			all[i], errs[i] = s.get(ctx, key)
			<-places
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil && !(damaged && errors.As(err, new(*versioned.DamagedError))) {
			return nil, err // one of them says enough
		}
	}
	return all, nil
}

// get reads a key. err is a *versioned.DamagedError if somebody wrote its value by hand; the entry then has a version and
// no value.
func (s *store) get(ctx context.Context, key string) (e versioned.Entry, err error) {
	path := s.path(key)
	for range 3 {
		var whole bool
		before := e.Version
		e, whole, err = s.read(ctx, key, path)
		if err != nil || whole || e.Version == 0 {
			return e, err
		}
		child := path + "/" + tag(e.Value)
		there, err := call(ctx, s, "exists", child, func() (bool, error) {
			there, _, err := s.conn.Exists(child)
			return there, err
		})
		if err != nil || there { // somebody put the former value back
			return e, err
		}
		if e.Version == before { // and was so when the child was looked for
			break
		}
	}
	return versioned.Entry{Key: key, Version: e.Version}, &versioned.DamagedError{Key: key, Err: errByHand}
}

// read reads a key once. whole is true if its last write also made its child, as the transactions of this package do.
func (s *store) read(ctx context.Context, key, path string) (e versioned.Entry, whole bool, err error) {
	type reply struct {
		data []byte
		stat *zk.Stat
	}
	r, err := call(ctx, s, "get", path, func() (reply, error) {
		data, stat, err := s.conn.Get(path)
		return reply{data, stat}, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return versioned.Entry{Key: key}, false, nil
	}
	if err != nil {
		return e, false, err
	}
	e = versioned.Entry{Key: key, Value: r.data, Version: int64(r.stat.Version) + 1}
	return e, r.stat.Mzxid == r.stat.Pzxid, nil // the transactions of the value, and of the children
}

// List implements versioned.Store. The prefix ends with a slash.
func (s *store) List(ctx context.Context, prefix, from string, limit int) (all []versioned.Entry, err error) {
	err = s.fresh(ctx, func() error {
		all, err = s.list(ctx, prefix, from, limit)
		return err
	})
	return all, err
}

func (s *store) list(ctx context.Context, prefix, from string, limit int) ([]versioned.Entry, error) {
	path := strings.TrimSuffix(s.path(prefix), "/")
	names, err := call(ctx, s, "list", path, func() ([]string, error) {
		names, _, err := s.conn.Children(path)
		return names, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var keys []string
	for _, name := range names {
		if key := prefix + name; key >= from && len(keys) < limit {
			keys = append(keys, key)
		}
	}
	all, err := s.getAll(ctx, keys, true)
	return slices.DeleteFunc(all, func(e versioned.Entry) bool { return e.Version == 0 }), err // deleted meanwhile
}

// Now implements versioned.Store. The time is the clock of the leader, which dates each write.
func (s *store) Now(ctx context.Context) (int64, error) {
	us, err := s.tick(ctx)
	if errors.Is(err, zk.ErrNoNode) {
		if err := s.make(ctx, s.clock()); err != nil {
			return 0, err
		}
		us, err = s.tick(ctx)
	}
	return us, err
}

// tick writes the clock, and returns when the leader says that this was.
func (s *store) tick(ctx context.Context) (us int64, err error) {
	return call(ctx, s, "set", s.clock(), func() (int64, error) {
		stat, err := s.conn.Set(s.clock(), nil, -1)
		if err != nil {
			return 0, err
		}
		return stat.Mtime * 1000, nil
	})
}

// make makes a znode without data, and those above it, with an ACL.
func (s *store) make(ctx context.Context, path string) error {
	acl, err := s.access(ctx)
	if err != nil {
		return err
	}
	return s.makeWith(ctx, path, acl)
}

func (s *store) makeWith(ctx context.Context, path string, acl []zk.ACL) error {
	for end := 1; end <= len(path); end++ {
		if end < len(path) && path[end] != '/' {
			continue
		}
		part := path[:end]
		_, err := call(ctx, s, "create", part, func() (string, error) { return s.conn.Create(part, nil, 0, acl) })
		// Somebody who may not create the znodes above the root may find them there.
		if err != nil && !errors.Is(err, zk.ErrNodeExists) && !(errors.Is(err, zk.ErrNoAuth) && len(part) <= len(s.root)) {
			return err
		}
	}
	return nil
}

// access returns the ACL of the root, which it makes if it is missing.
func (s *store) access(ctx context.Context) ([]zk.ACL, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for tries := 0; s.acl == nil; tries++ {
		acl, err := call(ctx, s, "read the ACL of", s.root, func() ([]zk.ACL, error) {
			acl, _, err := s.conn.GetACL(s.root)
			return acl, err
		})
		if errors.Is(err, zk.ErrNoNode) && tries == 0 {
			if err := s.makeWith(ctx, s.root, zk.WorldACL(zk.PermAll)); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		s.acl = acl
	}
	return s.acl, nil
}
