package sqlsnow

import (
	"slices"
	"time"
)

// A simRow is a row of snow_workers, and who wrote it.
type simRow struct {
	row
	renewed int64
	by      int // the incarnation that took the row; 0 if nobody did
}

// A simCommit undoes a write: a failover or a power cut may lose it.
type simCommit struct {
	durable time.Duration // true time from which on a power cut does not lose it
	worker  int64
	before  simRow
}

// A simRegistry is the tables in memory, with the semantics of statements.go.
// Its clock is what the caller says.
type simRegistry struct {
	terms terms
	rows  []simRow
	log   []simCommit
	flaws simFlaws

	stalled time.Duration // until when no write becomes durable, though all are seen
	durable time.Duration // the true time at which the last write is

	// wrote is told of each write, if not nil.
	wrote func(q request, by int, before, after simRow, us int64)
}

func newSimRegistry(t terms) *simRegistry {
	return &simRegistry{terms: t, rows: make([]simRow, t.workers)}
}

func (r *simRegistry) eligible(row simRow, us int64) bool {
	t := &r.terms
	tick := t.tickAt(us)
	switch row.state {
	case Free:
		return row.ceiling <= tick+t.ticks(slack)
	case Granted:
		return tick >= row.ceiling+t.ticks(t.grace)
	case Claimed:
		ahead := row.ceiling > tick+t.ticks(slack) && !r.flaws.earlyClaim
		return us > (row.claimed+t.claim.Milliseconds()+t.grace.Milliseconds())*1000 && !ahead
	}
	return false
}

// do executes a request of the incarnation by, at the true time at, when the
// database's clock says us.
func (r *simRegistry) do(q request, us int64, at time.Duration, by int) reply {
	switch q.ask {
	case askFacts:
		return reply{us: us, facts: facts{us: us}, uuid: r.terms.uuid}
	case askFree:
		return r.free(q, us)
	case askCensus:
		return r.census(us)
	}
	if q.worker < 0 || q.worker >= int64(len(r.rows)) {
		return reply{}
	}
	before := r.rows[q.worker]
	if q.ask == askRow {
		return reply{us: us, row: &before.row}
	}
	after := before
	if !r.update(&after, q, us, by) {
		return reply{}
	}
	r.durable = max(r.durable, r.stalled, at) // one after the other
	r.log = append(r.log, simCommit{r.durable, q.worker, before})
	r.rows[q.worker] = after
	if r.wrote != nil {
		r.wrote(q, by, before, after, us)
	}
	out := reply{changed: true, us: us}
	if r.flaws.tellsRow {
		out.row = &after.row
	}
	return out
}

// update changes a row as the statement of q does, and reports whether it does.
func (r *simRegistry) update(row *simRow, q request, us int64, by int) bool {
	t := &r.terms
	tick, ms := t.tickAt(us), us/1000
	mine := row.owner == q.owner && row.fence == q.fence && row.owner != ""
	switch q.ask {
	case askTake, askClaim:
		same := row.fence == q.fence && row.ceiling == q.seen
		if !same || us < q.earliest || us > q.latest || !r.eligible(*row, us) {
			return false
		}
		row.state, row.owner, row.holder, row.claimed, row.by = Claimed, q.owner, q.holder, ms, by
		row.fence++
		if q.ask == askTake {
			row.state, row.renewed = Granted, ms
			row.floor = max(row.ceiling, tick+r.flaws.future)
			row.ceiling = row.floor + q.window
		}
	case askGrant:
		early := us < (row.claimed+t.probation.Milliseconds())*1000 || us > (row.claimed+t.claim.Milliseconds())*1000
		same := row.ceiling == q.seen || r.flaws.blindGrant
		if !mine || row.state != Claimed || !same || early || us < q.earliest || us > q.latest {
			return false
		}
		row.state, row.renewed = Granted, ms
		row.floor = max(row.ceiling, tick+r.flaws.future)
		row.ceiling = row.floor + t.ticks(t.first)
	case askRenew:
		mine = mine || r.flaws.anyOwner
		lapsed := t.loss > 0 && tick >= row.ceiling && !r.flaws.lapsedToo
		soon := t.loss > 0 && us < (row.renewed+t.minRenew.Milliseconds())*1000 && !r.flaws.unspaced
		undead := !r.flaws.anyOwner && q.acked <= row.floor && tick >= q.acked
		if !mine || row.state != Granted || row.ceiling < q.acked || undead || lapsed || soon {
			return false
		}
		limit := q.cap
		if r.flaws.uncapped {
			limit = tick + q.window
		}
		if r.flaws.raiseOnRow {
			limit = row.ceiling + t.ticks(t.raise)
		}
		row.ceiling, row.renewed = max(row.ceiling, min(tick+q.window, limit)), ms
	case askReassert:
		if !mine || row.state != Granted {
			return false
		}
		row.ceiling, row.renewed = max(row.ceiling, q.acked), ms
	case askConfirm:
		if !mine || row.state != q.state || row.ceiling != q.seen {
			return false
		}
		row.renewed = ms
	case askRelease:
		if !mine || row.state != Granted || row.floor > q.next {
			return false
		}
		row.state, row.owner, row.ceiling, row.renewed = Free, "", q.next, ms
	case askAbandon:
		if !mine || row.state != Claimed {
			return false
		}
		row.state, row.owner, row.renewed = Free, "", ms
		if !r.flaws.bareAbandon {
			row.ceiling = max(row.ceiling, t.tickAt((row.claimed+t.probation.Milliseconds())*1000))
		}
	default:
		return false
	}
	return true
}

func (r *simRegistry) free(q request, us int64) reply {
	var out reply
	for i := max(q.start, 0); i < min(q.end, int64(len(r.rows))) && len(out.free) < 64; i++ {
		if row := r.rows[i]; r.eligible(row, us) {
			out.free = append(out.free, free{i, row.fence, row.ceiling})
		}
	}
	return out
}

func (r *simRegistry) census(us int64) reply {
	t := &r.terms
	var c census
	var all []int64
	for _, row := range r.rows {
		late := (row.renewed + 2*renewEvery(t.window).Milliseconds() + 1000) * 1000
		if row.state == Claimed || row.state == Granted && t.tickAt(us) < row.ceiling && us < late {
			c.live++
		}
		switch row.state {
		case Free:
			all = append(all, row.ceiling-t.ticks(slack))
		case Granted:
			all = append(all, row.ceiling+t.ticks(t.grace))
		case Claimed:
			all = append(all, max(t.tickAt((row.claimed+t.claim.Milliseconds()+t.grace.Milliseconds())*1000), row.ceiling-t.ticks(slack)))
		}
		if row.state != Reserved {
			c.all++
		}
	}
	if len(all) > 0 {
		c.earliest = slices.Min(all)
	}
	return reply{census: c}
}

// fence is what Fence does.
func (r *simRegistry) fence(us int64) {
	t := &r.terms
	for i := range r.rows {
		r.rows[i].ceiling = max(r.rows[i].ceiling, t.tickAt(us)+t.ticks(max(t.window, t.pinned)+defaultMaxSkew))
		if !r.flaws.flatFence {
			r.rows[i].floor = r.rows[i].ceiling
		}
	}
	r.log = nil // Fence is in every backup from now on
}

// lose undoes the writes that became durable after a true time, and returns how
// many there were.
func (r *simRegistry) lose(after time.Duration) int {
	n := 0
	for len(r.log) > 0 && r.log[len(r.log)-1].durable > after {
		last := r.log[len(r.log)-1]
		r.log = r.log[:len(r.log)-1]
		r.rows[last.worker] = last.before
		n++
	}
	return n
}
