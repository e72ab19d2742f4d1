package dryrun

import (
	"context"
	"errors"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A packetTrial finds rows of a table that no statement takes to the target: on MySQL they are longer than
// max_allowed_packet. The server ends a session that sends such a statement, so the trial has one of its own.
type packetTrial struct {
	*dryRun
	table   string
	columns []*plan.Column
	limit   int // of the target, in bytes; 0 if there is none
	insert  *chunk.Inserter
	session *chunk.Session
}

func newPacketTrial(ctx context.Context, d *dryRun, table string, columns []*plan.Column) (*packetTrial, error) {
	p := &packetTrial{dryRun: d, table: table, columns: columns}
	if d.Engine.Kind != sqlsnow.MySQL || len(columns) == 0 {
		return p, nil
	}
	var err error
	p.limit, err = chunk.NewInserter(d.conns.Target, table, columns).Limit(ctx)
	return p, err
}

// judge returns a [*chunk.PacketError] if the target takes no statement with a row.
func (p *packetTrial) judge(ctx context.Context, r *rekey.Row) (*chunk.PacketError, error) {
	size := chunk.SizeOf(r.New)
	if p.limit == 0 || 2*size < p.limit { // escaped texts are up to twice as long
		return nil, nil
	}
	if s := p.Target.DB.Stats(); p.session == nil && s.MaxOpenConnections > 0 && s.InUse >= s.MaxOpenConnections {
		if size > p.limit {
			return &chunk.PacketError{Size: size, Limit: p.limit}, nil
		}
		return nil, nil
	}
	if p.session == nil {
		var err error
		if p.session, err = p.Target.Open(ctx, p.Engine, p.Engine.Target); err != nil {
			return nil, err
		}
		p.insert = chunk.NewInserter(p.session, p.table, p.columns)
	}
	err := p.insert.Send(ctx, r.New)
	if err == nil {
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	_ = p.end() // the server has ended the session
	var packet *chunk.PacketError
	if errors.As(err, &packet) {
		return packet, nil
	}
	return nil, err
}

func (p *packetTrial) end() error {
	if p.session == nil {
		return nil
	}
	p.insert.Close()
	s := p.session
	p.session = nil
	return s.Close()
}

// longest returns the column with the longest value of a row.
func (p *packetTrial) longest(row []any) (column string) {
	most := -1
	for n, v := range row {
		if size := chunk.SizeOf([]any{v}); size > most {
			most, column = size, p.columns[n].Name
		}
	}
	return column
}
