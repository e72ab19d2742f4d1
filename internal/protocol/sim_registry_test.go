package protocol

import (
	"slices"
	"time"
)

// A simRow is a row of snow_workers, and who wrote it.
type simRow struct {
	Row
	Renewed int64
	By      int // the incarnation that took the row; 0 if nobody did
}

// A simCommit undoes a write: a failover or a power cut may lose it.
type simCommit struct {
	durable time.Duration // true time when a power cut can no longer lose it
	worker  int64
	before  simRow
}

// A simRegistry is the tables in memory, with the semantics of the statements of package registry.
// Its callers pass the clock.
type simRegistry struct {
	Params Params
	Rows   []simRow
	log    []simCommit
	flaws  simFlaws

	stalled time.Duration // until then no write becomes durable, though all are visible
	durable time.Duration // the true time at which the last write becomes durable

	// wrote, if not nil, is called for each write.
	wrote func(q Request, by int, before, after simRow, us int64)
}

func newSimRegistry(t Params) *simRegistry {
	return &simRegistry{Params: t, Rows: make([]simRow, t.Workers)}
}

func (r *simRegistry) eligible(row simRow, us int64) bool {
	t := &r.Params
	tick := t.TickAt(us)
	switch row.State {
	case Free:
		return row.Ceiling <= tick+t.Ticks(Slack)
	case Granted:
		return tick >= row.Ceiling+t.Ticks(t.Grace)
	case Claimed:
		ahead := row.Ceiling > tick+t.Ticks(Slack) && !r.flaws.earlyClaim
		return us > (row.Claimed+t.Claim.Milliseconds()+t.Grace.Milliseconds())*1000 && !ahead
	}
	return false
}

// Do executes a request of the incarnation by, at the true time at, when the
// database's clock says us.
func (r *simRegistry) Do(q Request, us int64, at time.Duration, by int) Reply {
	switch q.Ask {
	case AskServer:
		return Reply{Now: us, UUID: r.Params.UUID}
	case AskFree:
		return r.free(q, us)
	case AskCensus:
		return r.census(us)
	}
	if q.Worker < 0 || q.Worker >= int64(len(r.Rows)) {
		return Reply{}
	}
	before := r.Rows[q.Worker]
	if q.Ask == AskRow {
		return Reply{Now: us, Row: &before.Row}
	}
	after := before
	if !r.update(&after, q, us, by) {
		return Reply{}
	}
	r.durable = max(r.durable, r.stalled, at) // one after the other
	r.log = append(r.log, simCommit{r.durable, q.Worker, before})
	r.Rows[q.Worker] = after
	if r.wrote != nil {
		r.wrote(q, by, before, after, us)
	}
	out := Reply{Changed: true, Now: us}
	if r.flaws.tellsRow {
		out.Row = &after.Row
	}
	return out
}

// update changes a row as the statement of q does, and reports whether it does.
func (r *simRegistry) update(row *simRow, q Request, us int64, by int) bool {
	t := &r.Params
	tick, ms := t.TickAt(us), us/1000
	mine := row.Owner == q.Owner && row.Fence == q.Fence && row.Owner != ""
	switch q.Ask {
	case AskTake, AskClaim:
		free := row.Fence == q.Fence && row.Ceiling == q.Seen && r.eligible(*row, us)
		if !free && !r.flaws.blindTake || us < q.Earliest || us > q.Latest {
			return false
		}
		row.State, row.Owner, row.Holder, row.Claimed, row.By = Claimed, q.Owner, q.Holder, ms, by
		row.Fence++
		if q.Ask == AskTake {
			row.State, row.Renewed = Granted, ms
			row.Floor = max(row.Ceiling, tick+r.flaws.future)
			row.Ceiling = row.Floor + q.Window
		}
	case AskGrant:
		early := us < (row.Claimed+t.Probation.Milliseconds())*1000 || us > (row.Claimed+t.Claim.Milliseconds())*1000
		same := row.Ceiling == q.Seen || r.flaws.blindGrant
		if !mine || row.State != Claimed || !same || early || us < q.Earliest || us > q.Latest {
			return false
		}
		row.State, row.Renewed = Granted, ms
		row.Floor = max(row.Ceiling, tick+r.flaws.future)
		row.Ceiling = row.Floor + t.Ticks(t.First)
	case AskRenew:
		mine = mine || r.flaws.anyOwner
		lapsed := t.Loss > 0 && tick >= row.Ceiling && !r.flaws.lapsedToo
		soon := t.Loss > 0 && us < (row.Renewed+t.MinRenew.Milliseconds())*1000 && !r.flaws.unspaced
		lapse := q.Lapse
		if r.flaws.oneLapse {
			lapse = q.Acked
		}
		undead := !r.flaws.anyOwner && q.Acked <= row.Floor && tick >= lapse
		if !mine || row.State != Granted || row.Ceiling < q.Acked || undead || lapsed || soon {
			return false
		}
		limit := q.Cap
		if r.flaws.uncapped {
			limit = tick + q.Window
		}
		if r.flaws.raiseOnRow {
			limit = row.Ceiling + t.Ticks(t.Raise)
		}
		row.Ceiling, row.Renewed = max(row.Ceiling, min(tick+q.Window, limit)), ms
	case AskReassert:
		if !mine || row.State != Granted {
			return false
		}
		row.Ceiling, row.Renewed = max(row.Ceiling, q.Acked), ms
	case AskConfirm:
		if !mine || row.State != q.State || row.Ceiling != q.Seen {
			return false
		}
		row.Renewed = ms
	case AskRelease:
		if !mine || row.State != Granted || row.Floor > q.Next {
			return false
		}
		row.State, row.Owner, row.Ceiling, row.Renewed = Free, "", q.Next, ms
	case AskAbandon:
		if !mine || row.State != Claimed {
			return false
		}
		row.State, row.Owner, row.Renewed = Free, "", ms
		if !r.flaws.bareAbandon {
			row.Ceiling = max(row.Ceiling, t.TickAt((row.Claimed+t.Probation.Milliseconds())*1000))
		}
	default:
		return false
	}
	return true
}

