package database

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// maxSecrets bounds the size of a file with secrets.
const maxSecrets = 64 << 10

// Resolve returns the DSN that a flag's value stands for: that of an environment
// variable for env:NAME, or the contents of a file for @FILE, without the white space
// around it. Only a SQLite database may stand for itself, because other users
// of the machine see the command line. Errors name the flag.
// It must show the dialect if that is empty.
func Resolve(flag, value, dialect string) (string, error) {
	dsn, err := dsnOf(flag, value, dialect)
	if err != nil {
		return "", err
	}
	if _, err := dialectOf(dsn, dialect); err != nil {
		return "", err
	}
	return dsn, nil
}

func dsnOf(flag, value, dialect string) (string, error) {
	if value == "" {
		return "", fmt.Errorf("%s is missing: want env:NAME, @FILE, or a SQLite file", flag)
	}
	if strings.HasPrefix(value, "env:") || strings.HasPrefix(value, "@") {
		all, err := Secrets(flag, value)
		if err == nil && len(all) > 1 {
			err = fmt.Errorf("%s: there are %d lines, want one", flag, len(all))
		}
		if err != nil {
			return "", err
		}
		return all[0], nil
	}
	if dialect != "sqlite" && (dialect != "" || !isSQLite(value)) {
		return "", fmt.Errorf("%s: the list of processes shows what is on the command line: "+
			"want env:NAME for an environment variable, or @FILE; for the file of a SQLite database, add --dialect sqlite", flag)
	}
	return value, nil
}

// Secrets returns the lines that a flag's value stands for, one or more: env:NAME those of an
// environment variable, and @FILE those of a file. White space around a line does not count, and neither do empty
// lines. Errors name the flag, and hold no secret.
func Secrets(flag, value string) ([]string, error) {
	var text string
	if name, ok := strings.CutPrefix(value, "env:"); ok {
		if strings.ContainsAny(name, ":@/ ") { // it may be a DSN, and is not shown
			return nil, fmt.Errorf("%s: env: is followed by the name of an environment variable", flag)
		}
		if text, ok = os.LookupEnv(name); !ok {
			return nil, fmt.Errorf("%s: the environment has no %s", flag, name)
		}
	} else if name, ok := strings.CutPrefix(value, "@"); ok {
		if strings.Contains(name, "://") || strings.Contains(name, "@") {
			return nil, fmt.Errorf("%s: @ is followed by the path of a file, without another @", flag)
		}
		b, err := readFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		text = string(b)
	} else {
		return nil, fmt.Errorf("%s: the list of processes shows what is on the command line: want env:NAME or @FILE", flag)
	}
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: %s is empty", flag, value)
	}
	return all, nil
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecrets+1))
	if err == nil && len(b) > maxSecrets {
		return nil, fmt.Errorf("%s: it is longer than %d bytes", name, maxSecrets)
	}
	return b, err
}

// isSQLite reports whether a DSN shows that it is for SQLite: it is a URI file:…, or the path of a
// file with a usual ending. A path with a parenthesis or :// could be the DSN of a server.
func isSQLite(dsn string) bool {
	if strings.HasPrefix(dsn, "file:") {
		return true
	}
	path := sqlitePath(dsn)
	if strings.Contains(path, "(") || strings.Contains(path, "://") {
		return false
	}
	return strings.HasSuffix(path, ".db") || strings.HasSuffix(path, ".sqlite") || strings.HasSuffix(path, ".sqlite3")
}

// sqlitePath returns a DSN of SQLite without its parameters, which can contain a key.
func sqlitePath(dsn string) string {
	path, _, _ := strings.Cut(dsn, "?")
	return path
}
