package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/shardsnow/snow/sqlsnow/internal/dberrors"
	"github.com/shardsnow/snow/sqlsnow/internal/dbserver"
	"github.com/shardsnow/snow/sqlsnow/internal/protocol"
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
		var got protocol.Row
		var owner sql.NullString
		err = r.queryRow(ctx, q).Scan(&got.State, &owner, &got.Fence, &got.Floor, &got.Ceiling, &got.Claimed, &got.Holder, &out.Now)
		got.Owner = owner.String
		if err == nil {
			out.Row = &got
		} else if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
	default:
		out.Changed, out.Now, err = r.update(ctx, texts[q.Ask], r.values(q))
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
		"state": int64(q.State), "seen": q.Seen, "acked": q.Acked, "cap": q.Cap, "window": q.Window, "next": q.Next,
		"earliest": q.Earliest, "latest": q.Latest,
	}
}

func (r *Registry) queryRow(ctx context.Context, q protocol.Request) *sql.Row {
	s := compile(r.Engine, texts[q.Ask])
	return r.DB.QueryRowContext(ctx, s.Text, s.Args(r.values(q))...)
}

func (r *Registry) server(ctx context.Context) (protocol.Reply, error) {
	info, err := r.Engine.Info(ctx, r.DB)
	if err != nil {
		return protocol.Reply{}, err
	}
	// The UUID shows whether it is still the same namespace, and not a copy or one that was deleted and made again.
	p, err := Read(ctx, r.Engine, r.DB, r.Params.Name)
	return protocol.Reply{Now: info.Now, Unfit: info.Check(r.Params.Loss), UUID: p.UUID}, err
}

func (r *Registry) free(ctx context.Context, q protocol.Request) ([]protocol.FreeRow, error) {
	s := compile(r.Engine, texts[q.Ask])
	rows, err := r.DB.QueryContext(ctx, s.Text, s.Args(r.values(q))...)
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

// update executes an UPDATE of one row, and returns the database's clock if it changed the row.
func (r *Registry) update(ctx context.Context, text string, values map[string]any) (changed bool, us int64, err error) {
	s := compile(r.Engine, text)
	err = r.Engine.Write(ctx, r.DB, use(&r.Params), func(on *dbserver.Session) (_ bool, err error) {
		changed, err = on.Update(ctx, s, values, &us)
		return changed, err
	})
	if err == nil && changed && us <= 0 {
		err = fmt.Errorf("%w: the time is %d", dberrors.ErrBadReply, us)
	}
	return changed && err == nil, us, err
}
