package versioned

import "github.com/shardsnow/snow/internal/protocol"

// eligible reports whether anybody may take a row: it is free, or its window is over and nobody renewed it.
func eligible(p *protocol.Params, row *Row, tick int64) bool {
	switch row.State {
	case protocol.Free:
		return row.Ceiling <= tick+p.Ticks(protocol.Slack)
	case protocol.Granted:
		return tick >= row.Ceiling
	}
	return false
}

// apply changes a row as the statement of a request does, when the clock says us, and reports whether the statement's
// condition is true. The statements are in package registry.
func apply(p *protocol.Params, row *Row, q *protocol.Request, us int64) (changed bool, err error) {
	tick, ms := p.TickAt(us), us/1000
	mine := row.Owner == q.Owner && row.Fence == q.Fence && q.Owner != ""
	granted := mine && row.State == protocol.Granted
	switch q.Ask {
	case protocol.AskTake:
		if row.Fence != q.Fence || row.Ceiling != q.Seen || us < q.Earliest || us > q.Latest || !eligible(p, row, tick) {
			return false, nil
		}
		row.Floor = max(row.Ceiling, tick)
		row.Ceiling = row.Floor + q.Window
		row.State, row.Owner, row.Holder, row.Claimed = protocol.Granted, q.Owner, q.Holder, ms
		row.Fence++
	case protocol.AskRenew:
		if !granted || row.Ceiling < q.Acked || q.Acked <= row.Floor && tick >= q.Lapse {
			return false, nil
		}
		row.Ceiling = max(row.Ceiling, min(tick+q.Window, q.Cap))
	case protocol.AskReassert:
		if !granted {
			return false, nil
		}
		row.Ceiling = max(row.Ceiling, q.Acked)
	case protocol.AskConfirm:
		if !mine || row.State != q.State || row.Ceiling != q.Seen {
			return false, nil
		}
	case protocol.AskRelease:
		if !granted || row.Floor > q.Next {
			return false, nil
		}
		row.State, row.Owner, row.Ceiling = protocol.Free, "", q.Next
	default:
		return false, ErrUnsupported
	}
	row.Renewed = ms
	row.Seq++
	return true, nil
}

// reserve changes a row as the statement of a reservation does.
func reserve(row *Row, holder string, seen, us int64) bool {
	if row.State != protocol.Free || row.Fence != 0 || row.Ceiling != seen {
		return false
	}
	row.State, row.Owner, row.Holder, row.Claimed = protocol.Reserved, protocol.NewOwner(), holder, us/1000
	row.Fence++
	row.Seq++
	return true
}
