// Package manual writes the manual pages of commands.
package manual

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Write writes a page for a command and for each below it, and returns how many it wrote.
func Write(c *cobra.Command, folder string) (pages int, err error) {
	if err := os.WriteFile(filepath.Join(folder, pageName(c)+".1"), []byte(manual(c)), 0o644); err != nil {
		return 0, err
	}
	pages = 1
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			n, subErr := Write(sub, folder)
			pages, err = pages+n, errors.Join(err, subErr)
		}
	}
	return pages, err
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manual returns the page of a command, for man.
func manual(c *cobra.Command) string {
	var b strings.Builder
	name := pageName(c)
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n", strings.ToUpper(roff(name)), roff(name), roff(c.Short), roff(c.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	manualText(&b, long)
	if flags := c.NonInheritedFlags(); flags.HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		manualFlags(&b, flags)
	}
	if flags := c.InheritedFlags(); flags.HasAvailableFlags() {
		b.WriteString(".SH OPTIONS OF ALL COMMANDS\n")
		manualFlags(&b, flags)
	}
	b.WriteString(".SH EXIT STATUS\n0 done, 1 failed, 2 wrong flags or arguments, 3 the answer is no, 4 not confirmed.\n.SH SEE ALSO\n")
	var others []string
	if c.HasParent() {
		others = append(others, roff(pageName(c.Parent()))+"(1)")
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			others = append(others, roff(pageName(sub))+"(1)")
		}
	}
	fmt.Fprintln(&b, strings.Join(others, ",\n"))
	return b.String()
}

// manualText writes paragraphs. One with an indented line keeps its lines.
func manualText(b *strings.Builder, text string) {
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		b.WriteString(".PP\n")
		keep := strings.HasPrefix(paragraph, "  ") || strings.Contains(paragraph, "\n  ")
		if keep {
			b.WriteString(".nf\n")
		}
		for _, line := range strings.Split(paragraph, "\n") {
			fmt.Fprintln(b, roff(line))
		}
		if keep {
			b.WriteString(".fi\n")
		}
	}
}

func manualFlags(b *strings.Builder, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		head := "--" + f.Name
		if value != "" {
			head += " " + value
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s", roff(head), strings.ReplaceAll(roff(usage), "\n", "\n.br\n"))
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" {
			fmt.Fprintf(b, " (default %s)", roff(f.DefValue))
		}
		b.WriteString("\n")
	})
}

// roff writes a text so that man shows it as it is.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
