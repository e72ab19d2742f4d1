package sqlsnow

import (
	"context"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/registry"
)

func TestFenceRefuses(t *testing.T) {
	l := snow.DefaultLayout()
	s := &scripted{layout: l}
	db := s.open()
	defer db.Close()
	if err := Fence(t.Context(), db, MySQL, "shop"); !errors.Is(err, dberrors.ErrRefused) {
		t.Errorf("1 of 1024 rows changed: %v", err)
	}
	s.autocommit = "0"
	if err := Fence(t.Context(), db, MySQL, "shop"); !errors.Is(err, ErrNotDurable) {
		t.Errorf("with autocommit=0: %v", err)
	}
	s.autocommit, s.ahead = "", -time.Hour
	var clock *ClockError
	if err := Fence(t.Context(), db, MySQL, "shop"); !errors.As(err, &clock) {
		t.Errorf("with a clock an hour behind: %v", err)
	}
	if n := s.count("UPDATE"); n != 1 {
		t.Errorf("%d updates, want that of the first call alone", n)
	}
}

// After ctx has ended, a reply may come from a wait that was cut short.
func TestReplyAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &scripted{layout: snow.DefaultLayout(), before: cancel}
	db := s.open()
	defer db.Close()
	e, err := dbserver.For(MySQL)
	if err != nil {
		t.Fatal(err)
	}
	params, err := Namespace{Name: "n", Layout: s.layout}.Params()
	if err != nil {
		t.Fatal(err)
	}
	r := registry.Registry{DB: db, Engine: e, Params: params}
	if got := r.Do(ctx, protocol.Request{Ask: protocol.AskRenew}); got.Changed || !errors.Is(got.Err, context.Canceled) {
		t.Errorf("a renewal whose ctx ended under way: %+v", got)
	}
}

// A lease suspends its generator when its number may be somebody else's, and
// goes on with another one.
func TestRegressedLeaseSuspends(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, s *scripted, lease *Lease, keys *snow.Generator) {
		first, err := keys.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.set(func() {
			s.refuse = true
			s.row = []driver.Value{int64(Free), nil, int64(1), int64(0), int64(0), int64(0), "", time.Now().UnixMicro()}
		})
		time.Sleep(40 * time.Second) // past a renewal
		if _, err := keys.Next(t.Context()); !errors.Is(err, snow.ErrLeaseExpired) {
			t.Errorf("Next = %v, want ErrLeaseExpired", err)
		}
		if st := lease.Stats(); st.Left != 0 || st.Err == nil {
			t.Errorf("no ids, and stats are %+v", st)
		}
		s.set(func() { s.refuse = false })
		time.Sleep(5 * time.Second)
		if id, err := keys.Next(t.Context()); err != nil || id <= first {
			t.Errorf("with another number: id %d after %d, %v", id, first, err)
		}
		if st := lease.Stats(); st.Swaps != 1 {
			t.Errorf("stats %+v", st)
		}
	})
}
