package versioned

import "context"

// An Entry is a key and its value.
type Entry struct {
	Key   string
	Value []byte

	// Version changes with each write of the key. It is 0 if the key does not exist.
	Version int64
}

// Batch is the largest number of keys that one Write sets.
const Batch = 64

// A Store keeps keys with versions. Its methods may be called by several goroutines at once.
//
// A method that returns an error says nothing about what the store did: a Write may have been done, or may be done
// later. Otherwise the result is what a majority of the store's members has, and has on disk.
type Store interface {
	// Get reads keys, and returns an entry for each in the same order. It reads each key linearizably: the value is not
	// older than a write that was confirmed before the call.
	Get(ctx context.Context, keys ...string) ([]Entry, error)

	// List returns the first entries, at most limit, whose keys begin with prefix and are not less than from, in the
	// order of their keys. It reads as Get does, but not necessarily all entries at one moment.
	List(ctx context.Context, prefix, from string, limit int) ([]Entry, error)

	// Write sets keys, if every expected entry still is as it was read, its version and its value. An entry with
	// Version 0 must not exist. Write sets all keys or none, and reports which. If it sets them, it puts their new
	// versions into puts. Each key of puts is in expected too.
	Write(ctx context.Context, expected, puts []Entry) (done bool, err error)

	// Now returns the time that counts, in microseconds since 1970. It is read during the call. Uniqueness does not
	// depend on it: a wrong clock makes windows end too early or too late.
	Now(ctx context.Context) (int64, error)
}
