package protocol

import (
	"github.com/shardsnow/snow/sqlsnow/internal/dberrors"
)

// GiveUp ends the machine and returns the request that frees what an
// unfinished attempt may have taken, if there is one. Where nobody knows
// whether the attempt has the number, that is a look at its row, and Free says
// what follows from it.
func (m *Machine) GiveUp() (q Request, ok bool) {
	switch m.step {
	case takeWindow, claimNumber, readAttempt, confirmRow:
		m.step = over
		return Request{Ask: AskRow, Worker: m.attempt.Worker}, m.attempt.owner != ""
	}
	return m.Release(0)
}

// Free returns the request that frees a row which GiveUp had to look at, if
// the row is the attempt's.
func (m *Machine) Free(got *Row) (q Request, ok bool) {
	a := &m.attempt
	if got == nil || got.Owner != a.owner || a.owner == "" {
		return Request{}, false
	}
	q = Request{Ask: AskRelease, Worker: a.Worker, Owner: a.owner, Fence: got.Fence, Next: got.Floor}
	if got.State == Claimed {
		q.Ask = AskAbandon
	}
	return q, true
}

// Release ends the machine and returns the request that gives back what the
// lease has, if it has something. next is the first tick that was not used.
// Released says what follows where the request had no effect.
func (m *Machine) Release(next uint64) (q Request, ok bool) {
	a, held := m.attempt, m.holding
	if held == nil && m.step == decline {
		held = &a.Holding
	}
	m.step, m.holding, m.attempt, m.parted = over, nil, attempt{}, held
	if held == nil || held.owner == "" {
		return Request{Ask: AskAbandon, Worker: a.Worker, Owner: a.owner, Fence: a.Fence}, a.claimed
	}
	q = Request{Ask: AskRelease, Worker: held.Worker, Owner: held.owner, Fence: held.Fence, Next: held.Floor}
	if held.opened {
		q.Next = max(held.Floor, min(int64(next), held.Ceiling))
	}
	return q, true
}

// Released says what follows from the row where the release q had no effect: whether the number is free for others all the
// same, or what became of it. repeated is true if a release of unknown outcome was sent before it.
func (m *Machine) Released(q Request, got *Row, repeated bool) (released bool, err error) {
	h, p := m.parted, &m.params
	switch {
	case q.Ask != AskRelease, !h.opened, h.lost: // no id was made, or it is known to be lost
		return false, nil
	case h.has(got) && got.Floor > q.Next: // fenced: the row keeps its ceiling
		return false, nil
	case h.has(got):
		return false, dberrors.ErrRefused
	case got != nil && got.State == Free && got.Fence == h.Fence && got.Ceiling == q.Next:
		return true, nil
	case repeated && got != nil && got.Fence > h.Fence && p.others(h, got) >= q.Next:
		return true, nil
	}
	lost, _ := p.verdict(h, got)
	return false, lost
}
