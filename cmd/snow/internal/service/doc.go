// Package service is snow serve: ids over HTTP from one or more sources, until a signal.
//
//	config.go    Config, and what is wrong with it
//	run.go       Run: takes a port, a database and a worker number, and gives them back
//	source.go    leases and segments as sources of ids, and when they are ready
//	routes.go    further sources, below paths of their own
//	listen.go    TCP, Unix sockets, sockets of systemd, certificates
//	signals.go   SIGHUP, and the second signal that ends the service
//	page.go      the page, and what it shows of the service itself
//	observe.go   the access log and the metrics of requests
package service
