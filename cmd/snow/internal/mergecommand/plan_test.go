package mergecommand

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// A plan that somebody changes while it is being settled keeps the change.
func TestSettleOfAChangedPlan(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.yaml")
	before := "version: 1\ndialect: SQLite\nsources: [eu]\ntables: []\n"
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	settle := func(meanwhile string) (string, error) {
		var step Step
		for _, one := range Steps() {
			if one.Name == "settle" {
				step = one
			}
		}
		var out bytes.Buffer
		c := New(step, pflag.NewFlagSet("settle", pflag.ContinueOnError))
		c.plan, c.stdout, c.stderr, c.meanwhile = file, &out, io.Discard, func() {
			if err := os.WriteFile(file, []byte(meanwhile), 0o600); err != nil {
				t.Error(err)
			}
		}
		err := c.settle(t.Context())
		return out.String(), err
	}
	const other = "version: 1\ndialect: SQLite\nsources: [eu, us]\n"
	if _, err := settle(other); err == nil || !strings.Contains(err.Error(), "was changed meanwhile by somebody else") {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != other {
		t.Errorf("%v: %s", err, b)
	}
	if out, err := settle(other); err != nil || !strings.Contains(out, "with 0 open questions") {
		t.Errorf("%v: %s", err, out)
	}
}
