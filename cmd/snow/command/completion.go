package command

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
)

// completionPatience is how long a shell may wait for names that a database has.
const completionPatience = 2 * time.Second

// completeWith lets a shell complete the values of a flag.
func completeWith(c *cobra.Command, flag string, values ...string) {
	// fails for flags that do not exist
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeFlags lets a shell complete the values of all flags that are alike in all commands.
func (a *app) completeFlags(c *cobra.Command) {
	for _, sub := range c.Commands() {
		a.completeFlags(sub)
	}
	var names []string
	for _, l := range presets() {
		names = append(names, l.name)
	}
	for flag, values := range map[string][]string{
		"dialect": database.Dialects(), "leases-dialect": database.Dialects(), "layout": names, "format": {"decimal", "base32", "hex"},
		"ids": {"snow", "offset", "dense"}, "restart": {"never", "yearly", "monthly", "daily"}, "list": {"ids", "left-out", "renamed"}, "ready": {"count", "finish"}, "do": {"schema", "namespace", "dry-run", "run", "verify"},
	} {
		if c.Flags().Lookup(flag) != nil {
			completeWith(c, flag, values...)
		}
	}
	for _, flag := range []string{"dsn", "more-dsn", "leases", "target", "registry", "token", "replica"} {
		if c.Flags().Lookup(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, completeSecret)
		}
	}
	if c.Flags().Lookup("namespace") != nil && c.Flags().Lookup("dsn") != nil {
		_ = c.RegisterFlagCompletionFunc("namespace", a.completeNamespace)
	}
}

// completeSecret completes the names of environment variables after env:, and of files after @. A file of SQLite is
// completed by the shell.
func completeSecret(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if part, ok := strings.CutPrefix(begun, "@"); ok {
		found, _ := filepath.Glob(escapePattern(part) + "*")
		for i, name := range found {
			if info, err := os.Stat(name); err == nil && info.IsDir() {
				name += string(filepath.Separator)
			}
			found[i] = "@" + name
		}
		return found, cobra.ShellCompDirectiveNoSpace
	}
	var all []string
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix("env:"+name, begun) {
			all = append(all, "env:"+name)
		}
	}
	if !strings.HasPrefix(begun, "env:") { // too many names to be of use
		all = slices.DeleteFunc(all, func(name string) bool { return !strings.Contains(name, "DSN") })
	}
	slices.Sort(all)
	return all, cobra.ShellCompDirectiveDefault
}

func escapePattern(path string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// completeNamespace asks the database of the other flags.
func (a *app) completeNamespace(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	value := func(flag string) string { return c.Flags().Lookup(flag).Value.String() }
	ctx, cancel := context.WithTimeout(c.Context(), completionPatience)
	defer cancel()
	f := &databaseFlags{app: &app{Streams: Streams{Out: a.Out, Err: io.Discard, In: a.In}}, dsn: value("dsn"), dialect: value("dialect"), timeout: completionPatience}
	db, err := f.openNumbers(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer db.Close()
	rows, err := db.Namespaces(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, n := range rows {
		if printable(n.Name) == n.Name { // a shell shows it as it is
			names = append(names, n.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
