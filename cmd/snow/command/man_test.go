package command

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every command has a page, every flag is on it, and no line of a text is taken for a macro.
func TestManual(t *testing.T) {
	folder := t.TempDir()
	if got := execute(t, "man", folder); got.status != 0 {
		t.Fatal(got.stderr)
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	macros := map[string]bool{".TH": true, ".SH": true, ".B": true, ".PP": true, ".nf": true, ".fi": true, ".TP": true, ".br": true}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			macro, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if strings.HasPrefix(line, ".") && !macros[macro] || strings.HasPrefix(line, "'") {
				t.Errorf("%s: %q is taken for a macro", filepath.Base(page), line)
			}
		}
		if !strings.Contains(string(b), `\-\-json`) {
			t.Errorf("%s lacks --json", filepath.Base(page))
		}
		if man, err := exec.LookPath("man"); err == nil {
			var complaints strings.Builder
			show := exec.CommandContext(t.Context(), man, "--warnings", "-l", page)
			show.Stderr = &complaints
			if err := show.Run(); err != nil || complaints.Len() > 0 {
				t.Errorf("%s: man: %v: %s", filepath.Base(page), err, complaints.String())
			}
		}
	}
	b, err := os.ReadFile(filepath.Join(folder, "snow-segments-raise.1"))
	for _, want := range []string{`.B \-\-above ID`, `snow\-segments(1)`, `.SH EXIT STATUS`, `Move a counter beyond`} {
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%v; no %q in %s", err, want, b)
		}
	}
	if got := execute(t, "man", filepath.Join(folder, "nix")); got.status != 1 {
		t.Errorf("into a folder that does not exist: %+v", got)
	}
}

// With --json an error is an object on standard error, wherever it comes from, and it shows no DSN.
func TestErrorsAsJSON(t *testing.T) {
	newRegistry(t)
	for _, tt := range []struct {
		args                 string
		status               int
		text, remedy, output string
	}{
		{"workers -json -namespace nix", 1, "nix", `"snow init" makes a namespace`, ""},
		{"workers --json geheim@tcp(localhost)/shop", 2, "takes flags only", "", ""},
		{"workers -geheim -json", 2, "unknown flag", "", ""},
		{"fence -namespace shop -json", 4, "not confirmed", "--yes confirms", ""},
		{"layout fit -json -years 100000 -workers 1024 -rate 1000000", 3, "", "", ""},
	} {
		got := execute(t, strings.Fields(tt.args)...)
		var e shownError
		lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &e); err != nil {
			t.Errorf("%s: %q: %v", tt.args, got.stderr, err)
			continue
		}
		if got.status != tt.status || e.Status != tt.status || e.Error == "" || !strings.Contains(e.Error, tt.text) || !strings.Contains(e.Remedy, tt.remedy) {
			t.Errorf("%s: exit status %d, %+v", tt.args, got.status, e)
		}
		if strings.Contains(got.stderr, "tcp(") {
			t.Errorf("%s: a DSN is shown: %s", tt.args, got.stderr)
		}
	}
}
