// Command merge-servers merges the databases of game servers, or of anything
// else, into one. Without arguments it shows how, on servers that it makes:
//
//	go run ./examples/merge-servers
//
// With a command it does a step of a merge on databases of yours; -help lists
// them. The work is done by package merge: this program is flags, drivers
// and progress around it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // `| head` must not end the program before it cleans up
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
