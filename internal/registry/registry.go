package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/protocol"
)

// A Registry is the rows of one namespace in a database.
type Registry struct {
	DB     *sql.DB
	Engine *dbserver.Engine
	Params protocol.Params
}

// texts has the statement of each ask but AskServer.
var texts = map[protocol.Ask]string{
	protocol.AskFree:     selectFree,
	protocol.AskCensus:   selectCensus,
	protocol.AskRow:      selectRow,
	protocol.AskTake:     updateTake,
	protocol.AskClaim:    updateClaim,
	protocol.AskGrant:    updateGrant,
	protocol.AskRenew:    updateRenew,
	protocol.AskReassert: updateReassert,
	protocol.AskConfirm:  updateConfirm,
	protocol.AskRelease:  updateRelease,
	protocol.AskAbandon:  updateAbandon,
}

// Do sends a request and returns the reply.
func (r *Registry) Do(ctx context.Context, q protocol.Request) protocol.Reply {
	var out protocol.Reply
	var err error
	switch q.Ask {
	case protocol.AskServer:
		out, err = r.server(ctx)
	case protocol.AskFree:
		out.Free, err = r.free(ctx, q)
	case protocol.AskCensus:
		var earliest sql.NullInt64
		err = r.queryRow(ctx, q).Scan(&out.Census.Live, &out.Census.All, &earliest)
		out.Census.Earliest = earliest.Int64
	case protocol.AskRow:
		out, err = r.row(ctx, q)
	default:
		err = r.update(ctx, texts[q.Ask], r.values(q), &out)
	}
	if err != nil {
		return protocol.Reply{Err: err}
	}
	return out
}

func (r *Registry) values(q protocol.Request) map[string]any {
	p := &r.Params
	return map[string]any{
		"namespace": p.Name, "epoch": p.Layout.Epoch().UnixNano(), "tick": int64(p.Layout.Tick()),
		"slack": p.Ticks(protocol.Slack), "grace": p.Ticks(p.Grace), "grace_ms": p.Grace.Milliseconds(), "claim": p.Claim.Milliseconds(),
		"probation": p.Probation.Milliseconds(), "min_renew": p.MinRenew.Milliseconds(), "loss": p.Loss.Milliseconds(),
		"first": p.Ticks(p.First), "late": p.Late().Milliseconds(),
		"start": q.Start, "end": q.End, "worker": q.Worker, "owner": q.Owner, "fence": q.Fence, "holder": q.Holder,
		"state": int64(q.State), "seen": q.Seen, "acked": q.Acked, "lapse": q.Lapse, "cap": q.Cap, "window": q.Window, "next": q.Next,
		"earliest": q.Earliest, "latest": q.Latest, "registry": p.UUID,
	}
}

func (r *Registry) queryRow(ctx context.Context, q protocol.Request) *sql.Row {
	text, args := compile(r.Engine, texts[q.Ask]).Bind(r.values(q))
	return r.DB.QueryRowContext(ctx, text, args...)
}

func (r *Registry) server(ctx context.Context) (protocol.Reply, error) {
	p, err := Read(ctx, r.Engine, r.DB, r.Params.Name)
	if errors.Is(err, dberrors.ErrNoNamespace) {
		err = nil // and no UUID
	}
	if err == nil {
		err = r.check(p.UUID)
	}
	if err != nil {
		return protocol.Reply{}, err
	}
	info, err := r.Engine.Info(ctx, r.DB) // the last statement, because the clock is compared when the reply is there
	if err != nil {
		return protocol.Reply{}, err
	}
	return r.Greeting(info, p.UUID), nil
}

// Greeting returns the reply to protocol.AskServer of a server that said info about itself, and has the namespace with
// this registry_uuid.
func (r *Registry) Greeting(info dbserver.Info, uuid string) protocol.Reply {
	return protocol.Reply{Now: info.Now, Asked: info.Asked, Answered: info.Answered, Unfit: info.Check(r.Params.Loss), UUID: uuid}
}

// check returns an error if uuid is not the registry's: the namespace is gone, was made again, or the connection
// leads elsewhere. The lease may go on, because the next connection may lead to its registry.
func (r *Registry) check(uuid string) error {
	if uuid == r.Params.UUID {
		return nil
	}
	return fmt.Errorf("%w: the namespace has the registry_uuid %q there, not %q", dberrors.ErrElsewhere, uuid, r.Params.UUID)
}

// row reads a row as it is committed now: what an older transaction sees would tell of losses that are none.
func (r *Registry) row(ctx context.Context, q protocol.Request) (out protocol.Reply, err error) {
	var uuid string
	var state sql.NullInt64
	var owner, holder sql.NullString
	var fence, floor, ceiling, claimed sql.NullInt64
	s := compile(r.Engine, texts[q.Ask])
	err = r.Engine.Read(ctx, r.DB, func(on *dbserver.Session) (found bool, err error) {
		out.Asked = time.Now()
		found, err = on.Query(ctx, s, r.values(q), &uuid, &state, &owner, &fence, &floor, &ceiling, &claimed, &holder, &out.Now)
		return found, err
	})
	if err == nil {
		err = r.check(uuid)
	}
	if err != nil || !state.Valid {
		return protocol.Reply{}, err
	}
	out.Row = &protocol.Row{
		State: protocol.State(state.Int64), Owner: owner.String, Fence: fence.Int64, Floor: floor.Int64, Ceiling: ceiling.Int64,
		Claimed: claimed.Int64, Holder: holder.String,
	}
	return out, nil
}

func (r *Registry) free(ctx context.Context, q protocol.Request) ([]protocol.FreeRow, error) {
	text, args := compile(r.Engine, texts[q.Ask]).Bind(r.values(q))
	rows, err := r.DB.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []protocol.FreeRow
	for rows.Next() {
		var f protocol.FreeRow
		if err := rows.Scan(&f.Worker, &f.Fence, &f.Ceiling); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, rows.Err()
}

// update executes an UPDATE of one row. Its reply has the database's clock if it changed the row.
func (r *Registry) update(ctx context.Context, text string, values map[string]any, out *protocol.Reply) error {
	s := compile(r.Engine, text)
	err := r.Engine.Write(ctx, r.DB, use(&r.Params), func(on *dbserver.Session) (_ bool, err error) {
		out.Asked = time.Now()
		out.Changed, err = on.Update(ctx, s, values, &out.Now)
		return out.Changed, err
	})
	if err == nil && out.Changed && out.Now <= 0 {
		err = fmt.Errorf("%w: the time is %d", dberrors.ErrBadReply, out.Now)
	}
	return err
}
