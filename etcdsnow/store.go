package etcdsnow

import (
	"context"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/shardsnow/snow/internal/versioned"
)

// A store is an etcd cluster as leases see it. Every read is linearizable. Every request requires a leader, so that a
// member that is cut off from the others refuses it at once, and the client or the lease asks another member.
type store struct {
	kv     clientv3.KV
	prefix string
}

// Get implements versioned.Store. It reads all keys at one revision.
func (s *store) Get(ctx context.Context, keys ...string) ([]versioned.Entry, error) {
	reads := make([]clientv3.Op, len(keys))
	for i, key := range keys {
		reads[i] = clientv3.OpGet(s.prefix + key)
	}
	reply, err := s.kv.Txn(clientv3.WithRequireLeader(ctx)).Then(reads...).Commit()
	if err != nil {
		return nil, err
	}
	all := make([]versioned.Entry, len(keys))
	for i, key := range keys {
		all[i].Key = key
		for _, kv := range reply.Responses[i].GetResponseRange().Kvs {
			all[i].Value, all[i].Version = kv.Value, kv.ModRevision
		}
	}
	return all, nil
}

// List implements versioned.Store.
func (s *store) List(ctx context.Context, prefix, from string, limit int) ([]versioned.Entry, error) {
	end := clientv3.GetPrefixRangeEnd(s.prefix + prefix)
	reply, err := s.kv.Get(clientv3.WithRequireLeader(ctx), s.prefix+from, clientv3.WithRange(end), clientv3.WithLimit(int64(limit)))
	if err != nil {
		return nil, err
	}
	all := make([]versioned.Entry, len(reply.Kvs))
	for i, kv := range reply.Kvs {
		all[i] = versioned.Entry{Key: strings.TrimPrefix(string(kv.Key), s.prefix), Value: kv.Value, Version: kv.ModRevision}
	}
	return all, nil
}

// Write implements versioned.Store. A restore of a snapshot lets revisions repeat, so the values are compared too.
func (s *store) Write(ctx context.Context, expected, puts []versioned.Entry) (done bool, err error) {
	conditions := make([]clientv3.Cmp, 0, 2*len(expected))
	for _, e := range expected {
		conditions = append(conditions, clientv3.Compare(clientv3.ModRevision(s.prefix+e.Key), "=", e.Version))
		if e.Version != 0 {
			conditions = append(conditions, clientv3.Compare(clientv3.Value(s.prefix+e.Key), "=", string(e.Value)))
		}
	}
	writes := make([]clientv3.Op, len(puts))
	for i, e := range puts {
		writes[i] = clientv3.OpPut(s.prefix+e.Key, string(e.Value))
	}
	reply, err := s.kv.Txn(clientv3.WithRequireLeader(ctx)).If(conditions...).Then(writes...).Commit()
	if err != nil || !reply.Succeeded {
		return false, err
	}
	for i := range puts {
		puts[i].Version = reply.Header.Revision
	}
	return true, nil
}

// Now implements versioned.Store. etcd has no clock that a client can read.
func (s *store) Now(context.Context) (int64, error) { return time.Now().UnixMicro(), nil }
