//go:build unix

package leasefaults

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// buildShifted builds a worker process whose wall clock can be shifted. A preloaded library has no effect on the
// clock of a Go program, so the build replaces a file of package time. The monotonic clock does not change.
func (w *world) buildShifted() string {
	w.Helper()
	here, err := os.Getwd()
	if err != nil {
		w.Fatal(err)
	}
	dir := w.TempDir()
	overlay := make(map[string]string)
	add := func(path, text string) {
		at := filepath.Join(dir, strings.ReplaceAll(path, string(filepath.Separator), "_"))
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			w.Fatal(err)
		}
		overlay[path] = at
	}
	add(w.shiftedTime())
	if w.store != nil { // the test binary itself dials the store
		list, program := w.overlay(dir, overlay)
		w.build("go", "test", "-c", "-tags=shiftedwall", "-overlay="+list, "-o="+program, ".")
		return program
	}
	main := filepath.Join(here, "shiftedworker")
	add(filepath.Join(main, "main.go"), `package main

import (
	_ "`+w.target.Import+`"

	"github.com/shardsnow/snow/internal/testkit/leasefaults"
)

func main() { leasefaults.Work() }
`)
	list, program := w.overlay(dir, overlay)
	w.build("go", "build", "-tags=shiftedwall", "-overlay="+list, "-o="+program, "./shiftedworker")
	return program
}

// overlay writes the list of replaced files, and returns its path and the program's.
func (w *world) overlay(dir string, files map[string]string) (list, program string) {
	w.Helper()
	text, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		w.Fatal(err)
	}
	list, program = filepath.Join(dir, "overlay.json"), filepath.Join(dir, "worker")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		w.Fatal(err)
	}
	return list, program
}

func (w *world) build(command ...string) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), command[0], command[1:]...)
	if w.store != nil {
		cmd.Env = append(os.Environ(), "GOWORK=off") // its module need not be in the workspace
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("build a program whose clock can be shifted: %v\n%s", err, out)
	}
}

// shiftedTime returns the path of the file in the standard library that has time.Now, and its replacement.
func (w *world) shiftedTime() (path, text string) {
	w.Helper()
	root, err := exec.CommandContext(w.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		w.Fatal(err)
	}
	path = filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	source, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	text = string(source)
	for _, change := range [][2]string{
		{"import (\n", "import (\n\t\"sync/atomic\"\n"},
		{"func Now() Time {\n", "// WallShift is how many seconds Now is off.\nvar WallShift atomic.Int64\n\nfunc Now() Time {\n"},
		{"\tsec, nsec, mono := runtimeNow()\n", "\tsec, nsec, mono := runtimeNow()\n\tsec += WallShift.Load()\n"},
	} {
		if strings.Count(text, change[0]) != 1 {
			w.Fatalf("time.go of %s has changed: look for %q", runtime.Version(), change[0])
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	return path, text
}

// startProgram starts a worker process that is not the test binary.
func (w *world) startProgram(program string, changes ...func(*job)) *process {
	w.Helper()
	return w.start(1, append(changes, func(j *job) { j.program = program })...)[0]
}
