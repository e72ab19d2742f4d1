// Package zksnow leases worker numbers from ZooKeeper, so that no two processes can make the same id.
//
//	conn, _, err := zk.Connect([]string{"zk1", "zk2", "zk3"}, 10*time.Second)
//	keys, lease, err := zksnow.Open(ctx, conn, "",
//		zksnow.Namespace{Name: "shop", Layout: snow.DefaultLayout()}, zksnow.LeaseConfig{})
//	defer lease.Close(context.Background())
//	id, err := keys.Next(ctx)
//
// It does for ZooKeeper what [github.com/shardsnow/snow/sqlsnow] does for databases, with the same protocol, the same
// [Lease] and the same functions. [Open] is three calls, which others make one by one: [Init] makes the constants of a
// space of ids; [Acquire] leases a worker number; [snow.NewGenerator] makes the ids. [Workers] returns who has which
// number, [Fence] comes after an older copy of the data was put back, and [Reserve] takes a number for ever.
//
// Callers bring the connection, call its AddAuth, and close it after the lease. All znodes are below a root, which is
// /snow if it is left empty, and they get the ACL of the root. All functions read and write there: also those that
// only read write one znode, for a reason that "Reads" gives. A process asks ZooKeeper when it acquires a number and
// about twice a minute after that, never for an id.
//
// # Why no id is made twice
//
// The argument is sqlsnow's: a worker number is leased in windows of ticks. A window is confirmed before its first id
// is made, generators refuse to make an id at or past its ceiling, and the floor of a window is never below the
// ceiling of the window that the number had before. No clock, sleep or time limit takes part in this.
//
// No session does either. There are no ephemeral znodes and no watches. An ephemeral znode vanishes when the servers
// have not heard of its client for a while. That does not say that the client has stopped: a process that was paused
// believes in its session until it hears that it is over, and makes ids meanwhile. Here it may, because the ticks of
// its window are its own. A session that ends costs a lease nothing: the client opens another one, and the next
// renewal goes on.
//
// # The transactions
//
// Each worker number is a znode, workers/NAME/NUMBER, and each namespace another one, namespaces/NAME, with constants
// and a random registry_uuid. The values are JSON, with the names of sqlsnow's columns.
//
// A request reads the row, tests the conditions that the SQL statement has, and writes the new row in one transaction
// (multi), which ZooKeeper carries out as a whole or not at all. It has an effect only if the row and the namespace
// still have the version and the value that were read. So the row that the conditions were tested on is the row that
// is replaced, however long the transaction was under way.
//
// ZooKeeper compares versions, but no values, and versions repeat: when an older copy of the data was put back, or a
// znode was deleted and made again. So each of these znodes has a child that is named after its value. A transaction
// deletes the child that the former value had and makes the new one's, and fails if the former one is missing. No two
// values of a row are equal.
//
// A transaction whose reply is lost may have been carried out, or may be later, also in another session: it counts as
// not carried out until a later write of the same row is confirmed. If it comes late, the row has another version,
// and it has no effect.
//
// ZooKeeper confirms a write when a majority of the members has it on disk, and elects only members that have it. So no
// failover loses a window: there is no LossWindow, no claim and no probation, and a [Namespace] with a LossWindow is
// refused.
//
// # Reads
//
// A member answers reads from what it knows, which may be older than what the majority has confirmed. Its answer to
// sync is no proof either: a leader gives it without asking the others, who may have elected another one. So each
// read follows a write of one small znode, clock. When the client has the reply, its member knows that write and all
// before it, and within a session the client accepts no other member that does not. A new session does accept one, so
// reads count only if the session is the same before and after.
//
// A stale read alone would give no window, because each write compares. But a lease must not take an older row for a
// loss, nor believe that a row has come back.
//
// # Whose clock
//
// The time that counts is the clock of the leader, which dates each write (mtime), whichever member a client talks
// to. A client dates nothing. The rest is as in sqlsnow: a reading that is further than LeaseConfig.MaxSkew from this
// process's clock is not used, and is a [*ClockError]; a process whose clock is wrong by a day gets no number; a
// process whose clock steps while it has one goes on by the leader's. When another member leads, its clock counts. A
// leader whose clock is wrong costs windows: they end too early or too late. It never repeats an id, because a window
// begins where the one before ended or later, and the transaction fails if the row has changed.
//
// # What no protocol can cure
//
//   - Snapshots and logs of the servers that are put back forget what was confirmed since. It is noticed at the next
//     renewal of a number whose window was lost, not before. Call [Fence] first. Fence and only Fence relies on
//     clocks: the clock of each process must have been within 30 s of the right time.
//   - A member that lost its disk, and comes back with its number (myid), has forgotten what it confirmed. With
//     another one that lagged behind, it may elect a leader without confirmed writes. Start it only while the others
//     have a leader, or call Fence.
//   - Members with forceSync=no confirm what is not on disk, and a power cut is then like data that was put back. The
//     same holds for a dataLogDir in memory. No client can see these settings, so nothing checks them.
//   - A majority that is made smaller by hand, in the configuration files of some members, so that two parts decide.
//   - Znodes that are edited by hand, or a namespace that is deleted with all of its znodes and made again while its
//     ids live, without Fence. An edited value is a [*DamagedError], unless somebody makes its child too.
//   - A process whose memory is copied or set back: a snapshot of a virtual machine that is started twice.
//
// # Without a majority, and other bad days
//
// Without a majority, ZooKeeper answers nothing. Calls return a [*StoreError] when the client gives up its connection
// or their ctx ends, leases go on trying, and ids flow to the end of the window. The same holds for wrong addresses
// and for an account that may not write, for which the error says what to look at; for a znode that was written by
// hand ([*DamagedError]); and for another namespace under the same name ([ErrElsewhere]). A namespace with another
// layout is [ErrNamespaceMismatch].
//
// The client has no context. If a call's ctx ends first, its request may stay with the client until that has a
// connection, or gives one up, and is carried out then.
//
// # Inside
//
//	acquire.go          Open and Acquire: a lease in ZooKeeper
//	namespace.go        Init, Namespaces, Fence and Clock; the root
//	workers.go          Workers, Reserve, Reclaim and Reservable
//	store.go write.go   reads and the clock; transactions
//	tag.go call.go      children that prove a value; requests that end with a ctx
//	errors.go           errors, and what may help
//
//	zksnow
//	  ├─ ../lease                    a lease: how it begins, its goroutine, what follows from a reply
//	  └─ ../internal/versioned       rows as keys with versions, and the conditions of each request
//	       └─ ../internal/protocol   the protocol without I/O, and its simulation
package zksnow
