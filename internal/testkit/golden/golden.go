// Package golden compares texts with files, for tests.
package golden

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the files in testdata")

// Check fails a test whose text differs from the file. With -update it writes the file first.
func Check(tb testing.TB, file, text string) {
	tb.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	if text != string(want) {
		tb.Errorf("%s differs: see what changed with go test -update", file)
	}
}
