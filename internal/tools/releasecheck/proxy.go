package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// unfetched finds modules that go get or go install can't have, or whose packages don't
// build where they are used: in an empty folder, without the workspace and without
// replace, with a module proxy in the file system that has this commit. The modules
// come in the order of their tags, so each one is without the later ones. All is built
// without cgo, and a command that is installed must tell its version.
func unfetched(ctx context.Context, r *repository) (found []string, err error) {
	version, err := r.next()
	if err != nil {
		return nil, err
	}
	if version == "" {
		version = "v0.0.0"
	}
	list, err := r.published()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "releasecheck-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	user, err := newUser(ctx, r, dir)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		libraries, commands, err := r.packages(m)
		if err != nil {
			return nil, err
		}
		mod := requiring(m.mod, list[0].path, version)
		if len(commands) > 0 {
			mod = withoutReplace(mod, list[0].path)
		}
		if err := r.publish(m, mod, version, user.proxy); err != nil {
			return nil, err
		}
		if len(libraries) > 0 {
			if err := user.get(ctx, m, version, libraries); err != nil {
				found = append(found, fmt.Sprintf("go get %s@%s: %v", m.path, version, err))
			}
		}
		for _, command := range commands {
			if err := user.install(ctx, command, version); err != nil {
				found = append(found, err.Error())
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return found, nil
}

// packages returns the packages of a module that others can import, and its commands.
func (r *repository) packages(m module) (libraries, commands []string, err error) {
	for _, name := range r.filesOf(m) {
		dir := path.Dir(strings.TrimPrefix(name, m.dir+"/"))
		p, parts := path.Join(m.path, dir), strings.Split(dir, "/")
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || slices.Contains(parts, "internal") || slices.Contains(parts, "testdata") ||
			slices.Contains(libraries, p) || slices.Contains(commands, p) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), r.path(name), nil, parser.PackageClauseOnly)
		switch {
		case errors.Is(err, os.ErrNotExist): // deleted, but known to git
		case err != nil:
			return nil, nil, err
		case file.Name.Name == "main":
			commands = append(commands, p)
		default:
			libraries = append(libraries, p)
		}
	}
	return libraries, commands, nil
}

// publish puts a module with this go.mod into a proxy.
func (r *repository) publish(m module, mod, version, proxy string) (err error) {
	dir := filepath.Join(proxy, filepath.FromSlash(m.path), "@v")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"list": version + "\n", version + ".info": string(info), version + ".mod": mod} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		return err
	}
	z := zip.NewWriter(f)
	defer func() { err = errors.Join(err, z.Close(), f.Close()) }()
	for _, name := range r.filesOf(m) {
		text, err := os.ReadFile(r.path(name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, but known to git
		}
		if err != nil {
			return err
		}
		within := strings.TrimPrefix(name, m.dir+"/")
		if within == "go.mod" {
			text = []byte(mod)
		}
		w, err := z.Create(m.path + "@" + version + "/" + within)
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// filesOf returns the files of a module: those below it that belong to no other one.
func (r *repository) filesOf(m module) (files []string) {
	modules := r.modules()
	for _, name := range r.files {
		owner := path.Dir(name)
		for owner != "." && !slices.Contains(modules, owner) {
			owner = path.Dir(owner)
		}
		if owner == m.dir {
			files = append(files, name)
		}
	}
	return files
}

// A user has an empty folder, a cache of modules and a proxy.
type user struct {
	dir, proxy string
	env        []string
}

func newUser(ctx context.Context, r *repository, dir string) (*user, error) {
	out, err := r.run(ctx, "", "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return nil, err
	}
	settings := strings.Split(strings.TrimSpace(out), "\n")
	u := &user{dir: dir, proxy: filepath.Join(dir, "proxy")}
	url := func(dir string) string { return "file:///" + strings.TrimPrefix(filepath.ToSlash(dir), "/") }
	u.env = append(
		os.Environ(), "GOWORK=off", "GOFLAGS=-modcacherw", "GOSUMDB=off", "GOPRIVATE=", "GONOPROXY=", "GOTOOLCHAIN=local", "CGO_ENABLED=0",
		"GOMODCACHE="+filepath.Join(dir, "modules"), "GOBIN="+filepath.Join(dir, "bin"),
		// What the cache has need not be downloaded again.
		"GOPROXY="+strings.Join([]string{url(u.proxy), url(filepath.Join(settings[0], "cache", "download")), settings[1]}, ","),
	)
	return u, nil
}

// get makes a program in an empty folder that imports these packages, and builds it.
func (u *user) get(ctx context.Context, m module, version string, packages []string) error {
	dir, err := os.MkdirTemp(u.dir, "program-")
	if err != nil {
		return err
	}
	program := "package main\n\nimport (\n"
	for _, p := range packages {
		program += fmt.Sprintf("\t_ %q\n", p)
	}
	if err := u.run(ctx, dir, "go", "mod", "init", "example.org/program"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program+")\n\nfunc main() {}\n"), 0o666); err != nil {
		return err
	}
	for _, command := range [][]string{{"go", "get", m.path + "@" + version}, {"go", "mod", "tidy"}, {"go", "build", "-o", os.DevNull, "."}} {
		if err := u.run(ctx, dir, command...); err != nil {
			return err
		}
	}
	return nil
}

// install installs a command without cgo, and asks it for its version, which every command must know.
func (u *user) install(ctx context.Context, command, version string) error {
	if err := u.run(ctx, u.dir, "go", "install", command+"@"+version); err != nil {
		return err
	}
	program := filepath.Join(u.dir, "bin", path.Base(command))
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	said, err := u.output(ctx, u.dir, program, "version")
	if err == nil && !strings.Contains(said, version) {
		err = fmt.Errorf("it said %q, without %s", firstLines(said, 1), version)
	}
	if err != nil {
		return fmt.Errorf("%s version: %w", path.Base(command), err)
	}
	return nil
}

func (u *user) run(ctx context.Context, dir string, command ...string) error {
	_, err := u.output(ctx, dir, command...)
	return err
}

func (u *user) output(ctx context.Context, dir string, command ...string) (string, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, u.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, firstLines(string(out), 12))
	}
	return string(out), nil
}
