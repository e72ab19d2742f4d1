// Package sqlsnow leases worker numbers from a database, through database/sql,
// so that no two processes can make the same id.
//
//	keys, lease, err := sqlsnow.Open(ctx, db, sqlsnow.MySQL,
//		sqlsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout()}, sqlsnow.LeaseConfig{})
//	defer lease.Close(context.Background())
//	id, err := keys.Next(ctx)
//
// [Open] is for programs that make what they need when they start. It is four
// calls, which others make one by one: [Migrate] makes the tables, as do the files
// of [github.com/shardsnow/snow/migrations]; [Init] makes the constants of a space
// of ids; [Acquire] leases a worker number; [snow.NewGenerator] makes the ids.
//
// A [Lease] is a [snow.Worker]. [Lease.Stats] returns how it is doing, for a
// readiness probe, and LeaseConfig.OnEvent is called for what happens to it.
// [Workers] returns who has which number, and [Fence] comes after a restore from a
// backup. [github.com/shardsnow/snow/sqlsnow/segments] gives out dense numbers,
// which need no clock and no lease, from the same databases, and
// [github.com/shardsnow/snow/sqlsnow/sqlsnowtest] checks that a database keeps
// the contract of leases. docs/leases.md of the repository is for the person on
// call.
//
// A process asks the database when it acquires a number and about twice a
// minute after that, never for an id. The ids may be for
// other databases than this one. Callers bring the driver.
//
// # Why no id is made twice
//
// An id is a worker number, a tick of the clock and a sequence. A worker number
// is leased in windows of ticks, from a floor up to but not including a
// ceiling. A window is committed in the database before its first id is made,
// generators refuse to make an id at or past the ceiling, and the floor of a
// window is never below the ceiling of the window that the number had before.
// So a tick of a number belongs to one process for all time.
//
// No clock, sleep or time limit takes part in this. A process that is stopped
// for an hour and goes on still owns the ticks that it has, and only those.
// Two processes may believe that they have the same number at the same time:
// their ticks differ. Clocks decide how soon a number that nobody renews is
// leased again, and nothing else.
//
// # The statements
//
// Each is one statement that commits by itself, finds its row by the primary
// key, and has an effect only if the row is as it was read. Before each write,
// the lease checks that its connection will commit by itself, because somebody
// may have left it in a transaction. If the pool has no other connection, that is
// a [*DatabaseError] with InTransaction.
//
// Nor does it matter if somebody has changed the schema of a connection, by USE or
// SET search_path for example. Each call learns the schema of the tables once, from
// a connection that still has the schema of its DSN, and all statements name it. If
// the pool has no such connection, that is a [*DatabaseError] with Elsewhere. Each
// write also requires the namespace's random registry_uuid, as it was read at the
// beginning. A renewal that reaches another lease database is a failed renewal, not a
// lost lease. On MySQL and MariaDB, where a temporary table hides another one even from a
// statement that names the schema, a connection with such a table is not used.
//
//	free ── acquire ──────────────► granted ── renew ──► granted …
//	free ── claim ──► claimed ── grant ──► granted       (LossWindow > 0)
//	granted ── release ──► free
//	granted, ceiling and grace past ── acquire or claim by another process ──►
//
// A row names its owner by 128 random bits that are new for each attempt. The
// database computes floor and ceiling from its own clock. A statement whose
// reply is lost may have been executed: it counts as not executed until a later
// write of the same row is confirmed. Reading the row proves nothing, because
// some databases show a commit before it is durable. After a renewal that
// changes no row, the lease reads the row, and the number may be
//
//   - displaced: the row has another owner, whose window begins or will begin
//     after this one. The process was away for longer than its window.
//   - regressed: the database forgot what it had confirmed. It was restored or
//     lost history. If the row is still this lease's, its ceiling is put back.
//   - lapsed: the window was over before it was renewed (with LossWindow > 0), or
//     had less than two minutes left after Fence.
//   - vanished: the row is gone.
//
// The lease then acquires another number and changes to it at the start of a
// tick, so ids go on ascending as the layout says. Until then, generators
// finish the ticks that they have. If the row shows that somebody else was
// granted some of these ticks, or may be granted them, generators return
// [snow.ErrLeaseExpired] at once instead. That is the case if the row is gone or
// reserved, has an older fence, or has another owner whose window begins before
// the end of this one. If the row is still this lease's but its ceiling is too
// low, others can take the number after that ceiling, grace and probation: if
// that is before the end of the window, no id is made until the ceiling is back.
// A lease of a certain number (LeaseConfig.Worker) ends when another process has
// the number.
//
// # Databases that may lose what they confirmed
//
// An asynchronous replica that takes over may lack the last commits. With
// LossWindow L > 0, a number is first claimed, and gets its first window W0 after
// a probation P. A renewal comes no sooner than R after the last one was
// confirmed, and raises the confirmed ceiling by at most S. A number is claimed
// again only when a grace G has passed since its ceiling. With
//
//	P > L + eps
//	G + P ≥ S·(⌊L/R⌋ + 1) + eps
//	G + P ≥ W0 + S·⌊L/R⌋ + eps
//
// a claim that is lost never had a window, and lost renewals amount to less
// than the time that the next claimant waits. eps, 500 ms, is how far the clocks
// of the two servers may be apart. For L = 5 s: P = 6 s, R = 10 s,
// S = W0 = G = 20 s. These constants are in the namespace's row, so that all
// processes use the same.
//
// # Whose clock
//
// The running time of a lease, which ids carry, is the database's clock, read at each renewal, and the monotonic
// clock in between. The local wall clock is only compared with it: a reading of the database's clock that is
// further than LeaseConfig.MaxSkew from both the prediction and the local clock is not used, and reported as a
// [*ClockError]. Acquire has no prediction, and refuses to start with such a reading. A clock that goes ahead in
// steps is followed to at most MaxSkew ahead of the local clock, as that was when the two agreed last. The ceiling
// that a renewal asks for is at most MaxSkew beyond what the process itself expects, so that one wrong clock can't
// push a number's windows far into the future.
//
// Running time goes forward with every reading that is used, and does not go
// back with a later one, because ids don't. While it is ahead of the database's
// clock, the lease asks for windows that are longer by that lead, because they
// must reach beyond the time of ids; the ceiling stays within the bound above,
// and within what [Fence] allows for. Windows still don't overlap: floors and
// ceilings are the row's, and confirmed before they are used. If running time is
// further ahead than such a window reaches, it is put back, ids wait until it
// has caught up with them, and Stats and Renew return a [*ClockError].
//
// So a window ends at most its length, two skews and 2 s after the time of the
// clock of its process. Fence adds two skews more, for the clock of that process
// and for its own.
//
// # What no protocol can cure
//
//   - Two servers that both take writes as the same database at the same time.
//   - A process whose memory is copied or set back: a snapshot of a virtual
//     machine that is started twice, or a checkpoint of a process.
//   - Rows of snow_workers that are edited, or a namespace that is deleted with
//     all of its rows and made again while its ids live, without [Fence].
//   - With LossWindow 0, a database that loses what it confirmed. It is noticed
//     at the next renewal of a number whose window was lost (regressed), not
//     before. After a restore from a backup call [Fence] first. The same holds
//     for a database that loses more than LossWindow.
//
// [Init] and [Acquire] check the settings that make commits durable, and that the
// tables are not of a kind that forgets (MyISAM, MEMORY, UNLOGGED). They do not
// notice later changes of these settings.
//
// # Inside
//
//	open.go                                 the four steps of a start in one call
//	init.go migrate.go                      a namespace; its tables and rows
//	acquire.go                              a lease on a database
//	fence.go reserve.go workers.go          all numbers of a namespace
//	namespaces.go                           the namespaces of a database, and its clock
//	dialect.go convert.go errors.go         dialects; errors, and their conversion from the packages below
//
//	segments, sqlsnowtest         dense numbers; the contracts
//	functions                     functions of SQL that read and make ids
//	  └─ sqlsnow
//	       ├─ ../lease            a lease: how it begins, its goroutine, what follows from a reply
//	       ├─ ../internal/registry   the statements on the tables of leases
//	       │    ├─ ../internal/protocol   the protocol without I/O, and its simulation
//	       │    └─ ../internal/dbserver   servers: dialects of SQL, durability, sessions on which a write commits by itself
//	       └─ ../internal/dberrors   the errors that these packages share
package sqlsnow
