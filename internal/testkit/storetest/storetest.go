package storetest

import (
	"context"
	"strings"
	"testing"

	"github.com/shardsnow/snow/lease"
)

// A Client is the functions of a store's package, with a client at a root that all clauses share. Values and keys are
// as package versioned has them.
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

// Run checks the clauses of sqlsnow/sqlsnowtest that stores have: see the documentation of the package.
func Run(t *testing.T, c Client) {
	for name, check := range map[string]func(s *space){
		"3": noNamespace, "4": initAgain, "5": initDefaults, "6": initMismatch, "7": badNamespaces, "8 9": namesOfNamespaces,
		"13": windowsBegin, "14": onlyEligible, "15": noneFree, "16": badConfigs, "17": idsCarryNumbers, "18": manyAtOnce, "19": raceForOne,
		"20": staleAcquire, "21": cancelledAcquire, "22": unknownAcquire, "23": holderNames, "24": workersShow, "25": renewalRaises,
		"26 27": displaced, "28": regressed, "29": lateReassertion, "30": reservedMeanwhile, "31": vanished,
		"32": lostAndNoneFree, "33": unknownRenewal, "34": lateRenewal, "35": lateRelease,
		"36": closeDuringRenewal, "37": outage, "38": outageTooLong, "39 42": closeFrees, "40": closeUnused, "41": closeBorrowed,
		"43": closeWithoutStore, "44": closeCancelled, "45 46": pinned, "47": pinnedAfterCrash, "48": pinnedLost, "49": pinnedRegressed,
		"59": fenced, "61": randomHistory, "62 63": reserveAtOnce, "64": unknownReserve,
		"67": seizedBeforeReassertion, "68": reassertedAndNoneFree, "70": closeLost, "71": closeTwice, "74": madeAnew, "75": reclaims, "put back": putBack,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(&space{T: t, c: c, name: "clause-" + strings.ReplaceAll(name, " ", "-")})
		})
	}
}
