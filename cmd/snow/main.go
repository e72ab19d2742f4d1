package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // all zones, also in an empty container

	"github.com/shardsnow/snow/cmd/snow/command"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // `| head` must not end a merge
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	os.Exit(command.Run(ctx, os.Args[1:], command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
