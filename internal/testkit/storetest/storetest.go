package storetest

import (
	"context"
	"strings"
	"testing"

	"github.com/shardsnow/snow/lease"
)

// A Client is the functions of a store's package, with a client at a root that all clauses share. Values and keys are as
// package versioned has them.
type Client interface {
	Init(ctx context.Context, ns lease.Namespace) error
	Namespaces(ctx context.Context, names ...string) ([]lease.Namespace, error)
	Acquire(ctx context.Context, cfg lease.Config) (*lease.Lease, error)
	Workers(ctx context.Context, namespace string) ([]lease.WorkerInfo, error)
	Fence(ctx context.Context, namespace string) error
	Reserve(ctx context.Context, namespace, holder string) (lease.Reservation, error)
	Reclaim(ctx context.Context, namespace, holder string, worker uint64) (lease.Reservation, error)

	At(root string) Client                                          // another root below this one
	Wired(t *testing.T, write func(send func() error) error) Client // one whose writes of rows go through write
	Get(ctx context.Context, key string) (value []byte, err error)  // a key that must exist
	Put(ctx context.Context, key string, value []byte) error        // as the package itself writes it
	Delete(ctx context.Context, key string) error
}

// Run checks the clauses of sqlsnow/sqlsnowtest that are about leases, and not about tables, sessions, transactions or a LossWindow.
func Run(t *testing.T, c Client) {
	for name, check := range map[string]func(s *space){
		"3": noNamespace, "4": initAgain, "5": initDefaults, "6": initMismatch, "7": badNamespaces, "8 9": namesOfNamespaces,
		"13": windowsBegin, "14": onlyEligible, "15": noneFree, "16": badConfigs, "17": idsCarryNumbers, "18": manyAtOnce, "19": raceForOne,
		"20": staleAcquire, "21": cancelledAcquire, "22": unknownAcquire, "24": workersShow, "25": renewalRaises,
		"26 27": displaced, "28": regressed, "30": reservedMeanwhile, "31": vanished, "33": unknownRenewal, "34": lateRenewal, "35": lateRelease,
		"39 42": closeFrees, "40": closeUnused, "45 46": pinned, "48": pinnedLost, "59": fenced, "62 63": reserveAtOnce, "64": unknownReserve,
		"70": closeLost, "71": closeTwice, "74": madeAnew, "75": reclaims,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(&space{T: t, c: c, name: "clause-" + strings.ReplaceAll(name, " ", "-")})
		})
	}
}
