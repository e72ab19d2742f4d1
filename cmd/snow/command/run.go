package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/nearest"
)

// Streams are what a command reads and writes. Each must be set.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run executes the command line args, which does not have the program's name,
// and returns the exit status. Errors are written to s.Err. When ctx ends, the
// command ends early.
func Run(ctx context.Context, args []string, s Streams) int {
	return run(ctx, args, &app{Streams: s, now: time.Now})
}

// An app is one run of the command.
type app struct {
	Streams
	now  func() time.Time // the local clock
	json bool
}

const about = `snow is for the people who run programs with ids of snow.

A flag may be written -flag or --flag. With --json a command prints JSON: ids are
strings, times are in UTC, durations are whole nanoseconds. An error is an object, too, on
standard error, with error, remedy and status.

Exit status: 0 done, 1 failed, 2 wrong flags or arguments, 3 the answer is no,
4 not confirmed.`

func run(ctx context.Context, args []string, a *app) int {
	root := a.root()
	root.SetArgs(longFlags(args))
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("interrupted: %w", err)
	}
	if errors.Is(err, syscall.EPIPE) { // the reader went away, as `| head` does
		return statusOf(err)
	}
	a.printError(err, slices.Contains(longFlags(args), "--json")) // a wrong flag before it ends the parsing
	return statusOf(err)
}

func (a *app) root() *cobra.Command {
	root := a.group("snow", "Look after ids, and the worker numbers that they are made with", about)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return flagError(c, err) })
	root.PersistentPreRun = func(c *cobra.Command, _ []string) { namespaceFromEnvironment(c) }
	root.AddCommand(a.id(), a.opaque(), a.layout(), a.migrate(), a.init(), a.workers(), a.fence(), a.release(), a.segments(), a.numbers(), a.sql(), a.audit(), a.merge(), a.convert(), a.serve(), a.version(), a.man())
	a.completeFlags(root)
	return root
}

// group returns a command that only has commands below it.
func (a *app) group(use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long,
		Args: cobra.ArbitraryArgs, // cobra's own check quotes the argument, which may be a DSN
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			var names []string
			for _, sub := range c.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, sub.Name())
				}
			}
			err := fmt.Errorf("unknown command; there are %s", strings.Join(names, ", "))
			if near := nearest.Of(args[0], names); near != "" { // the argument itself may be a DSN
				err = fmt.Errorf("unknown command; did you mean %s? There are %s", near, strings.Join(names, ", "))
			}
			return &usageError{c.CommandPath(), err}
		},
	}
}

// longFlags writes -flag as --flag, which cobra wants. No flag of more than one letter has another meaning, because
// no command has flags of one letter but -h.
func longFlags(args []string) []string {
	long := make([]string, len(args))
	for i, arg := range args {
		if arg == "--" {
			copy(long[i:], args[i:])
			break
		}
		if len(arg) > 2 && arg[0] == '-' && (arg[1] >= 'a' && arg[1] <= 'z' || arg[1] >= 'A' && arg[1] <= 'Z') {
			arg = "-" + arg
		}
		long[i] = arg
	}
	return long
}

// noArgs refuses arguments without quoting them, because they may be a DSN.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{c.CommandPath(), errors.New("it takes flags only, and there are other arguments")}
	}
	return nil
}

// someArgs wants least to most arguments.
func someArgs(least, most int, want string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return &usageError{c.CommandPath(), fmt.Errorf("want %s, and not %d arguments", want, len(args))}
		}
		return nil
	}
}
