// Command merge-servers shows how the databases of game servers are merged into one,
// on servers that it makes, with the commands of snow merge:
//
//	go run ./examples/merge-servers
//
// "merge-servers merge …" is "snow merge …".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/shardsnow/snow/cmd/snow/command"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // `| head` must not end the program before it cleans up
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

const usage = `Usage: merge-servers [-rows N] [-kill-after N] [-report FILE] [-mysql DSN | -postgres DSN]
       merge-servers merge COMMAND …

It shows how game servers are merged: it makes some, merges them with the commands
of snow merge, and checks the result.

  -rows N        rows of each server. Default 100000.
  -kill-after N  kill the first merge after N rows, and let it resume.
  -report FILE   write the report of the first merge as a page, with its lists beside it.
  -mysql DSN     use this MySQL or MariaDB server instead of SQLite files in a
                 temporary folder. Databases named ` + demoPrefix + `… are made on
                 it and dropped at the end, such as user:password@tcp(host:3306)/
  -postgres DSN  the same on PostgreSQL: postgres://user:password@host/postgres

A DSN may be env:NAME, for one in the environment that the list of processes does
not show. "merge-servers merge -help" is "snow merge -help".
`

// errUsage is returned for flags that were complained about already.
var errUsage = errors.New("usage")

// run returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "merge" {
		return runSnow(ctx, args, stdout, stderr)
	}
	if len(args) > 0 && args[0] == "help" {
		args = []string{"-help"}
	}
	err := demonstrate(ctx, args, stdout, stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	case ctx.Err() != nil:
		err = fmt.Errorf("interrupted: %w", err)
	}
	_, _ = fmt.Fprintln(stderr, "merge-servers:", err)
	return 1
}

// runSnow runs the command snow in this process.
func runSnow(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return command.Run(ctx, args, command.Streams{In: strings.NewReader(""), Out: stdout, Err: stderr})
}
