package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// A built is a program of a release.
type built struct {
	system, arch string
	program      []byte
	info         *debug.BuildInfo
	version      string // such as v0.1.0
	time         time.Time
}

// build makes the program for a system. It must not be of a checkout with changes, because nobody could build it again.
func build(ctx context.Context, repository, system, arch string) (b *built, err error) {
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b = &built{system: system, arch: arch}
	file := filepath.Join(dir, b.name())
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", file, ".")
	c.Dir = filepath.Join(repository, "cmd", "snow")
	c.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+system, "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off")
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w: %s", err, bytes.TrimSpace(out))
	}
	if b.program, err = os.ReadFile(file); err != nil {
		return nil, err
	}
	if b.info, err = buildinfo.Read(bytes.NewReader(b.program)); err != nil {
		return nil, err
	}
	if b.version = b.info.Main.Version; b.version == "(devel)" {
		return nil, errors.New("the program does not know its version: want a clone with its tags, not a worktree")
	}
	if b.setting("vcs.modified") != "false" {
		return nil, errors.New("the checkout differs from its commit: it has changes")
	}
	b.time, err = time.Parse(time.RFC3339, b.setting("vcs.time"))
	return b, err
}

func (b *built) setting(key string) string {
	for _, s := range b.info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// name is the name of the program.
func (b *built) name() string {
	if b.system == "windows" {
		return "snow.exe"
	}
	return "snow"
}

// base is what the names of the files begin with.
func (b *built) base() string {
	return strings.Join([]string{"snow", b.version, b.system, b.arch}, "_")
}

// write writes the archive and the SBOM, and returns their names.
func (b *built) write(repository, out string) ([]string, error) {
	content := []file{{b.name(), 0o755, b.program}}
	for name, path := range map[string]string{"LICENSE": "LICENSE", "LICENCES.txt": "cmd/snow/internal/licences/licences.txt"} {
		text, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		content = append(content, file{name, 0o644, text})
	}
	slices.SortFunc(content, func(a, b file) int { return strings.Compare(a.name, b.name) })
	pack, ending := tarball, ".tar.gz"
	if b.system == "windows" {
		pack, ending = zipped, ".zip"
	}
	archive, err := pack(content, b.time)
	if err != nil {
		return nil, err
	}
	list, err := b.sbom()
	if err != nil {
		return nil, err
	}
	names := []string{b.base() + ending, b.base() + ".cdx.json"}
	return names, errors.Join(
		os.WriteFile(filepath.Join(out, names[0]), archive, 0o644),
		os.WriteFile(filepath.Join(out, names[1]), list, 0o644))
}

// writeSums writes the checksums, for sha256sum -c.
func writeSums(out string, files []string) error {
	slices.Sort(files)
	var text strings.Builder
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sumOf(b), name)
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(text.String()), 0o644)
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
