package convert

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

const (
	sampleRows = 20_000
)

// copyFactor returns how much longer a copy takes than reading the sample: rows are also written, to the table, its
// indexes and logs. On PostgreSQL an online change updates every row, and each update is a new version in all indexes.
// These are figures of a table of 300,000 rows with three indexes, on servers with small caches.
func copyFactor(d sqlsnow.Dialect, m plan.Method) float64 {
	switch {
	case d == sqlsnow.MySQL:
		return 15
	case m == plan.Online:
		return 50
	}
	return 5
}

// estimate fills in how long the copies of tables take, and notes how much disk they need.
func estimate(ctx context.Context, d sqlsnow.Dialect, conn *sql.Conn, p *plan.Plan) error {
	var largest *plan.Table
	var bytes int64
	for _, t := range p.Tables {
		if len(t.Columns) == 0 {
			continue
		}
		bytes += t.Bytes
		if largest == nil || t.Bytes > largest.Bytes {
			largest = t
		}
	}
	if largest == nil || largest.Rows == 0 {
		return nil
	}
	begun := time.Now()
	n, err := readSample(ctx, conn, "SELECT * FROM "+d.Quote(largest.Name)+fmt.Sprintf(" LIMIT %d", sampleRows))
	if err != nil || n == 0 {
		return err
	}
	perByte := time.Since(begun).Seconds() / (float64(n) * float64(largest.Bytes) / float64(largest.Rows))
	for _, t := range p.Tables {
		if len(t.Columns) > 0 {
			t.Seconds = round(float64(t.Bytes) * perByte * copyFactor(d, t.Method))
		}
	}
	p.Notes = append(p.Notes, fmt.Sprintf("disk: up to %s more until the end of the conversion, and as much in the server's logs", size(bytes)))
	return nil
}

// readSample reads all rows of a query, and returns how many there are.
func readSample(ctx context.Context, conn *sql.Conn, query string) (n int64, err error) {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	values, targets := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}

// round rounds seconds up to two digits, or to tenths.
func round(seconds float64) float64 {
	unit := 0.1
	for seconds/unit >= 100 {
		unit *= 10
	}
	if unit < 1 {
		return math.Ceil(seconds*10) / 10
	}
	return math.Ceil(seconds/unit) * unit
}

// size writes a number of bytes for people.
func size(bytes int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}} {
		if bytes >= unit.bytes {
			return fmt.Sprintf("%.1f %s", float64(bytes)/float64(unit.bytes), unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}
