package licences

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/golden"
)

// A listed is what go list says of a package.
type listed struct {
	Dir    string
	Module *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// packages returns the packages of the command on a system.
func packages(t *testing.T, system string) (all []listed) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=Dir,Module", "github.com/shardsnow/snow/cmd/snow")
	c.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS="+system, "GOARCH=amd64")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	c.Stderr = &complaints
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(out); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err, complaints.String())
		}
		all = append(all, p)
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err, complaints.String())
	}
	return all
}

var named = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// textsOf returns the licences in a folder.
func textsOf(t *testing.T, folder string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() || !named.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Trim(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")+"\n")
	}
	return all
}

// Text has each licence once, below the names and versions of all that is under it.
func TestText(t *testing.T) {
	under := map[string][]string{} // names by texts
	add := func(name, folder string) int {
		texts := textsOf(t, folder)
		for _, text := range texts {
			if !slices.Contains(under[text], name) {
				under[text] = append(under[text], name)
			}
		}
		return len(texts)
	}
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	if add("the library of Go", strings.TrimSpace(string(root))) == 0 {
		t.Skip("this Go comes without its licence")
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, p := range packages(t, system) {
			m := p.Module
			if m == nil || m.Main || strings.HasPrefix(m.Path, "github.com/shardsnow/") {
				continue
			}
			if add(m.Path+" "+m.Version, m.Dir) == 0 {
				t.Errorf("%s has no licence", m.Path)
			}
			// of code that was copied into the module
			for folder := p.Dir; folder != m.Dir; folder = filepath.Dir(folder) {
				rel, err := filepath.Rel(m.Dir, folder)
				if err != nil {
					t.Fatal(err)
				}
				add(m.Path+" "+m.Version+", in "+filepath.ToSlash(rel), folder)
			}
		}
	}
	own := textsOf(t, "../../../..")
	if len(own) != 1 {
		t.Fatalf("snow has %d licences", len(own))
	}
	var texts []string
	for text, names := range under {
		slices.Sort(names)
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int {
		return cmp.Or(slices.Compare(under[a], under[b]), strings.Compare(a, b)) // a module may have two
	})
	var b strings.Builder
	fmt.Fprintf(&b, "snow\n\n%s\nWhat follows is in the command snow as well. The name of a module is the address of its source.\n", own[0])
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n\n%s\n\n%s", strings.Repeat("=", 80), strings.Join(under[text], "\n"), text)
	}
	golden.Check(t, "licences.txt", b.String())
}
