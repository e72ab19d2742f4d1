package command

import (
	"errors"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/mergecommand"
	"github.com/shardsnow/snow/merge/report"
)

const aboutMerge = `Merge databases into one, with new ids where servers have numbered rows
themselves. Sources are only read. A merge is inspect, questions or settle, schema, namespace,
dry-run, run and verify, in this order. lookup and export show what became of rows.

A DSN is env:NAME for an environment variable, @FILE, or the file of a SQLite database: what
is on the command line is in the list of processes. For MySQL it is
user:password@tcp(host:port)/database, for PostgreSQL postgres://user:password@host:port/database.

Where each server has several databases that refer to each other, name them with
--databases SOURCE=auth:eu_auth,characters:eu_characters for each source, and with
--target-databases auth:game_auth,characters:game_characters for the target.

Exit status: 1 for a failed check or any other error, 3 if nothing was found wrong, but
something was left open: not decided, or not checked.`

func (a *app) merge() *cobra.Command {
	group := a.group("merge", "Merge databases into one", aboutMerge)
	group.PersistentPreRun = func(*cobra.Command, []string) {
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(300) // a merge reads many rows and keeps few: see docs/performance.md
		}
	}
	for _, step := range mergecommand.Steps() {
		group.AddCommand(a.mergeStep(step))
	}
	return group
}

func (a *app) mergeStep(step mergecommand.Step) *cobra.Command {
	confirm := &confirmation{app: a}
	c := &cobra.Command{Use: strings.TrimSpace(step.Name + " " + step.Args), Short: step.Short, Long: step.Long, Args: cobra.ArbitraryArgs}
	merging := mergecommand.New(step, c.Flags())
	if step.Name == "run" || step.Name == "groups" {
		confirm.addYes(c)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		ask := func(question string) error { return confirm.ask(c.Context(), question) }
		err := merging.Do(c.Context(), args, mergecommand.IO{In: a.In, Out: a.Out, Err: a.Err, JSON: a.json, Confirm: ask, Warn: a.warn})
		var usage *mergecommand.UsageError
		var open *report.OpenError
		switch {
		case errors.As(err, &usage):
			return &usageError{c.CommandPath(), err}
		case errors.As(err, &open) && err.Error() == open.Error(): // and no other error with it
			return &refusal{err}
		}
		return explain(err)
	}
	return c
}
