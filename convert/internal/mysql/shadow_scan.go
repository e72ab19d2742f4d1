package mysql

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/convert/internal/job"
)

// A scan goes through a table in the order of its primary key. Its position is stored after each chunk.
type scan struct {
	r *relation
	place
	rows int64 // of the next chunk
}

// A place is where a scan is.
type place struct {
	After []string `json:"after"` // the last key, as literals; empty at the beginning
	Done  int64    `json:"done"`  // rows
	Ended bool     `json:"ended"`
	Of    string   `json:"of,omitempty"` // the target: a new one begins anew
}

// chunkTime is how long a chunk should take. A chunk has between the least and the most rows.
const (
	chunkTime  = 500 * time.Millisecond
	leastRows  = 100
	firstRows  = 2000
	mostRows   = 100_000
	scanFactor = 4 // between one chunk and the next
)

func newScan(r *relation, position string) (*scan, error) {
	c := &scan{r: r, rows: firstRows}
	if position != "" {
		if err := json.Unmarshal([]byte(position), &c.place); err != nil {
			return nil, fmt.Errorf("mysql: position %q of %q: %w", position, r.name, err)
		}
	}
	for _, name := range r.key {
		if _, err := keyExpression(r, name, ""); err != nil {
			return nil, err
		}
	}
	if len(r.key) == 0 || r.prefixed {
		return nil, fmt.Errorf("mysql: table %q can't be read in parts: it has no primary key of whole columns", r.name)
	}
	return c, nil
}

// keyExpression returns an expression that makes a literal of a column's value.
func keyExpression(r *relation, name, alias string) (string, error) {
	f, c := r.field(name), column(alias, name)
	switch f.kind {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "year":
		return "CAST(" + c + " AS CHAR)", nil
	case "char", "varchar":
		return fmt.Sprintf("CONCAT('_%s X''', HEX(%s), ''' COLLATE %s')", f.charset, c, f.collation), nil
	case "binary", "varbinary":
		return "CONCAT('X''', HEX(" + c + "), '''')", nil
	case "date", "time", "datetime", "timestamp", "uuid", "inet4", "inet6":
		return "CONCAT('''', CAST(" + c + " AS CHAR), '''')", nil
	}
	return "", fmt.Errorf("mysql: table %q can't be read in parts: its key column %q has type %q", r.name, name, f.full)
}

// beyond says that the key of a row is greater than a place, or is not.
func (c *scan) beyond(alias string, key []string, greater bool) string {
	op := " < "
	if greater {
		op = " > "
	}
	var any []string
	for i, name := range c.r.key {
		var all []string
		for j := range i {
			all = append(all, column(alias, c.r.key[j])+" = "+key[j])
		}
		last := op
		if !greater && i == len(key)-1 {
			last = " <= "
		}
		any = append(any, "("+strings.Join(append(all, column(alias, name)+last+key[i]), " AND ")+")")
	}
	return "(" + strings.Join(any, " OR ") + ")"
}

// A chunk is rows with keys in a range.
type chunk struct {
	scan *scan
	next []string // the last key, or nothing if the range has no end
}

// where says that a row is in the chunk.
func (k *chunk) where(alias string) string {
	parts := []string{"TRUE"}
	if len(k.scan.After) > 0 {
		parts = append(parts, k.scan.beyond(alias, k.scan.After, true))
	}
	if len(k.next) > 0 {
		parts = append(parts, k.scan.beyond(alias, k.next, false))
	}
	return strings.Join(parts, " AND ")
}

// chunk returns the next chunk.
func (c *scan) chunk(ctx context.Context, q querier) (*chunk, error) {
	k := &chunk{scan: c}
	alias := c.r.alias("s")
	keys := make([]string, len(c.r.key))
	for i, name := range c.r.key {
		var err error
		if keys[i], err = keyExpression(c.r, name, alias); err != nil {
			return nil, err
		}
	}
	rows, err := texts(ctx, q, fmt.Sprintf("SELECT %s FROM %s AS %s FORCE INDEX (PRIMARY) WHERE %s ORDER BY %s LIMIT 1 OFFSET %d",
		strings.Join(keys, ", "), quote(c.r.name), alias, k.where(alias), columns(alias, c.r.key), c.rows-1))
	if err != nil {
		return nil, err
	}
	if len(rows) > 0 {
		k.next = rows[0]
	}
	return k, nil
}

