package meter

// Stats are what a router has done since it was made.
type Stats struct {
	Databases []Database        // in the order of the shards
	Refused   map[string]uint64 // refused statements by reason: unrouted, spread, cross_shard, moves, mismatch, replica
	Scattered uint64            // queries about several databases
	Asked     uint64            // databases that these queries asked, all together
}

// A Database is one of them, or one of its replicas.
type Database struct {
	Statements uint64 // sent, whether they succeeded or not; a query about several databases counts in each
	Replicas   []uint64
}
