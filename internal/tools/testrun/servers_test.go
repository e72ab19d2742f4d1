//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// small is a repository whose only test runs on the server that it is told.
var small = map[string]string{
	"internal/testkit/dbtest/install-servers.sh": "#!/bin/sh\necho 'mysql-9.7: mysql-server-core 9.7.4 and 3 more packages'\n",
	"go.mod": "module github.com/shardsnow/snow\n\ngo 1.25\n",
	"sqlsnow/sqlsnow_test.go": `package sqlsnow
import ("os"; "testing")
func TestServer(t *testing.T) {
	if got := os.Getenv("SNOW_MYSQL_SERVER"); got != "mysql" { t.Errorf("got %q", got) }
}
func TestFails(t *testing.T) { t.Error("got 1, want 2") }`,
}

func TestServers(t *testing.T) {
	root := t.TempDir()
	for name, text := range small {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	was := servers
	for _, s := range was {
		if s.name == "mysql" && !slices.Contains(s.suites, "functions") { // nowhere else is a group refused
			t.Errorf("%s: got suites %v, want functions among them", s.name, s.suites)
		}
		for _, name := range s.suites {
			if _, ok := suites[name]; !ok {
				t.Errorf("%s: there is no suite %q", s.name, name)
			}
		}
	}
	t.Cleanup(func() { servers = was })
	servers = []server{{name: "mysql", variable: "SNOW_MYSQL_SERVER", suites: []string{"leases"}}, {name: "other"}}
	t.Setenv("SNOW_TEST_SERVERS", "mysql")
	var out bytes.Buffer
	failed, err := runServers(t.Context(), &out, root)
	if err != nil || !failed {
		t.Errorf("got %t, %v; want a failure and no error", failed, err)
	}
	t.Log(out.String())
	for _, want := range []string{
		"mysql  leases 1/1/0\n",
		"FAIL  mysql: snow/sqlsnow TestFails: sqlsnow_test.go:6: got 1, want 2 | again: SNOW_MYSQL_SERVER=mysql make stress",
		"\nservers: mysql 9.7.4\n1 passed, 1 failed, 0 skipped, ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q", want)
		}
	}

	t.Setenv("SNOW_TEST_SERVERS", "mysql oracle")
	if _, err := runServers(t.Context(), &out, root); err == nil || !strings.Contains(err.Error(), "oracle") {
		t.Errorf("a server that there is none of: got %v", err)
	}
	t.Setenv("SNOW_TEST_SERVERS", "mysql")
	if err := os.WriteFile(filepath.Join(root, "internal/testkit/dbtest/install-servers.sh"), []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if failed, err := runServers(t.Context(), &out, root); failed || err != nil || out.String() != "servers: none, for want of packages\n" {
		t.Errorf("without packages: got %t, %v, %q", failed, err, out.String())
	}
}

// The packages of merge whose tests need a server are the packages of its suite.
func TestSuiteOfMerge(t *testing.T) {
	const merge = "../../../merge"
	err := filepath.WalkDir(merge, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		folder, _ := filepath.Rel(merge, filepath.Dir(path))
		if folder != "." {
			folder = "./" + folder
		}
		starts := bytes.Contains(text, []byte(`snow/internal/testkit/dbtest"`)) || bytes.Contains(text, []byte(`merge/internal/roomtest"`))
		if starts && !slices.Contains(suites["merge"].args, folder) {
			t.Errorf("%s needs a server, and its package is not in the suite", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWithout(t *testing.T) {
	for _, tt := range []struct{ skip, args, want string }{
		{"", "-skip=A .", "-skip=A ."},
		{"B", "-v .", "-skip=B -v ."},
		{"B", "-v -skip=A .", "-v -skip=A|B ."},
	} {
		j := job{args: strings.Fields(tt.args)}
		if got := strings.Join(j.without(tt.skip).args, " "); got != tt.want || strings.Join(j.args, " ") != tt.args {
			t.Errorf("%s without %s: %s", tt.args, tt.skip, got)
		}
	}
}
