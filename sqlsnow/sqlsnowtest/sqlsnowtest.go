package sqlsnowtest

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/shardsnow/snow/sqlsnow"
)

// A Database is an empty database, and the ways to reach it.
type Database struct {
	// Open returns a new handle of the database. Every call returns another
	// one, as in another process. Run closes it.
	Open func(t *testing.T) *sql.DB

	// ReadOnly returns a handle that takes no writes, as that of a replica. Nil
	// skips the clause that needs it.
	ReadOnly func(t *testing.T) *sql.DB

	// NotDurable returns a handle on which the server confirms what it may
	// forget, by its settings or the session's. Nil skips the clause.
	NotDurable func(t *testing.T) *sql.DB

	// Sessions are handles, by a name in lower case, that differ from Open's in
	// settings of the driver or the session. The lease must not mind. They may
	// be none.
	Sessions map[string]func(t *testing.T) *sql.DB
}

// contract is the list in the doc comment of the package.
var contract = []struct {
	sentence string
	check    func(*suite)
}{
	{"Migrate makes the tables, and called again, by several at once, it changes nothing.", migrateAgain},
	{"Without Migrate every call returns ErrNotMigrated and says what to call.", unmigrated},
	{"Without Init every call returns ErrNoNamespace and says what to call.", uninitialised},
	{"Init again, by several at once and while numbers are leased, changes nothing.", initAgain},
	{"Init fills in defaults: 1,024 workers or what the layout has, 10 min, 30 s, no loss.", initWithDefaults},
	{"Init with another layout or other constants returns ErrNamespaceMismatch and changes nothing.", initMismatch},
	{"Init refuses bad fields with a FieldError.", badNamespaces},
	{"Names of namespaces differ by case, and have up to 64 characters.", namesOfNamespaces},
	{"Namespaces in one database do not touch each other.", separateNamespaces},
	{"A read-only database is ErrReadOnly, and Workers reads it.", readOnly},
	{"A database that does not sync what it confirms is ErrNotDurable.", notDurable},
	{"No number is taken and no window renewed on a session that does not sync, whatever earlier ones did.", notDurableLater},

	{"A window begins at the later of now and the number's former ceiling, and has the namespace's length.", windowsBegin},
	{"A number is taken only when its window, claim or release is over, a reserved one never.", onlyEligible},
	{"With no number free, Acquire returns a NoWorkerError with what is live, what cools and until when.", noneFree},
	{"Acquire refuses bad numbers and fields with a FieldError and takes nothing.", badConfigs},
	{"Ids carry the datacenter and the worker number of the lease, which Stats shows.", idsCarryNumbers},
	{"A hundred that acquire at once get different numbers and different ids.", manyAtOnce},
	{"Of several that want the last number one gets it.", raceForOne},
	{"A number that changed after it was found free is not taken on old knowledge.", staleAcquire},
	{"An Acquire whose context ends keeps no number.", cancelledAcquire},
	{"An Acquire whose answer is lost fails, or has a number by another statement.", unknownAcquire},
	{"The holder's name is stored as valid UTF-8 of at most 255 characters.", holderNames},
	{"Workers shows every number with its state, holder, fence and times.", workersShow},

	{"A renewal is one statement, after a look at the session, and extends the window to its full length from now.", renewalRaises},
	{"A lease whose number was given to another is displaced: it swaps to a free number, and ids ascend.", displaced},
	{"The owner, not the fence, tells whose number it is.", sameFence},
	{"A lease whose ceiling went back sets it again and swaps to another number.", regressed},
	{"It does not set a ceiling that is higher by then, or another holder's.", lateReassertion},
	{"A lease that the database has forgotten, or whose number was reserved, swaps to another number.", forgotten},
	{"A lease whose row is gone swaps to another number.", vanished},
	{"A lease that lost its number and finds no other makes ids to the end of its window, and again once it has one.", lostAndNoneFree},
	{"A renewal whose answer is lost is not counted upon.", unknownRenewal},
	{"A renewal that arrives late does not touch the next holder's row.", lateRenewal},
	{"A release that arrives late does not touch the next holder's row.", lateClose},
	{"Close ends the generator before it waits for a renewal under way, and frees the number.", closeDuringRenewal},
	{"A lease that the database did not answer for longer than the window goes on if nobody took the number.", outage},
	{"If somebody took it, the lease swaps to another number.", outageTooLong},

	{"Close ends the generator, lowers the ceiling to what was used, frees the number, and again returns the same.", closeFrees},
	{"Close without a single id gives the window back.", closeUnused},
	{"Close keeps the ticks that were borrowed from the future.", closeBorrowed},
	{"The next holder's ids are greater than the former one's.", nextHolderStartsAbove},
	{"Close without a database returns an error and ends; ids flow to the end of the window until then.", closeWithoutDatabase},
	{"Close with a context that has ended ends the generator.", closeCancelled},

	{"A pinned number that is held is a HeldError when the context ends, and nobody else gets it.", pinnedHeld},
	{"A pinned number is handed over when its holder closes.", pinnedAfterClose},
	{"A pinned number is handed over when its holder is gone and the window over.", pinnedAfterCrash},
	{"A pinned lease that lost its number ends with its window and takes no other.", pinnedLost},
	{"A pinned lease whose ceiling went back sets it again and takes no other number.", pinnedRegressed},

	{"With a LossWindow, the constants cover the commits that may be lost.", lossConstants},
	{"With a LossWindow, a number is claimed, granted after the probation, and raised in steps.", lossGrant},
	{"With a LossWindow, the database grants after the probation and within the time of a claim.", lossGrantTime},
	{"With a LossWindow, a claim that another process took is left alone.", lossClaimTaken},
	{"With a LossWindow, a claim that Fence came upon does not begin before the fence.", lossClaimFenced},
	{"With a LossWindow, an Acquire whose context ends leaves a claim at most, and no other's.", lossCancelled},
	{"With a LossWindow, the database refuses a renewal that comes too soon after another one.", lossRenewedTwice},
	{"With a LossWindow, a displaced lease gets another number after a probation.", lossDisplaced},
	{"With a LossWindow, a window that is over is not renewed: the lease gets another number.", lossLapsed},

	{"Fence raises every ceiling to a window from now or a little more; live leases go on, and nobody gets a number before that.", fence},
	{"Settings of driver and session make no difference.", sessions},
	{"Whatever leases do, windows of one number never overlap, and ids stay inside them.", randomHistories},

	{"Reserve takes the highest number that was never leased nor fenced, for ever, and the same one for the same holder.", reserveUnused},
	{"Of many that reserve at once, those for one holder get one number, and each holder another one.", reserveAtOnce},
	{"A Reserve whose answer is lost fails, and the next one for the holder has one number.", reserveUnknown},
	{"Reserve on a replica is ErrReadOnly, on a session that does not sync ErrNotDurable.", reserveRefused},
	{"With a LossWindow, Reserve returns after a probation what the database still remembers.", lossReserve},

	{"Between the look at a ceiling that went back and its reassertion no id is made, and none if another has the number by then.", seizedBeforeReassertion},
	{"Where the ceiling is set again and no other number is free, ids go on to the end of the window.", reassertedAndNoneFree},
	{"With a LossWindow, a lease whose number was given to another inside its window makes no more ids.", lossSeized},
	{"Close of a lease whose number is not its own any more returns a LostError, and is not told as a release.", closeLost},
	{"A release that the database did though its answer was lost is no loss.", closeTwice},
	{"On a connection that was left in a transaction nothing is written: another one is taken, or it is a DatabaseError with InTransaction.", leftInTransaction},
	{"Migrate on a connection that was left in a transaction is ErrInTransaction, and leaves none in one.", migrateLeft},
	{"Rows that were deleted and are made anew by Init give no number before the longest window is over.", rowsMadeAnew},
}

// Run checks that the leases of package sqlsnow keep their contract on a
// database. Each call of create makes an empty one, which nobody else uses.
//
// Run has a subtest for each clause. They run in parallel, with up to four
// connections for each handle. It returns when all of them have ended.
func Run(t *testing.T, d sqlsnow.Dialect, create func(t *testing.T) Database) {
	t.Helper()
	t.Run("contract", func(t *testing.T) {
		for i, clause := range contract {
			t.Run(fmt.Sprintf("%d %s", i+1, clause.sentence), func(t *testing.T) {
				t.Parallel()
				watched(t, func() {
					s := &suite{T: t, dialect: d, database: create(t)}
					s.db = s.open()
					if err := s.db.PingContext(t.Context()); err != nil {
						t.Fatalf("ping: %v", err)
					}
					clause.check(s)
				})
			})
		}
	})
}
