package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/lease"
)

// wentBack acquires a lease, lowers its ceiling, and calls change before the write that would set the ceiling again.
func (s *space) wentBack(cfg lease.Config, by time.Duration, change func(h *holder)) *holder {
	s.Helper()
	var writes atomic.Int64
	var h *holder
	armed := new(atomic.Bool)
	c := s.c.Wired(s.T, func(send func() error) error {
		if armed.Load() && writes.Add(1) == 2 { // after the renewal
			change(h)
		}
		return send()
	})
	h, err := s.try(c, cfg)
	if err != nil {
		s.Fatal(err)
	}
	s.next(h)
	worker := h.Stats().Worker
	s.set(worker, row{"ceiling_tick": s.row(worker).int("ceiling_tick") - by.Milliseconds()})
	armed.Store(true)
	return h
}

func lateReassertion(s *space) {
	s.init(lease.Namespace{Workers: 8})
	for what, change := range map[string]func(worker uint64){
		"raised":    func(w uint64) { s.set(w, row{"ceiling_tick": s.row(w).int("ceiling_tick") + 3_600_000}) },
		"displaced": s.give,
	} {
		var worker uint64
		var given row
		h := s.wentBack(lease.Config{}, 9*time.Minute, func(h *holder) {
			worker = h.Stats().Worker
			change(worker)
			given = s.row(worker)
		})
		if err := h.Renew(s.Context()); err != nil {
			_ = as[*lease.LostError](s, err)
		}
		s.await("swap", func() bool { return h.Stats().Swaps == 1 })
		got := s.row(worker)
		if given == nil || got["ceiling_tick"] != given["ceiling_tick"] || got["owner"] != given["owner"] || got["fence"] != given["fence"] {
			s.Errorf("%s: the row was %v, and is %v", what, given, got)
		}
		if what == "displaced" && fmt.Sprint(got) != fmt.Sprint(given) {
			s.Errorf("the next holder's row was %v, and is now %v", given, got)
		}
		s.next(h)
	}
}

// stopped reports an error if a lease makes an id.
func (s *space) stopped(h *holder, when string) {
	s.Helper()
	if id, err := h.keys.Next(s.Context()); !errors.Is(err, snow.ErrLeaseExpired) {
		s.Errorf("%s: got id %d and %v, want %v", when, id, err, snow.ErrLeaseExpired)
	}
}

func seizedBeforeReassertion(s *space) {
	s.init(lease.Namespace{Workers: 1})
	seized := false
	h := s.wentBack(lease.Config{}, 9*time.Minute, func(h *holder) {
		s.stopped(h, "before the ceiling is set again")
		s.give(0)
		seized = true
	})
	if e := as[*lease.NoWorkerError](s, s.renewed(h)); e.Live != 1 || !seized {
		s.Errorf("got %+v, want one live number, after another process took it: %t", e, seized)
	}
	s.stopped(h, "after another process has taken the number")
}

func reassertedAndNoneFree(s *space) {
	s.init(lease.Namespace{Workers: 1})
	h := s.acquire(lease.Config{})
	s.next(h)
	before := s.row(0)
	s.set(0, row{"ceiling_tick": before.int("ceiling_tick") - 540_000})
	_ = as[*lease.NoWorkerError](s, s.renewed(h))
	if _, tick := s.tick(s.next(h)); tick >= before.int("ceiling_tick") {
		s.Errorf("an id in tick %d, and the window ends at %d", tick, before.int("ceiling_tick"))
	}
	if r := s.row(0); r["ceiling_tick"] != before["ceiling_tick"] || r["owner"] != before["owner"] {
		s.Errorf("the row was %v, and is %v", before, r)
	}
}

func pinnedRegressed(s *space) {
	s.init(lease.Namespace{})
	number := uint64(2)
	h := s.acquire(lease.Config{Worker: &number})
	before := s.row(number).int("ceiling_tick")
	s.set(number, row{"ceiling_tick": before - 5000})
	if err := h.Renew(s.Context()); err != nil {
		if e := as[*lease.LostError](s, err); e.Reason != lease.Regressed {
			s.Errorf("got %+v", e)
		}
	}
	s.await("ceiling that is as it was", func() bool { return s.row(number).int("ceiling_tick") >= before })
	s.again(h)
	if st := h.Stats(); st.Swaps != 0 || st.Worker != number || h.Err() != nil {
		s.Errorf("got %+v and %v, want number %d for ever", st, h.Err(), number)
	}
}

func closeBorrowed(s *space) {
	s.init(lease.Namespace{Workers: 1})
	var last snow.ID
	for range 3 {
		h := s.acquire(lease.Config{})
		ids := make([]snow.ID, 200_000) // 49 ticks of 4096
		if err := h.keys.Fill(s.Context(), ids); err != nil {
			s.Fatal(err)
		}
		if ids[0] <= last {
			s.Errorf("id %d after %d, the former holder's last", ids[0], last)
		}
		last = ids[len(ids)-1]
		if err := h.Close(s.Context()); err != nil {
			s.Fatal(err)
		}
		if _, tick := s.tick(last); s.row(0).int("ceiling_tick") <= tick {
			s.Errorf("the row is %v after an id in tick %d", s.row(0), tick)
		}
	}
}

func holderNames(s *space) {
	s.init(lease.Namespace{Workers: 8})
	for _, name := range []string{
		"", "pod-7", "Knoten 7: äöü ☃ 🐢", "quote ' back \\ percent %", strings.Repeat("x", 300), strings.Repeat("ü", 300), "a\xff\xfeb", "nul\x00l",
	} {
		h := s.acquire(lease.Config{Holder: name})
		got, _ := s.row(h.Stats().Worker)["holder"].(string)
		switch {
		case got == "" || !utf8.ValidString(got) || utf8.RuneCountInString(got) > 255:
			s.Errorf("holder %q: got %q, want valid UTF-8 of 1 to 255 characters", name, got)
		case name != "" && utf8.ValidString(name) && len(name) < 100 && !strings.ContainsRune(name, 0) && got != name:
			s.Errorf("got holder %q, want %q", got, name)
		case name != "" && !strings.HasPrefix(got, name[:1]):
			s.Errorf("holder %q: got %q, want its beginning", name, got)
		}
	}
}
