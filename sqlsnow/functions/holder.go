package functions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/sqlsnow"
)

// An entry of snow_id_holders says for whom the schema's number is reserved. The newest one counts.
type entry struct {
	id              int64
	holder          string // random, so no database takes the number of another one
	namespace, uuid string
	worker          sql.NullInt64 // null until the functions may have it
}

// errRenumbered says that another process began to renumber.
var errRenumbered = errors.New("the schema has another holder now")

func newest(ctx context.Context, conn *sql.Conn) (e entry, err error) {
	err = conn.QueryRowContext(ctx, "SELECT entry, holder, namespace, registry_uuid, worker FROM snow_id_holders ORDER BY entry DESC LIMIT 1").
		Scan(&e.id, &e.holder, &e.namespace, &e.uuid, &e.worker)
	return e, err
}

// prepare returns the entry to reserve for. It is stored before the number is taken, so a call that goes on after a
// crash takes the same one. A new one is stored only if nothing but a crash or the loss of a connection is in the
// way of the functions.
func (i installer) prepare(ctx context.Context, conn *sql.Conn, free sqlsnow.Reservation, none error, again bool) (entry, error) {
	if _, err := conn.ExecContext(ctx, i.server.holders); err != nil {
		return entry{}, err
	}
	e, err := newest(ctx, conn)
	first := errors.Is(err, sql.ErrNoRows)
	switch {
	case err != nil && !first:
		return entry{}, err
	case !first && !i.cfg.Move && (e.namespace != i.cfg.Namespace || e.uuid != free.UUID):
		return entry{}, &snow.FieldError{
			Field: "Namespace", Value: strconv.Quote(i.cfg.Namespace) + " (" + free.UUID + ")",
			Bound: fmt.Sprintf("the functions have a number of %q (%s), and only Move takes one of another namespace", e.namespace, e.uuid),
		}
	}
	fresh := first || again || e.namespace != i.cfg.Namespace
	if fresh && none != nil {
		return entry{}, none
	}
	worker := free.Worker
	if !fresh && e.worker.Valid {
		worker = uint64(e.worker.Int64)
	}
	m, err := makerOf(i.engine.Dialect, free.Layout, i.cfg.Datacenter, worker)
	if err != nil {
		return entry{}, err
	}
	if err := i.try(ctx, conn, m); err != nil || !fresh {
		return e, err
	}
	p := i.engine.Dialect.Placeholder
	holder := "ids made in SQL, " + names.NewUUID()
	if _, err := conn.ExecContext(ctx, "INSERT INTO snow_id_holders (holder, namespace, registry_uuid) VALUES ("+p(1)+", "+p(2)+", "+p(3)+")",
		holder, i.cfg.Namespace, free.UUID); err != nil {
		return entry{}, err
	}
	return newest(ctx, conn)
}

// reserve takes the number of an entry.
func (i installer) reserve(ctx context.Context, e entry) (sqlsnow.Reservation, error) {
	if e.worker.Valid {
		return sqlsnow.Reclaim(ctx, i.cfg.Leases, i.cfg.LeasesDialect, i.cfg.Namespace, e.holder, uint64(e.worker.Int64))
	}
	return sqlsnow.Reserve(ctx, i.cfg.Leases, i.cfg.LeasesDialect, i.cfg.Namespace, e.holder)
}

// record stores which number the functions get. If another entry is the newest by now, it returns errRenumbered:
// the functions must not get the number of this one. So the schema is also the one that the entry was stored in.
func (i installer) record(ctx context.Context, conn *sql.Conn, e entry, r sqlsnow.Reservation) error {
	now, err := newest(ctx, conn)
	if errors.Is(err, sql.ErrNoRows) || err == nil && now.holder != e.holder {
		return errRenumbered
	} else if err != nil {
		return err
	}
	p := i.engine.Dialect.Placeholder
	_, err = conn.ExecContext(ctx, "UPDATE snow_id_holders SET worker = "+p(1)+", registry_uuid = "+p(2)+" WHERE entry = "+p(3), int64(r.Worker), r.UUID, e.id)
	return err
}
