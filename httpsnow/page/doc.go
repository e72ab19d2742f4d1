// Package page shows the worker numbers of a database to the person on call, as a page
// for the browser that keeps itself up to date.
//
//	handler, err := page.New([]page.Database{{DB: db, Dialect: sqlsnow.Postgres}}, page.Config{})
//	http.Handle("/snow/", http.StripPrefix("/snow", handler))
//
// It shows the numbers of each namespace (held, late, claimed, cooling, reserved, free) with the time that is left of
// each window, the leases that are late, the databases' clocks beside that of this process, the counters of
// segments and how long they last, which numbers were fenced when, and what an id says.
//
// The page loads nothing from elsewhere, and its Content-Security-Policy allows nothing else. It works
// without scripts, and then loads itself again every ten seconds. No information is in a colour alone.
//
// # Promises
//
// The handler only reads, and takes no locks. However many browsers look at it, it reads each database once in
// Config.Every. If a database does not answer, the page says since when, and shows what was read last.
// The error itself is logged and not shown.
//
// It does not ask who looks at it. The page shows names of hosts and processes (LeaseConfig.Holder): mount it where
// only operators reach it. On a loopback address it refuses names that are not those of this machine or in Config.Hosts, so that
// no page of the web can read it through a name that begins to mean 127.0.0.1.
//
// # Inside
//
//	page.go               New; which path is what
//	read.go               what the databases have, once for all who look
//	rates.go              how fast counters go
//	view.go counters.go   what is shown of it, as text
//	decode.go             what an id says
//	files/                templates, style, script
package page
