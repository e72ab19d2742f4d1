package database

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/shardsnow/snow/cmd/snow/internal/interrupt"
	"github.com/shardsnow/snow/sqlsnow"
)

// maxSecrets bounds the size of a file with secrets.
const maxSecrets = 64 << 10

// Resolve returns where the database of a flag's value is: env:NAME stands for the DSN in an environment variable,
// and @FILE for the DSN in a file, without the white space around it. The file is read once, so it may be a pipe, and
// ctx ends the wait for it. Only a SQLite database may stand for itself, because other users of the machine see the
// command line. Errors name the flag, and hold no DSN. It must show the dialect if that is empty and neither
// otherwise nor the environment, in [DialectVariable], has one.
func Resolve(ctx context.Context, flag, value, dialect string, otherwise ...string) (*Location, error) {
	switch {
	case value == "":
		return nil, fmt.Errorf("%s is missing: want env:NAME, @FILE, or a SQLite file", flag)
	case isCluster(value) && !strings.Contains(value, "@"): // it has no password
		c, err := parseCluster(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		return &Location{Cluster: c}, nil
	case !isSecret(value):
		d, err := dialectOf(value, dialect, otherwise...)
		if err != nil || d != sqlsnow.SQLite {
			return nil, fmt.Errorf("%s: the list of processes shows what is on the command line: "+
				"want env:NAME for an environment variable, or @FILE; for the file of a SQLite database, add --dialect sqlite", flag)
		}
		return locationOf(value, d), nil
	}
	all, warning, err := read(ctx, flag, value)
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		return nil, fmt.Errorf("%s: there are %d lines, want one", flag, len(all))
	}
	if isCluster(all[0]) {
		c, err := parseCluster(all[0])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		return &Location{Cluster: c, Warning: warning}, nil
	}
	d, err := dialectOf(all[0], dialect, otherwise...)
	if err != nil {
		return nil, err
	}
	l := locationOf(all[0], d)
	if d != sqlsnow.SQLite { // which has no password
		l.Warning = warning
	}
	return l, nil
}

func locationOf(dsn string, d sqlsnow.Dialect) *Location {
	l := &Location{Dialect: d, dsn: dsn}
	// @ and = stand in the DSN of a server
	if path := sqlitePath(dsn); d == sqlsnow.SQLite && !strings.ContainsAny(path, "@=") {
		l.path = path
	}
	return l
}

// isSecret reports whether a flag's value stands for what is kept elsewhere.
func isSecret(value string) bool {
	return strings.HasPrefix(value, "env:") || strings.HasPrefix(value, "@")
}

// Secrets returns the lines that a flag's value stands for, one or more: env:NAME the lines of an
// environment variable, and @FILE the lines of a file. White space around a line does not count, and neither do empty
// lines. The file may be a pipe, and ctx ends the wait for it. Errors name the flag, and hold no secret.
func Secrets(ctx context.Context, flag, value string) ([]string, error) {
	all, _, err := read(ctx, flag, value)
	return all, err
}

// read is Secrets, with a warning if others can read the file. ctx ends the wait for a pipe.
func read(ctx context.Context, flag, value string) (all []string, warning string, err error) {
	var text string
	if name, ok := strings.CutPrefix(value, "env:"); ok {
		if strings.ContainsAny(name, ":@/ ") { // it may be a DSN, and is not shown
			return nil, "", fmt.Errorf("%s: env: is followed by the name of an environment variable", flag)
		}
		if text, ok = os.LookupEnv(name); !ok {
			return nil, "", fmt.Errorf("%s: the environment has no %s", flag, name)
		}
	} else if name, ok := strings.CutPrefix(value, "@"); ok {
		if strings.Contains(name, "://") || strings.Contains(name, "@") {
			return nil, "", fmt.Errorf("%s: @ is followed by the path of a file, without another @", flag)
		}
		var b []byte
		b, warning, err = readFile(ctx, name)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", flag, err)
		}
		text = string(b)
		if warning != "" {
			warning = flag + ": " + warning
		}
	} else {
		return nil, "", fmt.Errorf("%s: the list of processes shows what is on the command line: want env:NAME or @FILE", flag)
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	if len(all) == 0 {
		return nil, "", fmt.Errorf("%s: %s is empty", flag, value)
	}
	return all, warning, nil
}

// readFile reads a file to its end, which a pipe may reach late or never.
func readFile(ctx context.Context, name string) (b []byte, warning string, err error) {
	type content struct {
		text    []byte
		warning string
	}
	c, err := interrupt.Call(ctx, func() (c content, err error) { // which may go on after ctx has ended
		f, err := os.Open(name)
		if err != nil {
			return c, err
		}
		defer f.Close()
		if exposed(f) {
			c.warning = fmt.Sprintf("all users of the machine can read %s, which has a secret: chmod o-r", name)
		}
		c.text, err = io.ReadAll(io.LimitReader(f, maxSecrets+1))
		if err == nil && len(c.text) > maxSecrets {
			err = fmt.Errorf("%s: it is longer than %d bytes", name, maxSecrets)
		}
		return c, err
	})
	if err != nil {
		return nil, "", err
	}
	return c.text, c.warning, nil
}

// exposed reports whether users outside the file's group can read it: its mode allows it, and so do the modes of
// the folders above.
func exposed(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || runtime.GOOS == "windows" || !info.Mode().IsRegular() || info.Mode()&0o004 == 0 {
		return false
	}
	path, err := filepath.Abs(f.Name())
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	for err == nil && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		if info, err = os.Stat(path); err == nil && info.Mode()&0o001 == 0 {
			return false
		}
	}
	return true
}
