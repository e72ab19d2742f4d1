// Package lease runs leases of worker numbers. Packages that keep the numbers in a store, such as
// [github.com/shardsnow/snow/sqlsnow] and github.com/shardsnow/snow/etcdsnow, acquire a [Lease] and return it. They
// export the types of this package under names of their own, and they say what a store must keep so that no id is made
// twice.
//
//	keys, lease, err := sqlsnow.Open(ctx, db, sqlsnow.MySQL,
//		sqlsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout()}, sqlsnow.LeaseConfig{})
//
// Programs need this package only to write code for the leases of several stores: all of them are a *Lease, with the
// same [Stats], [Event] and errors. "The database" in a text is the store.
//
// # Inside
//
//	acquire.go                   how a lease begins; Registry, what it needs of a store
//	run.go outcome.go lease.go   its goroutine, what follows from a reply, and Lease
//	config.go event.go stats.go  its settings, and what it reports
//	namespace.go workers.go      the constants of a namespace; what the rows of numbers say
//	errors.go                    errors
package lease
