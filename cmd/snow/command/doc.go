// Package command is the command snow, for its main package and for programs
// that run its commands themselves.
//
// # Exit status
//
//	0  done
//	1  failed: the database, the network, a file, or a check of a merge
//	2  wrong flags or arguments
//	3  the answer is no: a layout that can't be, an id that no layout fits, an
//	   audit with findings, a number that is not free, a merge that left something open,
//	   a conversion at a gate
//	4  not confirmed
//
// # Inside
//
//	run.go                        Run; the root of the commands, the exit status
//	errors.go output.go           errors with a remedy; text and JSON
//	databaseflags.go confirm.go   what several commands ask for
//	id.go idshow.go idnew.go idrange.go
//	opaque.go                     texts of ids for people outside
//	layout.go
//	migrate.go init.go workers.go workersshow.go fence.go release.go segments.go numbers.go sql.go
//	audit.go
//	merge.go convert.go           the commands of a merge, and of a conversion in place
//	serve.go                      the flags of the service
//	completion.go                 what a shell completes
//	version.go                    the version, the licences, manual pages
//
//	command
//	  ├─ internal/layoutfit   a layout for given wishes
//	  ├─ internal/mergecommand  the steps of a merge
//	  │    └─ internal/questions  asks what a merge's plan leaves open, on a terminal and in a browser
//	  ├─ internal/convertcommand  the commands of a conversion in place
//	  ├─ internal/audit       what makes ids go wrong in live tables
//	  ├─ internal/licences    of all that is in the command
//	  ├─ internal/manual      manual pages
//	  ├─ internal/nearest     what a mistyped name was meant to be
//	  ├─ internal/terminal    its size, drawing on it
//	  ├─ internal/interrupt   a signal ends what waits for a terminal or a pipe
//	  ├─ internal/service     ids over HTTP
//	  ├─ internal/store       of worker numbers: databases, and a file for each kind of cluster
//	  └─ internal/database    DSNs, drivers
package command
