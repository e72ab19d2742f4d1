package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/interrupt"
)

// confirmation are the flags of a command that changes what others rely on.
type confirmation struct {
	app    *app
	yes    bool
	dryRun bool
}

func (f *confirmation) add(c *cobra.Command) {
	f.addYes(c)
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "report what would be done, and do nothing")
}

func (f *confirmation) addYes(c *cobra.Command) {
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
}

// ask returns nil if the answer is yes, and errNotConfirmed otherwise. A standard input that nobody types at gets
// no question. When ctx ends the answer is no, also if somebody types yes later.
func (f *confirmation) ask(ctx context.Context, question string) error {
	if f.yes {
		return nil
	}
	if file, ok := f.app.In.(*os.File); ok {
		info, err := file.Stat()
		if err != nil || info.Mode()&os.ModeCharDevice == 0 {
			return &remediedError{errNotConfirmed, "Standard input is no terminal: --yes confirms."}
		}
	}
	if _, err := fmt.Fprintf(f.app.Err, "%s [y/N] ", question); err != nil {
		return err
	}
	line, err := bufio.NewReader(interrupt.Reader(ctx, f.app.In)).ReadString('\n')
	switch {
	case ctx.Err() != nil:
		_, _ = fmt.Fprintln(f.app.Err) // the question's line ends
		return errNotConfirmed
	case errors.Is(err, io.EOF) && line == "": // such as /dev/null
		_, _ = fmt.Fprintln(f.app.Err)
		return &remediedError{errNotConfirmed, "Standard input is empty: --yes confirms."}
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %w", errNotConfirmed, err)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return errNotConfirmed
}
