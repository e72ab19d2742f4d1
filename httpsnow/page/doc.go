// Package page shows the worker numbers of a database to the person on call, as a page
// for the browser that keeps itself up to date.
//
//	handler, err := page.New([]page.Database{{DB: db, Dialect: sqlsnow.Postgres}}, page.Config{})
//	http.Handle("/snow/", http.StripPrefix("/snow", handler))
//
// One line on top says what is wrong and where, with links; so does the title of the document: "(9 late) snow". Below
// it are the late leases, then the numbers of each namespace as a grid on one screen, where a letter, a pattern and a
// colour tell a number that is held, late, claimed, cooling, reserved or free. Then come the counters of segments and
// how long they last, and a list of who has which number, with the time that is left of each window. Problems come
// first everywhere, and a filter chooses numbers by namespace, holder, number or state. The page says which database
// it is, how far its clock is from this process's, which numbers were fenced when, and what an id says.
//
// What keeps worker numbers outside of SQL is shown through a [Store]: for etcd and ZooKeeper, "snow serve --page" has
// one for each.
//
// With Config.Totals and [Handler.Watch] it also has the ids and the refusals of a service in the last hour:
//
//	go handler.Watch(ctx)
//
// The page loads nothing from elsewhere, and its Content-Security-Policy allows nothing else. It works
// without scripts, and then loads itself again every ten seconds. No information is in a colour alone, and the keyboard
// reaches all of it.
//
// # Promises
//
// The handler only reads, and takes no locks. However many browsers look at it, it reads each database once in
// Config.Every, and not at all if nobody looks. That is 3 n + 2 queries for n namespaces, and 4 n + 5 once a minute,
// when the list of the namespaces and the database's own name are read again. A [Store] gets n + 1 calls, and n + 2
// once a minute. If a database does not answer, the page says since when, and shows what was read last. The error
// itself is logged and not shown, and no DSN is ever read.
//
// It does not ask who looks at it. The page shows names of hosts and processes (LeaseConfig.Holder): mount it where
// only operators reach it. On a loopback address it allows only names of this machine and Config.Hosts, which stops
// DNS rebinding: no page of the web can read it under a name that it points at 127.0.0.1.
//
// # Inside
//
//	page.go               New; which path is what
//	read.go               what the databases have, once for all who look
//	store.go              what it asks a database, or another store, for worker numbers
//	place.go              which databases they are
//	service.go            what the service did in the last hour
//	view.go               what is shown of all that
//	alarm.go              what is wrong, and where
//	grid.go rows.go       the numbers of a namespace
//	filter.go             which of them are chosen
//	counters.go rates.go  how fast counters go
//	minutes.go spark.go   the last hour as a line
//	decode.go             what an id says
//	files/                templates, style, script
package page
