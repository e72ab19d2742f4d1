package storetest

import (
	"errors"
	"math/rand/v2"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/lease"
)

// A history is random leases of a namespace, and what was seen of their windows.
type history struct {
	*space
	random  *rand.Rand
	holders []*holder
	rows    []row     // as they were seen last
	last    []snow.ID // of each number
}

// randomHistory lets leases begin, renew, lose their numbers, crash and end in a random order. No window of a number
// begins before the former one ends, and the ids of a number ascend over all of its holders.
func randomHistory(s *space) {
	s.init(lease.Namespace{})
	seed := rand.Uint64()
	s.Logf("seed %d", seed)
	h := &history{space: s, random: rand.New(rand.NewPCG(seed, 0)), rows: make([]row, 4), last: make([]snow.ID, 4)}
	for worker := range h.rows {
		h.rows[worker] = s.row(uint64(worker))
	}
	for range 150 {
		h.step()
		h.observe()
	}
}

func (h *history) step() {
	h.Helper()
	if n := h.random.IntN(len(h.holders) + 1); n == len(h.holders) && n < 4 {
		got, err := h.try(h.c, lease.Config{})
		switch {
		case err == nil:
			h.holders = append(h.holders, got)
		case !errors.As(err, new(*lease.NoWorkerError)):
			h.Errorf("Acquire: %v", err)
		}
		return
	}
	i := h.random.IntN(len(h.holders))
	l := h.holders[i]
	worker := l.Stats().Worker
	switch h.random.IntN(8) {
	case 0:
		_ = l.Close(h.Context()) // it may be lost
		h.forget(i)
	case 1: // a process that ends without a word, at the end of its window
		h.id(l)
		_ = l.Close(h.Context())
		h.forget(i)
		h.set(worker, row{"state": "granted", "owner": "gone", "ceiling_tick": max(h.row(worker).int("ceiling_tick"), h.now()+1)})
		h.rows[worker] = h.row(worker)
	case 2: // somebody else had the number after the window, and is gone
		before := h.row(worker)
		h.give(worker)
		if floor := h.row(worker).int("floor_tick"); floor != before.int("ceiling_tick") {
			h.Errorf("a window was given from tick %d on, after %v", floor, before)
		}
		h.rows[worker] = h.row(worker)
	case 3, 4:
		_ = l.Renew(h.Context()) // there may be no other number
	default:
		h.id(l)
	}
}

func (h *history) forget(i int) { h.holders = append(h.holders[:i], h.holders[i+1:]...) }

// id makes an id, if the lease has a window.
func (h *history) id(l *holder) {
	h.Helper()
	id, err := l.keys.Next(h.Context())
	if err != nil {
		if !errors.Is(err, snow.ErrLeaseExpired) {
			h.Errorf("Next: %v", err)
		}
		return
	}
	worker, tick := h.tick(id)
	if id <= h.last[worker] {
		h.Errorf("worker %d: id %d after %d", worker, id, h.last[worker])
	}
	h.last[worker] = id
	if r := h.row(worker); tick >= r.int("ceiling_tick") {
		h.Errorf("worker %d: an id in tick %d, and the row is %v", worker, tick, r)
	}
}

// observe compares the rows with what was seen before.
func (h *history) observe() {
	h.Helper()
	for worker, before := range h.rows {
		r := h.row(uint64(worker))
		if r.int("fence") > before.int("fence") && r.int("floor_tick") < before.int("ceiling_tick") {
			h.Errorf("worker %d: a window begins before the former one ends: %v after %v", worker, r, before)
		}
		if r.int("fence") < before.int("fence") {
			h.Errorf("worker %d: the fence went back: %v after %v", worker, r, before)
		}
		h.rows[worker] = r
	}
}
