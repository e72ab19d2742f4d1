package zksnow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow/internal/versioned"
)

// Write implements versioned.Store: a transaction that ZooKeeper carries out as a whole or not at all.
func (s *store) Write(ctx context.Context, expected, puts []versioned.Entry) (done bool, err error) {
	acl, err := s.access(ctx)
	if err != nil {
		return false, err
	}
	t := s.transaction(acl, expected, puts)
	for _, parent := range t.parents {
		if err := s.make(ctx, parent); err != nil {
			return false, err
		}
	}
	type outcome struct {
		results []zk.MultiResponse
		refused bool
	}
	out, err := call(ctx, s, "write", t.path, func() (outcome, error) {
		results, err := s.conn.Multi(t.ops...)
		if errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNodeExists) || errors.Is(err, zk.ErrNoNode) {
			return outcome{results, true}, nil
		}
		return outcome{results, false}, err
	})
	switch {
	case err != nil:
		return false, err
	case out.refused:
		return false, s.explain(ctx, expected, t.refused(out.results))
	}
	return true, t.versions(out.results, puts)
}

// A transaction is what a Write asks for.
type transaction struct {
	ops     []any
	path    string         // of the znode that errors name
	parents []string       // of new znodes
	stats   []int          // for each put, the operation that returns its new version; -1 if it is new
	tags    map[int]string // the operations that need the child of a znode, and the znode's key
}

// refused returns the key of the znode whose child was missing, or nothing if the transaction was refused for another
// reason.
func (t *transaction) refused(results []zk.MultiResponse) string {
	for i, r := range results {
		if r.Error != nil {
			return t.tags[i]
		}
	}
	return ""
}

// parent adds the znode above a new one.
func (t *transaction) parent(path string) {
	path = path[:strings.LastIndexByte(path, '/')]
	if !slices.Contains(t.parents, path) {
		t.parents = append(t.parents, path)
	}
}

func (s *store) transaction(acl []zk.ACL, expected, puts []versioned.Entry) transaction {
	former := make(map[string]versioned.Entry, len(expected))
	for _, e := range expected {
		former[e.Key] = e
	}
	t := transaction{tags: map[int]string{}}
	written := make(map[string]bool, len(puts))
	for _, put := range puts {
		path, before := s.path(put.Key), former[put.Key]
		written[put.Key], t.path = true, path
		next := &zk.CreateRequest{Path: path + "/" + tag(put.Value), Acl: acl}
		if before.Version == 0 {
			t.stats = append(t.stats, -1)
			t.ops = append(t.ops, &zk.CreateRequest{Path: path, Data: put.Value, Acl: acl}, next)
			t.parent(path)
			continue
		}
		t.stats = append(t.stats, len(t.ops))
		t.tags[len(t.ops)+1] = put.Key
		t.ops = append(t.ops,
			&zk.SetDataRequest{Path: path, Data: put.Value, Version: int32(before.Version - 1)},
			&zk.DeleteRequest{Path: path + "/" + tag(before.Value), Version: -1}, next)
	}
	for _, e := range expected {
		path := s.path(e.Key)
		switch {
		case written[e.Key]:
		case e.Version == 0: // no operation tests that there is no znode but one that makes it
			t.ops = append(t.ops, &zk.CreateRequest{Path: path, Acl: acl}, &zk.DeleteRequest{Path: path, Version: -1})
			t.parent(path)
		default:
			t.tags[len(t.ops)+1] = e.Key
			t.ops = append(t.ops, &zk.CheckVersionRequest{Path: path, Version: int32(e.Version - 1)},
				&zk.CheckVersionRequest{Path: path + "/" + tag(e.Value), Version: -1})
		}
	}
	return t
}

// versions puts the new versions into puts.
func (t *transaction) versions(results []zk.MultiResponse, puts []versioned.Entry) error {
	if len(results) != len(t.ops) {
		return &StoreError{Op: "write", Path: t.path, Err: fmt.Errorf("%d operations have %d results", len(t.ops), len(results))}
	}
	for i, at := range t.stats {
		switch {
		case at < 0:
			puts[i].Version = 1
		case results[at].Stat == nil:
			return &StoreError{Op: "write", Path: t.path, Err: errors.New("the reply has no version")}
		default:
			puts[i].Version = int64(results[at].Stat.Version) + 1
		}
	}
	return nil
}

// errByHand says that the child of a znode is missing that its value has.
var errByHand = errors.New("its child does not belong to its value: somebody wrote it by hand")

// explain returns a *versioned.DamagedError if a write had no effect because somebody wrote the value of a znode by
// hand: the value is as it was expected, and its child is missing. Otherwise somebody else was faster, or the znode
// has an older state again, and it returns nil.
func (s *store) explain(ctx context.Context, expected []versioned.Entry, key string) error {
	i := slices.IndexFunc(expected, func(e versioned.Entry) bool { return e.Key == key })
	if key == "" || i < 0 {
		return nil
	}
	e := expected[i]
	return s.fresh(ctx, func() error {
		_, err := s.get(ctx, e.Key)
		return err
	})
}
