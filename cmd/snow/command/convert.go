package command

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/convertcommand"
)

const aboutConvert = `Give a live database the keys of snow, in place. New rows get snow ids, old rows keep
theirs, and old programs go on meanwhile. A conversion is plan, run and verify, with gates between
its phases: at a gate programs must do something first. back takes it back as far as possible.

The database stays where it is. To bring several databases into one, with new ids for old rows as
well, use "snow merge".

A DSN is env:NAME for an environment variable, or @FILE: what is on the command line is in the
list of processes. For MySQL it is user:password@tcp(host:port)/database, for PostgreSQL
postgres://user:password@host:port/database. It is for the primary, and for no pooler that shares
sessions.

Exit status: 1 failed, 3 at a gate, or at an open question, or where another process works or
another plan is carried out, 4 not confirmed.`

func (a *app) convert() *cobra.Command {
	group := a.group("convert", "Give a live database snow ids, in place", aboutConvert)
	for _, step := range convertcommand.Steps() {
		group.AddCommand(a.convertStep(step))
	}
	return group
}

func (a *app) convertStep(step convertcommand.Step) *cobra.Command {
	confirm := &confirmation{app: a}
	c := &cobra.Command{Use: step.Name, Short: step.Short, Long: step.Long, Args: cobra.ArbitraryArgs}
	converting := convertcommand.New(step, c.Flags())
	if step.Asks {
		confirm.addYes(c)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		err := converting.Do(c.Context(), args, convertcommand.IO{
			Out: a.Out, Err: a.Err, JSON: a.json, Warn: a.warn,
			Confirm: func(question string) error { return confirm.ask(c.Context(), question) },
		})
		var usage *convertcommand.UsageError
		var no *convertcommand.NoError
		switch {
		case errors.As(err, &usage):
			return &usageError{c.CommandPath(), err}
		case errors.As(err, &no):
			return &remediedError{&refusal{err}, no.Remedy}
		}
		return explain(err)
	}
	return c
}
