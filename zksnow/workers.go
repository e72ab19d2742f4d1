package zksnow

import (
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/leases"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/internal/versioned"
	"github.com/shardsnow/snow/lease"
)

// The types of package lease for the numbers of a namespace.
type (
	// A WorkerInfo says who holds a worker number, and until when. Times are the leader's.
	WorkerInfo = lease.WorkerInfo

	// A Reservation is a worker number that is never leased.
	Reservation = lease.Reservation
)

// Workers returns all worker numbers of a namespace, in ascending order. It may be called at any time. It returns the
// errors of [Acquire], and a [*DamagedError] for a znode that somebody wrote by hand.
func Workers(ctx context.Context, conn *zk.Conn, root, namespace string) ([]WorkerInfo, error) {
	all, err := workers(ctx, conn, root, namespace)
	if err != nil {
		return nil, fmt.Errorf("zksnow: workers of namespace %q: %w", namespace, err)
	}
	return all, nil
}

func workers(ctx context.Context, conn *zk.Conn, root, namespace string) ([]WorkerInfo, error) {
	r, err := open(ctx, conn, root, namespace)
	if err != nil {
		return nil, err
	}
	rows, err := r.Workers(ctx)
	if err != nil {
		return nil, exported("workers", err)
	}
	all := make([]WorkerInfo, len(rows))
	for i, row := range rows {
		all[i] = leases.Info(&r.Params, row.Number, row.Row.Row, row.Renewed)
	}
	return all, nil
}

// Reserve takes the highest worker number that was never leased, and gives it to holder for ever. All of its ticks are
// the holder's, also ticks of the past, for example to give ids to rows that are older than the namespace. Another call
// with the same holder returns the same number, so use a holder's name for one purpose only. A name is 1 to 255 bytes
// of UTF-8 without control characters and without a space at its end; any other name is a [*snow.FieldError].
//
// The caller must not make the same id twice with the number. If every number was leased, reserved or fenced before,
// Reserve returns a [*NoWorkerError] whose EarliestFree is zero. Other errors are as for [Workers].
func Reserve(ctx context.Context, conn *zk.Conn, root, namespace, holder string) (Reservation, error) {
	r, err := reserve(ctx, conn, root, namespace, holder, func(r *versioned.Registry) (int64, error) { return r.Reserve(ctx, holder) })
	if err != nil {
		return Reservation{}, fmt.Errorf("zksnow: reserve a worker of namespace %q: %w", namespace, err)
	}
	return r, nil
}

// Reclaim gives holder the worker number again that it had from [Reserve] in a namespace that has forgotten this,
// because an older copy of the data was put back or it was made anew. It may be called before or after [Fence].
// worker must be the number that the holder had: nobody else ever got it, so Reclaim gives it back also if it was
// fenced.
//
// If the number was leased or reserved for another holder since, Reclaim returns a [*HeldError], whose Until is zero
// for a reservation. Then the holder must make no more ids with the number, and ids that it made since then may exist
// twice. Other errors are as for Reserve; a number that the namespace does not have is a [*snow.FieldError].
func Reclaim(ctx context.Context, conn *zk.Conn, root, namespace, holder string, worker uint64) (Reservation, error) {
	r, err := reserve(ctx, conn, root, namespace, holder, func(r *versioned.Registry) (int64, error) {
		if worker >= uint64(r.Params.Workers) {
			return 0, &snow.FieldError{Field: "worker", Value: fmt.Sprint(worker), Bound: fmt.Sprintf("the namespace has %d", r.Params.Workers)}
		}
		return int64(worker), r.Reclaim(ctx, holder, int64(worker))
	})
	if err != nil {
		return Reservation{}, fmt.Errorf("zksnow: reclaim worker %d of namespace %q: %w", worker, namespace, err)
	}
	return r, nil
}

// Reservable returns what [Reserve] would return now, and writes nothing: another process may take the number
// afterwards. It returns the errors of Reserve. With a [*NoWorkerError] it returns the namespace's layout and UUID
// too.
func Reservable(ctx context.Context, conn *zk.Conn, root, namespace, holder string) (Reservation, error) {
	r, err := reserve(ctx, conn, root, namespace, holder, func(r *versioned.Registry) (int64, error) { return r.Reservable(ctx, holder) })
	if err != nil {
		return r, fmt.Errorf("zksnow: look for a worker of namespace %q: %w", namespace, err)
	}
	return r, nil
}

// reserve returns the reservation of the number that choose returns. After an error of choose, it has the namespace's
// layout and UUID.
func reserve(ctx context.Context, conn *zk.Conn, root, namespace, holder string, choose func(*versioned.Registry) (int64, error)) (Reservation, error) {
	if err := names.CheckHolder(holder); err != nil {
		return Reservation{}, err
	}
	r, err := open(ctx, conn, root, namespace)
	if err != nil {
		return Reservation{}, err
	}
	out := Reservation{Layout: r.Params.Layout, UUID: r.Params.UUID}
	worker, err := choose(r)
	if err != nil {
		return out, exported("reserve", err)
	}
	out.Worker = uint64(worker)
	return out, nil
}
