package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shardsnow/snow/cmd/snow/internal/mergecommand"
	"github.com/shardsnow/snow/cmd/snow/internal/nearest"
)

// errNotConfirmed is returned if a question is not answered with yes.
var errNotConfirmed = errors.New("not confirmed, and nothing was changed")

// A usageError is about flags and arguments.
type usageError struct {
	command string // its path, such as "snow id show"
	err     error
}

func (e *usageError) Error() string {
	return fmt.Sprintf("%v; see %s --help", e.err, e.command)
}

func (e *usageError) Unwrap() error { return e.err }

// A refusal is an answer that is no. What was asked for is not an error of the
// program or of a database.
type refusal struct{ err error }

func (e *refusal) Error() string { return e.err.Error() }
func (e *refusal) Unwrap() error { return e.err }

// A remediedError comes with what a person can do about it.
type remediedError struct {
	err    error
	remedy string
}

func (e *remediedError) Error() string { return e.err.Error() }
func (e *remediedError) Unwrap() error { return e.err }

// A shownError is an error as JSON.
type shownError struct {
	Error  string `json:"error"`
	Remedy string `json:"remedy,omitempty"`
	Status int    `json:"status"` // the exit status
}

// printError writes an error to standard error.
func (a *app) printError(err error, asJSON bool) {
	// errors of package snow begin with its name
	shown := shownError{Error: strings.TrimPrefix(err.Error(), "snow: "), Status: statusOf(err)}
	var withRemedy *remediedError
	if errors.As(err, &withRemedy) {
		shown.Remedy = withRemedy.remedy
	}
	if asJSON || a.json {
		e := json.NewEncoder(a.Err)
		e.SetEscapeHTML(false)
		_ = e.Encode(shown) // there is nobody to tell
		return
	}
	_, _ = fmt.Fprintln(a.Err, "snow:", printableLines(shown.Error)) // a server may have written a part of it
	if shown.Remedy != "" {
		_, _ = fmt.Fprintln(a.Err, shown.Remedy)
	}
}

// warn writes to standard error what does not keep the command from its work.
func (a *app) warn(text string) {
	if a.json {
		e := json.NewEncoder(a.Err)
		e.SetEscapeHTML(false)
		_ = e.Encode(struct { // there is nobody to tell
			Warning string `json:"warning"`
		}{text})
		return
	}
	_, _ = fmt.Fprintln(a.Err, "snow: warning:", text)
}

// statusOf returns the exit status.
func statusOf(err error) int {
	var usage *usageError
	var no *refusal
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return 2
	case errors.As(err, &no):
		return 3
	case errors.Is(err, errNotConfirmed):
		return 4
	}
	return 1
}

// flagError names the flag but not its value, which may be a DSN.
func flagError(c *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &invalid):
		err = fmt.Errorf("--%s: want %s", invalid.GetFlag().Name, invalid.GetFlag().Value.Type())
		var wanted *wantError
		if errors.As(invalid, &wanted) {
			err = fmt.Errorf("--%s: %w", invalid.GetFlag().Name, wanted)
		}
		var merging *mergecommand.UsageError
		if errors.As(invalid, &merging) {
			err = fmt.Errorf("--%s: %w", invalid.GetFlag().Name, merging)
		}
	case errors.As(err, &unknown):
		err = errors.New("unknown flag")
		if name := unknown.GetSpecifiedName(); isWord(name) {
			err = fmt.Errorf("unknown flag --%s", name)
			var names []string
			c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
			if near := nearest.Of(name, names); near != "" {
				err = fmt.Errorf("unknown flag --%s; did you mean --%s?", name, near)
			}
		}
	case errors.As(err, &syntax):
		err = errors.New("a flag is malformed")
	}
	return &usageError{c.CommandPath(), err}
}

// isWord reports whether a text has nothing but lower-case letters and hyphens, as flags have.
func isWord(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && r != '-' {
			return false
		}
	}
	return s != ""
}

// A wantError is the error of a flag's value that holds no secret and may be shown.
type wantError struct{ err error }

func (e *wantError) Error() string { return e.err.Error() }
func (e *wantError) Unwrap() error { return e.err }
