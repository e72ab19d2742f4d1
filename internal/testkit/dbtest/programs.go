//go:build unix

package dbtest

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// programDirs are searched before PATH: in Debian, servers are not in the PATH of ordinary users, and the clients
// there are slow wrappers.
var programDirs = []string{"/usr/lib/postgresql/*/bin", "/usr/sbin"}

// An installation is where the programs of a server are: in the system, or in a folder that install-servers.sh has
// filled.
type installation struct{ folder string }

// newer returns the installation of a product in the folder of newer servers: of the version in the name, as in
// mysql-9.7, or the newest one.
func newer(name string) installation {
	path := filepath.Join(newerServers(), name)
	found, _ := filepath.Glob(path + "-*")
	if len(found) > 0 {
		path = slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(suffix(a), suffix(b)) })
	}
	return installation{path}
}

// newerServers returns the folder that install-servers.sh fills.
func newerServers() string {
	if folder := os.Getenv("SNOW_SERVERS"); folder != "" {
		return folder
	}
	if cache, err := os.UserCacheDir(); err == nil && os.Geteuid() != 0 {
		return filepath.Join(cache, "snow-servers")
	}
	return "/var/cache/snow-servers"
}

// suffix returns the 9.7 in mysql-9.7, or 0.
func suffix(path string) float64 {
	v, _ := strconv.ParseFloat(path[strings.LastIndexByte(path, '-')+1:], 64)
	return v
}

// path returns the path of a file of the packages.
func (at installation) path(file string) string { return filepath.Join(at.folder, file) }

// source says how to get the programs: from packages of the system, or from the script.
func (at installation) source(packages string) string {
	if at.folder != "" {
		return "internal/testkit/dbtest/install-servers.sh"
	}
	return "apt-get install " + packages
}

// find returns the path of a program, or of its newest version.
func (at installation) find(program string) (string, error) {
	dirs := programDirs
	if at.folder != "" {
		dirs = []string{at.path("usr/lib/postgresql/*/bin"), at.path("usr/sbin"), at.path("usr/bin")}
	}
	for _, dir := range dirs {
		found, err := filepath.Glob(filepath.Join(dir, program))
		if err == nil && len(found) > 0 {
			return slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) }), nil
		}
	}
	if at.folder != "" {
		return "", fmt.Errorf("%s is not in %s", program, at.folder)
	}
	return exec.LookPath(program)
}

// version returns the 15 in /usr/lib/postgresql/15/bin/initdb, or 0.
func version(path string) float64 {
	v, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(filepath.Dir(path))), 64)
	return v
}

// program is find after a call of need.
func (at installation) program(name string) string {
	path, err := at.find(name)
	if err != nil {
		return name
	}
	return path
}

// need skips the test with -short, and if programs are missing. If databases are required, it ignores -short, and
// missing programs fail the test.
func need(tb testing.TB, e engine, programs []string) {
	tb.Helper()
	if testing.Short() && !required() {
		tb.Skipf("dbtest: %s is left out under -short", e.name())
	}
	var missing []string
	for _, name := range programs {
		if _, err := e.find(name); err != nil {
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
	end("dbtest: %s: %s not found: %s", e.name(), strings.Join(missing, ", "), e.packages())
}

// required reports whether a missing database fails a test instead of skipping it.
func required() bool { return os.Getenv("SNOW_REQUIRE_DB") == "1" }
