package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/shardsnow/snow/cmd/snow/command"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300) // a merge reads many rows and keeps few: see docs/performance.md
	}
	signal.Ignore(syscall.SIGPIPE) // `| head` must not end a merge
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	os.Exit(command.Run(ctx, os.Args[1:], command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