func (r *simRegistry) free(q Request, us int64) Reply {
	var out Reply
	for i := max(q.Start, 0); i < min(q.End, int64(len(r.Rows))) && len(out.Free) < 16; i++ {
		if row := r.Rows[i]; r.eligible(row, us) {
			out.Free = append(out.Free, FreeRow{i, row.Fence, row.Ceiling})
		}
	}
	return out
}

func (r *simRegistry) census(us int64) Reply {
	t := &r.Params
	var c Census
	var all []int64
	for _, row := range r.Rows {
		late := (row.Renewed + 2*t.RenewEvery(t.Window).Milliseconds() + 1000) * 1000
		if row.State == Claimed || row.State == Granted && t.TickAt(us) < row.Ceiling && us < late {
			c.Live++
		}
		switch row.State {
		case Free:
			all = append(all, row.Ceiling-t.Ticks(Slack))
		case Granted:
			all = append(all, row.Ceiling+t.Ticks(t.Grace))
		case Claimed:
			all = append(all, max(t.TickAt((row.Claimed+t.Claim.Milliseconds()+t.Grace.Milliseconds())*1000), row.Ceiling-t.Ticks(Slack)))
		}
		if row.State != Reserved {
			c.All++
		}
	}
	if len(all) > 0 {
		c.Earliest = slices.Min(all)
	}
	return Reply{Census: c}
}

// Fence is what the statement of Fence does when the database's clock says us and the process's clock local, at the
// true time at.
func (r *simRegistry) Fence(us, local int64, at time.Duration) {
	for i := range r.Rows {
		r.log = append(r.log, simCommit{at, int64(i), r.Rows[i]})
		r.Rows[i].Ceiling = max(r.Rows[i].Ceiling, r.fenceAt(max(us, local)))
		if !r.flaws.flatFence {
			r.Rows[i].Floor = r.Rows[i].Ceiling
		}
	}
}

// fenceAt returns the ceiling that Fence gives to a row.
func (r *simRegistry) fenceAt(us int64) int64 {
	t := &r.Params
	skews := 4 * DefaultMaxSkew
	if r.flaws.oneClock {
		skews = DefaultMaxSkew
	}
	return t.TickAt(us) + t.Ticks(max(t.Window, t.Pinned)) + t.Ticks(skews) + t.Ticks(Slack) + 1
}

// Fenced reports whether every row is still fenced as a Fence at a time of its process left it.
func (r *simRegistry) Fenced(local int64) bool {
	for i := range r.Rows {
		if r.Rows[i].Floor < r.fenceAt(local) && !r.flaws.flatFence {
			return false
		}
	}
	return true
}

// lose undoes the writes that became durable after a true time, and returns how
// many there were.
func (r *simRegistry) lose(after time.Duration) int {
	n := 0
	for len(r.log) > 0 && r.log[len(r.log)-1].durable > after {
		last := r.log[len(r.log)-1]
		r.log = r.log[:len(r.log)-1]
		r.Rows[last.worker] = last.before
		n++
	}
	return n
}
