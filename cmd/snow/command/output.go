package command

import (
	"encoding/json"
	"io"
	"text/tabwriter"
)

// A result is what a command prints: as JSON, or as text with tabs between the columns.
type result interface{ writeText(w io.Writer) }

// print writes a result to standard output.
func (a *app) print(r result) error { return a.write(r, "  ") }

// printLine writes a result to standard output, as JSON in one line.
func (a *app) printLine(r result) error { return a.write(r, "") }

func (a *app) write(r result, indent string) error {
	if a.json {
		e := json.NewEncoder(a.Out)
		e.SetEscapeHTML(false)
		e.SetIndent("", indent)
		return e.Encode(r)
	}
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	r.writeText(w)
	return w.Flush()
}
