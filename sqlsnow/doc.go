// Package sqlsnow leases worker numbers from a database, through database/sql,
// so that no two processes can make the same id. With [Segments] it also gives
// out dense numbers, which need no clock.
//
//	err := sqlsnow.Migrate(ctx, db, sqlsnow.MySQL)
//	err = sqlsnow.Init(ctx, db, sqlsnow.MySQL, sqlsnow.Namespace{Name: "shop", Layout: snow.Default()})
//	lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, sqlsnow.LeaseConfig{Namespace: "shop"})
//	defer lease.Close(context.Background())
//	keys, err := snow.NewGenerator(lease, snow.Config{})
//
// A [Lease] is a [snow.Worker]. [Workers] tells who has which number, and
// [Lease.Stats] how a lease is doing; LeaseConfig.OnEvent is told of what happens to
// it. The tables are made by [Migrate] or by the files of
// [github.com/shardsnow/snow/migrations], and the constants of a space of ids by
// [Init]. [github.com/shardsnow/snow/sqlsnow/sqlsnowtest] checks that a database
// keeps the contract of a lease. What the person on call needs is in docs/leases.md
// of the repository.
//
// The database is asked when a number is acquired and about twice a minute
// after that, never for an id. It need not be one of those that the ids are
// for. Drivers are the caller's.
//
// # Why no id is made twice
//
// An id is a worker number, a tick of the clock and a sequence. A worker number
// is leased in windows of ticks, from a floor up to but not including a
// ceiling. A window is committed in the database before its first id is made,
// generators refuse to stamp a tick at or past the ceiling, and the floor of a
// window is never below the ceiling of the window that the number had before.
// So a tick of a number belongs to one process for all time.
//
// No clock, sleep or time limit takes part in this. A process that is stopped
// for an hour and goes on still owns the ticks that it has, and only those.
// Two processes may believe in the same number at the same time: their ticks
// differ. Clocks decide how soon a number that nobody renews is leased again,
// and nothing else.
//
// # The statements
//
// Each is one statement that commits by itself, finds its row by the primary
// key, and has an effect only if the row is as it was read (see statements.go).
// That it commits by itself is looked at on its connection before: somebody may
// have left it in a transaction, which is [ErrInTransaction] if no other
// connection is to be had (see session.go).
//
//	free ── acquire ──────────────► granted ── renew ──► granted …
//	free ── claim ──► claimed ── grant ──► granted       (LossWindow > 0)
//	granted ── release ──► free
//	granted, ceiling and grace past ── acquire, claim ──► by another process
//
// A row names its owner by 128 random bits that are new for each attempt. Floor
// and ceiling are computed by the database from its own clock. A statement whose
// reply is lost may have been done: it counts as not done until a later write of
// the same row is confirmed. Reading it proves nothing, for some databases show
// a commit before it is durable. A renewal that changes no row is followed by a
// look at the row:
//
//   - displaced: it has another owner, whose window begins after this one, or
//     will. The process was away for longer than its window.
//   - regressed: the database forgot what it had confirmed. It was restored or
//     lost history. If the row is still this lease's, its ceiling is put back.
//   - lapsed: the window was over before it was renewed (with LossWindow > 0, or
//     after Fence).
//   - vanished: it is gone.
//
// The lease then acquires another number and goes over to it at the start of a
// tick, so ids go on ascending. Until then generators finish the ticks that they
// have, unless somebody else may have been granted them, or may be, as far as the row
// tells: then they return [snow.ErrLeaseExpired] at once. That is where the row is gone or
// reserved, has an older fence, or has another owner whose window begins before the
// end of this one. A row that is still this lease's, its ceiling too low, can be taken from its
// ceiling, grace and probation on: if that is before the end of the window, no
// id is made until the ceiling is back. A lease of a certain number
// (LeaseConfig.Worker) ends when another process has it.
//
// # Databases that may lose what they confirmed
//
// A replica that takes over asynchronously has not seen the last commits. With
// LossWindow L > 0, a number is first claimed, and gets its first window W0 after
// a probation P; a renewal comes no sooner than R after the last one was
// confirmed and raises the ceiling by at most S over what was confirmed; and a
// number is claimed again only when a grace G has passed since its ceiling. With
//
//	P > L + eps
//	G + P ≥ S·(⌊L/R⌋ + 1) + eps
//	G + P ≥ W0 + S·⌊L/R⌋ + eps
//
// a claim that is lost never had a window, and what renewals are lost is less
// than the time that the next claimant waits, where eps, 500 ms, is how far the
// clocks of the two servers may be apart. For L = 5 s: P = 6 s, R = 10 s,
// S = W0 = G = 20 s. These constants are in the namespace's row and are the same
// for all.
//
// # Whose clock
//
// The running time of a lease, which ids are stamped with, is the database's
// clock, read at each renewal, and the monotonic clock in between. The local
// wall clock only has a vote: a reading of the database that is further than
// LeaseConfig.MaxSkew from both the prediction and the local clock is not
// taken over and reported as a [*ClockError]; Acquire, which has no prediction,
// refuses to start with it. The ceiling that a renewal asks for is at most that
// much beyond what the process itself expects, so that one wrong clock can't
// push a number's windows far into the future.
//
// Running time goes forward with every reading that is taken over, and not back
// with the next one, for ids don't. While it is ahead of the database's clock, windows are asked for
// that much longer, since they are to last for ids; the ceiling stays within the bound
// above, and within what [Fence] allows for. No window overlaps another for
// it: floors and ceilings are still the row's, and confirmed before they are used. Where running
// time is further ahead than such a window reaches, it is put back, ids wait
// until it is where they were, and Stats and Renew tell it with a [*ClockError].
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
//     for one that loses more than LossWindow.
//
// How durable the database's commits are is looked at in [Init], and whenever a
// number is acquired: settings that are changed in between go unnoticed.
package sqlsnow
