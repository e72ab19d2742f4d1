// Package etcdsnow leases worker numbers from an etcd cluster, so that no two processes can make the same id.
//
//	keys, lease, err := etcdsnow.Open(ctx, client, "",
//		etcdsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout()}, etcdsnow.LeaseConfig{})
//	defer lease.Close(context.Background())
//	id, err := keys.Next(ctx)
//
// It does for etcd what [github.com/shardsnow/snow/sqlsnow] does for databases, with the same protocol, the same [Lease]
// and the same functions. It needs no tables. [Open] is three calls, which others make one by one: [Init] makes the
// constants of a space of ids; [Acquire] leases a worker number; [snow.NewGenerator] makes the ids. [Workers] returns who
// has which number, [Fence] comes after a restore from a snapshot, and [Reserve] takes a number for ever.
//
// Callers bring the client, with its endpoints, TLS configuration and user, and close it after the lease. The client's
// user needs the permission to read and write the keys with the prefix, which is "snow/" if it is left empty. A process
// asks etcd when it acquires a number and about twice a minute after that, never for an id.
//
// # Why no id is made twice
//
// The argument is sqlsnow's: a worker number is leased in windows of ticks. A window is confirmed before its first id is
// made, generators refuse to make an id at or past its ceiling, and the floor of a window is never below the ceiling of
// the window that the number had before. No clock, sleep or time limit takes part in this. In particular, no lease of
// etcd does: a key that vanishes with a lease of etcd says that its holder was quiet for a while, and not that it stopped.
//
// # The transactions
//
// Each worker number is a key, workers/NAME/NUMBER, and each namespace another one, namespaces/NAME, with constants and
// a random registry_uuid. The values are JSON, with the names of sqlsnow's columns.
//
// A request reads the row, tests the conditions that the SQL statement has, and writes the new row in one transaction
// (Txn). The transaction has an effect only if the row and the namespace still have the revision (ModRevision) and the value
// that were read. So the row that the conditions were tested on is the row that is replaced, however long the transaction
// was under way. A renewal is one transaction without a read, because a lease knows the row that it wrote last. The values
// are compared as well as the revisions, because a restore of a snapshot lets revisions repeat.
//
// A transaction whose reply is lost may have been carried out, or may be later: it counts as not carried out until a
// later write of the same row is confirmed. If it comes late, the row has another revision, and it has no effect.
//
// etcd confirms a write when a majority of the members has it on disk, and elects only members that have it. So no
// failover loses a window: there is no LossWindow, no claim and no probation, and a [Namespace] with a LossWindow is
// refused. Reads are linearizable.
//
// # Whose clock
//
// etcd has no clock that a client can read. The time that counts is the clock of each process itself. It decides when a
// window begins and ends, and when a number that nobody renews is leased again:
//
//   - A process whose clock is ahead sees windows as over that are not, and takes numbers of others. Its windows begin at
//     the former ceiling or at its own, later time, so they overlap with none. The holders that it displaced finish their
//     windows, find another owner in the row, and swap to other numbers; ids go on ascending. A number with a
//     window that is a day ahead can't be leased for a day.
//   - A process whose clock is behind sees windows as going on that are over, and takes unused numbers. Its ids
//     have old times. Others see its windows as over and may displace it.
//   - A clock that steps while a process runs moves its windows, and its ids with them. If it steps back, ids wait or go on
//     as package snow says.
//
// In all of these cases, a window that is taken begins where the one before ended or later, and the transaction fails if
// the row has changed. So a wrong clock costs windows, and never repeats an id.
//
// A clock that is wrong is refused where that can be known, with a [*ClockError]. Each row has the time at which its
// holder wrote it. Acquire refuses a clock if at least two rows were written later than it says, and more than
// were written at about its time. One such row is not enough: its holder may have had a wrong clock and be gone. A clock
// that steps by more than 30 s while the process runs is not followed if more rows were written at about the time that it
// left than at the time that it shows now: the renewal fails, and ids go on to the end of the window. A clock that is ahead when a
// process starts can't be told from rows that were written long ago. [Fence] and [Init] take one row for reason enough,
// because they rely on the clock.
//
// # What no protocol can cure
//
//   - A restore of a snapshot (etcdutl snapshot restore) forgets what was confirmed since. It is noticed at the next
//     renewal of a number whose window was lost, not before. After a restore call [Fence] first. Fence and only Fence relies
//     on clocks: the clock of each process, and of the one that calls it, must be within 30 s of the right time.
//   - A member that lost its disk, and comes back with its old identity, has forgotten its votes. If a majority does, or
//     one after the other within one failure, confirmed writes are gone. Remove such a member and add it as a new one. The
//     same holds for --force-new-cluster, after which Fence is needed.
//   - Members with --unsafe-no-fsync confirm what is not on disk. A power cut is then like a restore. No client can see this
//     setting, so nothing checks it.
//   - Keys that are edited by hand, or a namespace that is deleted with all of its keys and made again while its ids live,
//     without Fence. A value that this package does not write is a [*DamagedError], but a value that it could have
//     written is believed.
//   - A KV of the client that answers linearizable reads or transactions from a cache, or sends them again after an error of
//     unknown outcome. clientv3 does neither. A stale read alone gives no window, because each write compares.
//   - A process whose memory is copied or set back: a snapshot of a virtual machine that is started twice.
//
// # Without a majority, and other bad days
//
// Without a majority, etcd answers nothing. Calls return a [*ClusterError] when their ctx ends, leases go on trying, and ids
// flow to the end of the window. The same holds for a wrong endpoint, TLS configuration or user, for which the error says what
// to look at; for a key that was written by hand ([*DamagedError]); and for another namespace under the same name
// ([ErrElsewhere]). A namespace with another layout is [ErrNamespaceMismatch].
//
// # Inside
//
//	acquire.go     Open and Acquire: a lease on a cluster
//	namespace.go   Init, Namespaces and Fence; the prefix
//	workers.go     Workers, Reserve, Reclaim and Reservable
//	store.go       reads and transactions
//	errors.go      errors, and what may help
//
//	etcdsnow
//	  ├─ ../lease                    a lease: how it begins, its goroutine, what follows from a reply
//	  └─ ../internal/versioned       rows as keys with versions, and the conditions of each request
//	       └─ ../internal/protocol   the protocol without I/O, and its simulation
package etcdsnow
