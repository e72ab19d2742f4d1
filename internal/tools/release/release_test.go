package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/testscale"
)

// repository returns one with a small command that is called snow, or this one if tests may take minutes: SQLite
// compiles slowly.
func repository(t *testing.T) string {
	t.Helper()
	if testscale.Long() {
		return "../../.."
	}
	dir := t.TempDir()
	read := func(name string) string {
		b, err := os.ReadFile(filepath.FromSlash("../../../cmd/snow/" + name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	const flags = "github.com/spf13/pflag"
	version := regexp.MustCompile(flags + ` (v\S+)`).FindStringSubmatch(read("go.mod"))
	if version == nil {
		t.Fatal("the command does without ", flags)
	}
	for name, text := range map[string]string{
		"go.mod": "module github.com/shardsnow/snow\n\ngo 1.25.0\n", "LICENSE": "licence", "cmd/snow/internal/licences/licences.txt": "licences", "cmd/snow/go.sum": read("go.sum"),
		"cmd/snow/go.mod": "module github.com/shardsnow/snow/cmd/snow\n\ngo 1.25.0\n\nrequire " + flags + " " + version[1] + "\n",
		"cmd/snow/main.go": "package main\n\nimport (\n\t\"runtime/debug\"\n\n\t_ \"" + flags + "\"\n)\n\n" +
			"func main() {\n\tinfo, _ := debug.ReadBuildInfo()\n\tprintln(\"snow \" + info.Main.Version + \", commit \")\n}\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "git", "-C", dir, "init", "--quiet")
	run(t, "git", "-C", dir, "add", "--all")
	run(t, "git", "-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message=a")
	run(t, "git", "-C", dir, "tag", "cmd/snow/v1.2.3")
	return dir
}

// clone returns a clone of a repository at its last commit, in a folder of its own.
func clone(t *testing.T, repository string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	run(t, "git", "clone", "--quiet", repository, dir)
	return dir
}

func run(t *testing.T, command ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", command, err, out)
	}
	return string(out)
}

// contents returns the files of a folder.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, e := range entries {
		if all[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Two builds in different folders are equal, the program is static, and its SBOM has what the Go tool says.
func TestRelease(t *testing.T) {
	system, from := runtime.GOOS+"/"+runtime.GOARCH, repository(t)
	var first map[string][]byte
	for range 2 {
		out := filepath.Join(t.TempDir(), "dist")
		if err := release(t.Context(), clone(t, from), out, []string{system}); err != nil {
			t.Fatal(err)
		}
		files := contents(t, out)
		if first == nil {
			first = files
			continue
		}
		for name, b := range files {
			if !bytes.Equal(b, first[name]) {
				t.Errorf("%s differs: %s and %s", name, sumOf(first[name]), sumOf(b))
			}
		}
		if len(files) != 3 || len(first) != 3 {
			t.Errorf("%d files and %d files", len(files), len(first))
		}
	}
	program := filepath.Join(t.TempDir(), "snow")
	var list bom
	for name, b := range first {
		switch {
		case name == "SHA256SUMS":
			for line := range strings.Lines(string(b)) {
				sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
				if sum != sumOf(first[file]) {
					t.Errorf("the checksum of %s is %s", file, sum)
				}
			}
		case strings.HasSuffix(name, ".cdx.json"):
			if err := json.Unmarshal(b, &list); err != nil {
				t.Fatal(err)
			}
		default:
			packed := unpack(t, name, b)
			if len(packed) != 3 || len(packed["LICENSE"]) == 0 || len(packed["LICENCES.txt"]) == 0 {
				t.Errorf("%s has %d files", name, len(packed))
			}
			for member, text := range packed {
				if strings.HasPrefix(member, "snow") {
					if err := os.WriteFile(program, text, 0o755); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	if v := list.Metadata.Component.Version; !testscale.Long() && v != "v1.2.3" {
		t.Errorf("version %s", v)
	}
	if version := run(t, program, "version"); !strings.Contains(version, " "+list.Metadata.Component.Version+", commit ") || strings.Contains(version, "changes") {
		t.Errorf("%s; the SBOM is of %s", version, list.Metadata.Component.Version)
	}
	checkList(t, list, run(t, "go", "version", "-m", program))
}

// checkList compares an SBOM with what go version -m says of the program.
func checkList(t *testing.T, list bom, said string) {
	t.Helper()
	var want []string
	for line := range strings.Lines(said) {
		words := strings.Fields(line)
		switch {
		case len(words) >= 3 && (words[0] == "mod" || words[0] == "dep"):
			want = append(want, words[1]+" "+words[2])
		case len(words) == 2 && strings.HasPrefix(words[1], "go1"):
			want = append(want, "std "+strings.TrimPrefix(words[1], "go"))
		case len(words) == 2 && words[0] == "build" && strings.HasPrefix(words[1], "CGO_ENABLED=") && words[1] != "CGO_ENABLED=0":
			t.Error("the program is not static: ", words[1])
		}
	}
	var got, refs []string
	for _, c := range append(list.Components, list.Metadata.Component) {
		got, refs = append(got, c.Name+" "+c.Version), append(refs, c.Ref)
		if c.URL != "pkg:golang/"+strings.Replace(strings.ReplaceAll(c.Name+" "+c.Version, "+", "%2B"), " ", "@", 1) {
			t.Errorf("the URL of %s %s is %s", c.Name, c.Version, c.URL)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(want) < testscale.Of(3, 10) {
		t.Errorf("the SBOM has %q, want %q", got, want)
	}
	for _, d := range list.Dependencies {
		for _, ref := range append(d.DependsOn, d.Ref) {
			if !slices.Contains(refs, ref) {
				t.Errorf("%s is no component", ref)
			}
		}
	}
	if len(list.Dependencies) != len(refs) || list.Format != "CycloneDX" || list.Spec != "1.6" || list.Version != 1 || len(list.Serial) != len("urn:uuid:")+36 {
		t.Errorf("%+v", list)
	}
}

func unpack(t *testing.T, name string, b []byte) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	if strings.HasSuffix(name, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			if all[f.Name], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if all[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// A checkout with changes is no release.
func TestChangedCheckout(t *testing.T) {
	dir := clone(t, repository(t))
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := release(t.Context(), dir, filepath.Join(t.TempDir(), "dist"), []string{runtime.GOOS + "/" + runtime.GOARCH})
	if err == nil || !strings.Contains(err.Error(), "has changes") {
		t.Error(err)
	}
}

func TestArchives(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", 3600))
	files := []file{{"LICENSE", 0o644, []byte("text")}, {"snow", 0o755, []byte("program")}}
	for name, pack := range map[string]func([]file, time.Time) ([]byte, error){"a.tar.gz": tarball, "a.zip": zipped} {
		b, err := pack(files, at)
		again, err2 := pack(files, at.UTC())
		if err != nil || err2 != nil || !bytes.Equal(b, again) {
			t.Errorf("%s: %v, %v", name, err, err2)
		}
		got := unpack(t, name, b)
		if string(got["LICENSE"]) != "text" || string(got["snow"]) != "program" || len(got) != 2 {
			t.Errorf("%s: %q", name, got)
		}
	}
}
