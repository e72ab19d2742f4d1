package database

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxDSN bounds the size of a file with a DSN.
const maxDSN = 64 << 10

// Resolve returns the DSN that a flag's value stands for: that of an environment
// variable for env:NAME, or the contents of a file for @FILE, without the white space
// around it. Only a SQLite database may stand for itself, because other users
// of the machine see the command line.
func Resolve(value, dialect string) (string, error) {
	if name, ok := strings.CutPrefix(value, "env:"); ok {
		dsn := strings.TrimSpace(os.Getenv(name))
		if dsn == "" {
			return "", fmt.Errorf("--dsn: the environment has no %s", name)
		}
		return dsn, nil
	}
	if name, ok := strings.CutPrefix(value, "@"); ok {
		dsn, err := readDSN(name)
		if err != nil {
			return "", fmt.Errorf("--dsn: %w", err)
		}
		return dsn, nil
	}
	if value == "" {
		return "", errors.New("--dsn is missing: want env:NAME, @FILE, or a SQLite file")
	}
	if dialect != "sqlite" && !isSQLite(value) || strings.HasPrefix(value, "postgres") {
		return "", errors.New("--dsn: the list of processes shows what is on the command line: " +
			"want env:NAME for an environment variable, or @FILE; for the file of a SQLite database, add --dialect sqlite")
	}
	return value, nil
}

func readDSN(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxDSN+1))
	switch text := strings.TrimSpace(string(b)); {
	case err != nil:
		return "", err
	case len(b) > maxDSN:
		return "", fmt.Errorf("%s: it is longer than %d bytes", name, maxDSN)
	case text == "":
		return "", fmt.Errorf("%s: it is empty", name)
	case strings.ContainsAny(text, "\r\n"):
		return "", fmt.Errorf("%s: want one line", name)
	default:
		return text, nil
	}
}

// isSQLite reports whether a DSN shows that it is for SQLite.
func isSQLite(dsn string) bool {
	path := sqlitePath(dsn)
	return strings.HasPrefix(dsn, "file:") || strings.HasSuffix(path, ".db") || strings.HasSuffix(path, ".sqlite") || strings.HasSuffix(path, ".sqlite3")
}

// sqlitePath returns a DSN of SQLite without its parameters, which can contain a key.
func sqlitePath(dsn string) string {
	path, _, _ := strings.Cut(dsn, "?")
	return path
}
