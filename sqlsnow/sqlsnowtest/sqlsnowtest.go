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

	// ReadOnly returns a handle that takes no writes, like a replica's. Nil
	// skips the clause that needs it.
	ReadOnly func(t *testing.T) *sql.DB

	// NotDurable returns a handle on which the settings of the server or the
	// session allow the server to forget what it confirmed. Nil skips the clause.
	NotDurable func(t *testing.T) *sql.DB

	// Sessions returns handles, by a name in lower case, with other settings of
	// the driver or the session than Open's. The settings must make no difference.
	// It may be nil.
	Sessions map[string]func(t *testing.T) *sql.DB
}

// contract is the list in the doc comment of the package.
var contract = []struct {
	sentence string
	check    func(*suite)
}{
	{"Migrate makes the tables. Called again, also by several at once, it changes nothing.", migrateAgain},
	{"Without Migrate, every call returns ErrNotMigrated and says what to call.", unmigrated},
	{"Without Init, every call returns ErrNoNamespace and says what to call.", uninitialised},
	{"Called again, also by several at once and while numbers are leased, Init changes nothing.", initAgain},
	{"Init fills in defaults: as many workers as the layout has, up to 1,024, 10 min, 30 s, no loss.", initWithDefaults},
	{"Init with another layout or other constants returns ErrNamespaceMismatch and changes nothing.", initMismatch},
	{"Init refuses bad fields with a FieldError.", badNamespaces},
	{"Names of namespaces differ by case, and have up to 64 characters.", namesOfNamespaces},
	{"Namespaces in one database do not touch each other.", separateNamespaces},
	{"A read-only database is ErrReadOnly, but Workers can read it.", readOnly},
	{"A database that does not sync what it confirms is ErrNotDurable.", notDurable},
	{"No number is taken and no window renewed on a session that does not sync, whatever earlier sessions did.", notDurableLater},

	{"A window begins at the later of now and the number's former ceiling, and has the namespace's length.", windowsBegin},
	{"A number is taken only when its window, claim or release is over. A reserved number is never taken.", onlyEligible},
	{"If no number is free, Acquire returns a NoWorkerError with how many are live and cooling, and until when.", noneFree},
	{"Acquire refuses bad numbers and fields with a FieldError and takes nothing.", badConfigs},
	{"Ids carry the datacenter and the worker number of the lease, which Stats shows.", idsCarryNumbers},
	{"A hundred processes that acquire at once get different numbers and different ids.", manyAtOnce},
	{"Of several processes that want the last number, one gets it.", raceForOne},
	{"A number that changed after it was found free is not taken.", staleAcquire},
	{"An Acquire whose context ends keeps no number.", cancelledAcquire},
	{"An Acquire whose answer is lost fails, or gets a number with another statement.", unknownAcquire},
	{"The holder's name is stored as valid UTF-8 of at most 255 characters.", holderNames},
	{"Workers shows every number with its state, holder, fence and times.", workersShow},

	{"A renewal is one statement, after a check of the session, and extends the window to its full length from now.", renewalRaises},
	{"A lease whose number was given to another process is displaced: it swaps to a free number, and ids ascend.", displaced},
	{"The owner, not the fence, says whose number it is.", sameFence},
	{"A lease whose ceiling went back sets it again and swaps to another number.", regressed},
	{"The lease does not set the ceiling if it is higher by then, or another holder's.", lateReassertion},
	{"A lease that the database has forgotten, or whose number was reserved, swaps to another number.", forgotten},
	{"A lease whose row is gone swaps to another number.", vanished},
	{"A lease that lost its number and finds no other one makes ids to the end of its window, and again once it has a number.", lostAndNoneFree},
	{"A renewal whose answer is lost does not count.", unknownRenewal},
	{"A renewal that arrives late does not touch the next holder's row.", lateRenewal},
	{"A release that arrives late does not touch the next holder's row.", lateClose},
	{"Close ends the generator before it waits for a renewal under way, and frees the number.", closeDuringRenewal},
	{"A lease that got no answer for longer than its window goes on if nobody took the number.", outage},
	{"If another process took it, the lease swaps to another number.", outageTooLong},

	{"Close ends the generator, lowers the ceiling to what was used and frees the number. Called again, it returns the same.", closeFrees},
	{"Close gives back a window without ids.", closeUnused},
	{"Close keeps the ticks that were borrowed from the future.", closeBorrowed},
	{"The next holder's ids are greater than the former one's.", nextHolderStartsAbove},
	{"Without the database, ids go on to the end of the window or until Close, which returns an error.", closeWithoutDatabase},
	{"Close with a context that has ended ends the generator and frees the number.", closeCancelled},

	{"If a pinned number is held, Acquire returns a HeldError when the context ends, and nobody else gets the number.", pinnedHeld},
	{"A pinned number is handed over when its holder closes.", pinnedAfterClose},
	{"A pinned number is handed over when its holder is gone and the window is over.", pinnedAfterCrash},
	{"A pinned lease that lost its number ends and takes no other number.", pinnedLost},
	{"A pinned lease whose ceiling went back sets it again and takes no other number.", pinnedRegressed},

	{"With a LossWindow, the constants cover the commits that may be lost.", lossConstants},
	{"With a LossWindow, a number is claimed, granted after the probation, and raised in steps.", lossGrant},
	{"With a LossWindow, the database grants after the probation and within the time of a claim.", lossGrantTime},
	{"With a LossWindow, a claim that another process took is left alone.", lossClaimTaken},
	{"With a LossWindow, the first window of a claim that was fenced does not begin before the fence.", lossClaimFenced},
	{"With a LossWindow, an Acquire whose context ends leaves at most its claim, and does not touch another's.", lossCancelled},
	{"With a LossWindow, the database refuses a renewal that comes too soon after another one.", lossRenewedTwice},
	{"With a LossWindow, a displaced lease gets another number after a probation.", lossDisplaced},
	{"With a LossWindow, a window that is over is not renewed: the lease gets another number.", lossLapsed},

	{"Fence raises every ceiling to a window and two minutes from now; leases with longer windows go on, and nobody gets a number before that.", fence},
	{"Settings of driver and session make no difference.", sessions},
	{"Whatever leases do, windows of one number never overlap, and ids stay inside them.", randomHistories},

	{"Reserve takes the highest number that was never leased or fenced, for ever, and the same number for the same holder.", reserveUnused},
	{"If many processes reserve at once, processes with the same holder get the same number, and different holders get different numbers.", reserveAtOnce},
	{"A Reserve whose answer is lost fails, and the next one for the holder leaves it with one number.", reserveUnknown},
	{"Reserve on a replica is ErrReadOnly, and on a session that does not sync ErrNotDurable.", reserveRefused},
	{"With a LossWindow, Reserve returns after a probation, with a number that the database still remembers.", lossReserve},

	{"No id is made from the read of a ceiling that went back until the ceiling is set again, and none if another process has the number by then.", seizedBeforeReassertion},
	{"If the ceiling is set again and no other number is free, ids go on to the end of the window.", reassertedAndNoneFree},
	{"With a LossWindow, a lease makes no more ids if its number was given to another process inside its window.", lossSeized},
	{"Close of a lease whose number is no longer its own returns a LostError, and logs no release.", closeLost},
	{"A release that the database did, but whose answer was lost, is not a loss.", closeTwice},
	{"Nothing is written on a connection that was left in a transaction: another one is taken, or it is a DatabaseError with InTransaction.", leftInTransaction},
	{"Migrate on a connection that was left in a transaction is a DatabaseError with InTransaction. Migrate leaves no connection in one.", migrateLeft},
	{"Rows that were deleted, and that Init makes anew, give no number before the longest window is over.", rowsMadeAnew},
	{"Reclaim gives a holder a number that was never leased, also a fenced one, and is a HeldError for others.", reclaims},
}

// Run checks that the leases of package sqlsnow keep their contract on a
// database. Each call of create makes an empty database that nobody else uses.
//
// Run has a subtest for each clause. They run in parallel, with up to eight
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
