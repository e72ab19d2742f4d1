//go:build unix

package dbtest

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// programDirs are searched before PATH: in Debian, servers are not in the PATH of ordinary users, and the clients there are
// slow wrappers.
var programDirs = []string{"/usr/lib/postgresql/*/bin", "/usr/sbin"}

// find returns the path of a program, or of its newest version.
func find(program string) (string, error) {
	for _, dir := range programDirs {
		found, err := filepath.Glob(filepath.Join(dir, program))
		if err == nil && len(found) > 0 {
			return slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) }), nil
		}
	}
	return exec.LookPath(program)
}

// version returns the 15 in /usr/lib/postgresql/15/bin/initdb, or 0.
func version(path string) float64 {
	v, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(filepath.Dir(path))), 64)
	return v
}

// program is find after a call of need.
func program(name string) string {
	path, err := find(name)
	if err != nil {
		return name
	}
	return path
}

// need skips the test with -short, and if programs are missing. If databases are required, it ignores -short, and missing
// programs fail the test.
func need(tb testing.TB, e engine, programs []string) {
	tb.Helper()
	if testing.Short() && !required() {
		tb.Skipf("dbtest: %s is left out under -short", e.name())
	}
	var missing []string
	for _, name := range programs {
		if _, err := find(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return
	}
	end := tb.Skipf
	if required() {
		end = tb.Fatalf
	}
	end("dbtest: %s: %s not found: apt-get install %s", e.name(), strings.Join(missing, ", "), e.packages())
}

// required reports whether a missing database fails a test instead of skipping it.
func required() bool { return os.Getenv("SNOW_REQUIRE_DB") == "1" }