// run does something with each chunk, in a transaction that also stores the position.
func (c *scan) run(ctx context.Context, s *session, run *job.Run, store bool, do func(querier, *chunk) error) error {
	for !c.Ended {
		began := time.Now()
		tx, err := s.BeginTx(ctx, nil)
		if err != nil {
			return fmt.Errorf("mysql: begin: %w", err)
		}
		k, err := c.chunk(ctx, tx)
		if err == nil {
			err = do(tx, k)
		}
		after := place{After: slices.Clone(c.After), Done: c.Done, Of: c.Of}
		if err == nil {
			if after.Done += c.rows; len(k.next) == 0 {
				after.Ended = true
			} else {
				after.After = k.next
			}
			if store {
				var position []byte
				if position, err = json.Marshal(after); err == nil {
					err = run.Store(ctx, tx, string(position))
				}
			} else {
				err = run.Check(ctx)
			}
		}
		if err != nil {
			_ = tx.Rollback()
			return err
		}
		if err := tx.Commit(); err != nil {
			return fmt.Errorf("mysql: commit: %w", err)
		}
		c.place = after
		c.adapt(time.Since(began))
		if err := run.Wait(ctx, c.Done, max(c.r.plan.Rows, c.Done)); err != nil {
			return err
		}
	}
	return nil
}

// adapt chooses how many rows the next chunk has.
func (c *scan) adapt(took time.Duration) {
	wanted := int64(float64(c.rows) * float64(chunkTime) / float64(max(took, time.Millisecond)))
	c.rows = min(max(wanted, c.rows/scanFactor, leastRows), c.rows*scanFactor, mostRows)
}

// differs says that a row of the source and the one of the target with its key are not the same.
func differs(r *relation) string {
	same := []string{"TRUE"}
	for _, name := range r.stored() {
		s, d := column(r.alias("s"), name), column(r.alias("d"), name)
		switch f := r.field(name); {
		case f.kind == "json":
			s, d = "CAST(CAST("+s+" AS CHAR) AS BINARY)", "CAST(CAST("+d+" AS CHAR) AS BINARY)"
		case f.collation != "":
			s, d = "CAST("+s+" AS BINARY)", "CAST("+d+" AS BINARY)"
		case strings.Contains("geometry point linestring polygon multipoint multilinestring multipolygon geometrycollection geomcollection", f.kind):
			s, d = "HEX("+s+")", "HEX("+d+")"
		}
		same = append(same, s+" <=> "+d)
	}
	return fmt.Sprintf("%s IS NULL OR NOT (%s)", column(r.alias("d"), r.key[0]), strings.Join(same, " AND "))
}

// scanIfNeeded compares sources and targets and lists the rows that differ, if an entry says that changes were missed.
func (c *carrier) scanIfNeeded(ctx context.Context, run *job.Run) error {
	for _, r := range c.world {
		needed, err := texts(ctx, c.s, fmt.Sprintf("SELECT 1 FROM %s WHERE depth = %d LIMIT 1", c.entries(r), depthScan))
		if err != nil {
			return err
		}
		if len(needed) == 0 {
			continue
		}
		rows, err := newScan(r, "")
		if err != nil {
			return err
		}
		if err := rows.run(ctx, c.s, run, false, func(q querier, k *chunk) error { return c.listDifferences(ctx, q, r, k) }); err != nil {
			return err
		}
		if err := c.s.exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE depth = %d", quote(c.log(r.name)), depthScan)); err != nil {
			return err
		}
	}
	return nil
}

// listDifferences lists the rows of a chunk that differ, or are in one of the tables only.
func (c *carrier) listDifferences(ctx context.Context, q querier, r *relation, k *chunk) error {
	if err := exec(ctx, q, fmt.Sprintf("INSERT INTO %s SELECT UUID_SHORT(), 0, %s, %s FROM %s LEFT JOIN %s ON %s WHERE %s AND (%s)",
		quote(c.log(r.name)), nulls(len(r.tracked)), columns(r.alias("s"), r.tracked), c.source(r), c.target(r), r.joined(), k.where(r.alias("s")), differs(r))); err != nil {
		return err
	}
	return exec(ctx, q, fmt.Sprintf("INSERT INTO %s SELECT UUID_SHORT(), 0, %s, %s FROM %s LEFT JOIN %s ON %s WHERE %s AND %s IS NULL",
		quote(c.log(r.name)), columns(r.alias("d"), r.tracked), nulls(len(r.tracked)), c.target(r), c.source(r), r.joined(), k.where(r.alias("d")), column(r.alias("s"), r.key[0])))
}
