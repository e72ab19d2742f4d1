package protocol

import (
	"github.com/shardsnow/snow/internal/dberrors"
)

// GiveUp ends the machine and returns the request that frees the number of an
// unfinished attempt, if it may have one. If it is unknown whether the attempt
// has the number, the request reads the row, and Free returns the next request.
func (m *Machine) GiveUp() (q Request, ok bool) {
	switch m.step {
	case takeWindow, claimNumber, readAttempt, confirmRow:
		m.step = over
		return Request{Ask: AskRow, Worker: m.attempt.Worker}, m.attempt.owner != ""
	}
	return m.Release(0)
}

// Free returns the request that frees a row after GiveUp had to read it, if the
// row is the attempt's.
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

// Release ends the machine and returns the request that gives back the lease's
// number, if it has one. next is the first tick that was not used. If the request
// had no effect, Released says why.
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

// Released says from the row why the release q had no effect. released is true if the number is free for others all
// the same; otherwise err says what became of it. repeated is true if a release of unknown outcome was sent before
// q.
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
