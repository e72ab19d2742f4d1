package sqlsnow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/shardsnow/snow"
)

// Open makes the tables and the namespace if they are missing, leases a worker
// number, and returns a generator of ids with that number. It calls [Migrate],
// [Init], [Acquire] and [snow.NewGenerator], in this order:
//
//	keys, lease, err := sqlsnow.Open(ctx, db, sqlsnow.MySQL,
//		sqlsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout()}, sqlsnow.LeaseConfig{})
//	defer lease.Close(context.Background())
//
// Every process may call Open each time that it starts, and any number of
// processes may call it at the same time: one of them makes what is missing, the
// others wait for it, and each gets a worker number of its own. If nothing is
// missing, Open only reads until it leases the number. So only the first call needs
// an account that may create tables. Later ones need SELECT on the tables snow_* and
// UPDATE on snow_workers. If a migration tool makes the tables, use Acquire instead:
// Open would also make a table snow_migrations.
//
// The lease renews itself in the background until Close; ctx only bounds the call.
// One generator is enough for a process. cfg.Namespace may be left empty; if it is
// not, a name other than ns.Name is a [*snow.FieldError]. cfg.Generator configures the
// generator.
//
// Open returns the errors of the functions that it calls, such as
// [ErrNamespaceMismatch] if the namespace exists with another layout or other
// constants, [ErrNotDurable] and [*NoWorkerError]. After an error no number is
// leased, with the exception that Acquire has; tables and rows that were made
// stay, and the next call goes on from there.
func Open(ctx context.Context, db *sql.DB, d Dialect, ns Namespace, cfg LeaseConfig) (*snow.Generator, *Lease, error) {
	if cfg.Namespace == "" {
		cfg.Namespace = ns.Name
	}
	if cfg.Namespace != ns.Name {
		return nil, nil, fmt.Errorf("sqlsnow: open: %w", &snow.FieldError{
			Field: "LeaseConfig.Namespace", Value: strconv.Quote(cfg.Namespace), Bound: "want the Namespace's, " + strconv.Quote(ns.Name) + ", or none",
		})
	}
	if err := Migrate(ctx, db, d); err != nil {
		return nil, nil, err
	}
	if err := Init(ctx, db, d, ns); err != nil {
		return nil, nil, err
	}
	ids := cfg.Generator
	cfg.Generator = snow.Config{}
	lease, err := Acquire(ctx, db, d, cfg)
	if err != nil {
		return nil, nil, err
	}
	keys, err := snow.NewGenerator(lease, ids)
	if err != nil {
		return nil, nil, errors.Join(err, lease.Close(context.WithoutCancel(ctx)))
	}
	return keys, lease, nil
}
