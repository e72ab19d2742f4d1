package page

import (
	"context"
	"database/sql"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// A place says which database it is, as the server itself tells it. It has no secrets: no DSN is read for it.
type place struct {
	Product string // with its version
	Host    string // of the server that answered, which may be behind a proxy
	Name    string // of the database
	asked   time.Time
}

// placeOf asks a database for its place, in one query.
func placeOf(ctx context.Context, d Database) (p place, err error) {
	var version, host, name sql.NullString
	var port sql.NullInt64
	row := d.DB.QueryRowContext(ctx, placeQuery(d.Dialect))
	if err := row.Scan(&version, &host, &port, &name); err != nil {
		return place{}, err
	}
	p = place{Product: productOf(d.Dialect, version.String), Host: host.String, Name: name.String, asked: time.Now()}
	if p.Host != "" && port.Int64 > 0 {
		p.Host += ":" + strconv.FormatInt(port.Int64, 10)
	}
	if d.Dialect == sqlsnow.SQLite {
		if p.Name = filepath.Base(name.String); name.String == "" {
			p.Name = "in memory"
		}
	}
	if d.Host != "" {
		p.Host = d.Host
	}
	return p, nil
}

func placeQuery(d sqlsnow.Dialect) string {
	switch d {
	case sqlsnow.MySQL:
		return "SELECT VERSION(), @@hostname, @@port, DATABASE()"
	case sqlsnow.Postgres:
		return "SELECT version(), host(inet_server_addr()), inet_server_port(), current_database()"
	}
	return "SELECT sqlite_version(), '', 0, (SELECT file FROM pragma_database_list WHERE name = 'main')"
}

// longestProduct bounds what is shown of a server's own words, in bytes.
const longestProduct = 64

// productOf returns the product and its version from what a server says its version is.
func productOf(d sqlsnow.Dialect, version string) string {
	version = strings.ToValidUTF8(version[:min(len(version), longestProduct)], "")
	switch d {
	case sqlsnow.MySQL:
		version = strings.TrimPrefix(version, "5.5.5-") // for clients of long ago
		number, rest, _ := strings.Cut(version, "-")
		for _, product := range []string{"MariaDB", "TiDB"} {
			if strings.Contains(rest, product) {
				return product + " " + number
			}
		}
		return "MySQL " + number
	case sqlsnow.Postgres:
		words := strings.Fields(version)
		for i, word := range words { // such as "PostgreSQL 17.2 on x86_64"
			if i > 0 && strings.ContainsAny(word, "0123456789") {
				return strings.Join(words[:i+1], " ")
			}
		}
		return "PostgreSQL"
	}
	return "SQLite " + version
}
