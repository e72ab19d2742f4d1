package sqlsnow

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/internal/registry"
)

// Namespaces returns the namespaces with these names, in that order, as [Init]
// made them: nothing in them is left out or zero but LossWindow. Without names it returns all, by
// name. It takes no lock and may be called at any time. It returns the errors of
// [Acquire]; a name that does not exist is [ErrNoNamespace].
func Namespaces(ctx context.Context, db *sql.DB, d Dialect, names ...string) ([]Namespace, error) {
	all, err := namespaces(ctx, db, d, names)
	if err != nil {
		return nil, fmt.Errorf("sqlsnow: namespaces: %w", err)
	}
	return all, nil
}

func namespaces(ctx context.Context, db *sql.DB, d Dialect, chosen []string) ([]Namespace, error) {
	for _, name := range chosen {
		if err := names.Check("namespace", name); err != nil {
			return nil, err
		}
	}
	e, _, err := engine(ctx, db, d)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		if chosen, err = registry.Names(ctx, e, db); err != nil {
			return nil, exported(e, "read the names", err)
		}
	}
	all := make([]Namespace, 0, len(chosen))
	for _, name := range chosen {
		p, err := registry.Read(ctx, e, db, name)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, exported(e, "read the namespace", err))
		}
		all = append(all, Namespace{
			Name: p.Name, Layout: p.Layout, Workers: int(p.Workers),
			LossWindow: p.Loss, Window: p.Window, PinnedWindow: p.Pinned,
		})
	}
	return all, nil
}

// Clock returns the database's clock, which the times of [Workers] are to be
// compared with. It is older than the reply by up to a round trip. It returns the errors of Acquire.
func Clock(ctx context.Context, db *sql.DB, d Dialect) (time.Time, error) {
	_, info, err := engine(ctx, db, d)
	if err != nil {
		return time.Time{}, fmt.Errorf("sqlsnow: clock: %w", err)
	}
	return time.UnixMicro(info.Now).UTC(), nil
}
