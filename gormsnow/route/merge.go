package route

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
)

// A merger answers queries about several shards. Each database that has some of them is asked once, all at the
// same time.
type merger struct {
	refuser
	b         *bound
	databases []int // ascending
	pools     []gorm.ConnPool
	order     ordering
}

// QueryContext implements [gorm.ConnPool].
func (m *merger) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if len(m.databases) == 1 {
		return m.pools[0].QueryContext(ctx, query, args...)
	}
	all, ctx, err := m.open(ctx, query, args)
	if err != nil {
		return nil, err
	}
	merged, err := all.pool.QueryContext(ctx, "")
	if err != nil {
		return nil, errors.Join(err, all.Close())
	}
	return merged, nil
}

// QueryRowContext implements [gorm.ConnPool].
func (m *merger) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	switch {
	case m.order.combine == nil && m.order.by == nil:
		return failedRow(ctx, m.b.refuse(m.b.model(), ErrSpread, "Row reads one row, and each shard has one: order them, or use Rows or Scan"))
	case len(m.databases) == 1:
		return m.pools[0].QueryRowContext(ctx, query, args...)
	}
	all, ctx, err := m.open(ctx, query, args)
	if err != nil {
		return failedRow(ctx, err)
	}
	return all.pool.QueryRowContext(ctx, "")
}

// open asks all databases. Its context ends when the rows are closed.
func (m *merger) open(parent context.Context, query string, args []any) (*rows, context.Context, error) {
	ctx, cancel := context.WithCancel(parent)
	all := &rows{ordering: m.order, cancel: cancel, sources: make([]*source, len(m.databases))}
	errs := make(chan error, len(m.databases))
	var group sync.WaitGroup
	for i, target := range m.databases {
		s := &source{target: target}
		all.sources[i] = s
		group.Go(func() {
			var err error
			s.rows, err = m.pools[i].QueryContext(ctx, query, args...) //nolint:rowserrcheck // fill does
			if err != nil {
				errs <- &snow.ShardError{Index: target, Err: err}
				cancel() // of the others: without these rows, theirs are worth nothing
			}
		})
	}
	group.Wait()
	var err error
	select {
	case err = <-errs: // the first one; the others may be due to the cancellation
	default:
		err = all.open()
	}
	if err != nil {
		return nil, parent, errors.Join(err, all.Close())
	}
	all.pool = sql.OpenDB(connector{all})
	return all, ctx, nil
}

// A source gives the rows of one database.
type source struct {
	target int
	rows   *sql.Rows
	head   []driver.Value // its next row, or nil
	ranks  []rank         // of head, by column of the order
	done   bool
}

// rows are the rows of several databases. It is a driver.Rows, so that GORM reads them as any others.
type rows struct {
	ordering
	sources []*source
	cancel  context.CancelFunc
	pool    *sql.DB // which exists for these rows
	names   []string
	types   []*sql.ColumnType
	keys    []int // the columns of the order
	sent    int
}

func (r *rows) open() (err error) {
	if r.names, err = r.sources[0].rows.Columns(); err != nil {
		return err
	}
	if r.types, err = r.sources[0].rows.ColumnTypes(); err != nil {
		return err
	}
	for _, by := range r.by {
		at := -1
		for i, name := range r.names {
			switch {
			case !strings.EqualFold(name, by.column):
			case at >= 0:
				return fmt.Errorf("route: merge the rows by %q: two columns have this name", by.column)
			default:
				at = i
			}
		}
		if at < 0 {
			return fmt.Errorf("route: merge the rows by %q: the column is not selected", by.column)
		}
		r.keys = append(r.keys, at)
	}
	if r.combine != nil && len(r.combine) != len(r.names) {
		return fmt.Errorf("route: merge the rows: there are %d columns, not %d", len(r.names), len(r.combine))
	}
	return nil
}

// Columns implements [driver.Rows].
func (r *rows) Columns() []string { return r.names }

// Close implements [driver.Rows].
func (r *rows) Close() error {
	defer r.cancel() // not before: MySQL's driver would give up the connections
	var errs []error
	for _, s := range r.sources {
		if s.rows != nil {
			if err := s.rows.Close(); err != nil && !errors.Is(err, context.Canceled) {
				errs = append(errs, &snow.ShardError{Index: s.target, Err: err})
			}
		}
	}
	if r.pool != nil {
		errs = append(errs, r.pool.Close())
	}
	return errors.Join(errs...)
}

// ColumnTypeScanType implements [driver.RowsColumnTypeScanType].
func (r *rows) ColumnTypeScanType(i int) reflect.Type { return r.types[i].ScanType() }

// ColumnTypeDatabaseTypeName implements [driver.RowsColumnTypeDatabaseTypeName].
func (r *rows) ColumnTypeDatabaseTypeName(i int) string { return r.types[i].DatabaseTypeName() }

// ColumnTypeNullable implements [driver.RowsColumnTypeNullable].
func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) { return r.types[i].Nullable() }

// ColumnTypeLength implements [driver.RowsColumnTypeLength].
func (r *rows) ColumnTypeLength(i int) (length int64, ok bool) { return r.types[i].Length() }

// ColumnTypePrecisionScale implements [driver.RowsColumnTypePrecisionScale].
func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	return r.types[i].DecimalSize()
}

// Next implements [driver.Rows].
func (r *rows) Next(dest []driver.Value) error {
	if r.sent == r.limit {
		return io.EOF
	}
	var best *source
	for _, s := range r.sources {
		if err := r.fill(s); err != nil {
			return &snow.ShardError{Index: s.target, Err: err}
		}
		switch {
		case s.head == nil:
		case best == nil, r.by != nil && r.before(s, best):
			best = s
		}
		if best != nil && r.by == nil && r.combine == nil {
			break
		}
	}
	if best == nil {
		return io.EOF
	}
	r.sent++
	if r.combine == nil {
		copy(dest, best.head)
		best.head = nil
		return nil
	}
	for i, c := range r.combine {
		var values []any
		for _, s := range r.sources {
			if s.head != nil {
				values = append(values, s.head[i])
			}
		}
		var err error
		if dest[i], err = combine(c.function, values, c.measure); err != nil {
			return err
		}
	}
	r.limit = r.sent // it was the only row
	return nil
}

func (r *rows) before(a, b *source) bool {
	for i, by := range r.by {
		if c := a.ranks[i].compare(b.ranks[i], r.nullsLast); c != 0 {
			return (c < 0) != by.descends
		}
	}
	return false
}

// fill reads the next row of a source.
func (r *rows) fill(s *source) error {
	if s.done || s.head != nil {
		return nil
	}
	if !s.rows.Next() {
		s.done = true
		return errors.Join(s.rows.Err(), s.rows.Close())
	}
	cells, into, head := make([]any, len(r.names)), make([]any, len(r.names)), make([]driver.Value, len(r.names))
	for i := range cells {
		into[i] = &cells[i]
	}
	if err := s.rows.Scan(into...); err != nil {
		return err
	}
	for i := range cells {
		head[i] = cells[i]
	}
	ranks := make([]rank, len(r.keys))
	for i, key := range r.keys {
		var err error
		if ranks[i], err = rankOf(head[key], r.by[i].measure); err != nil {
			return err
		}
	}
	// What the database sorts otherwise than Go would be merged wrongly.
	next := &source{ranks: ranks}
	if s.ranks != nil && r.before(next, s) {
		return errors.New("route: merge the rows: the database has sorted them otherwise: order by the key")
	}
	s.head, s.ranks = head, ranks
	return nil
}

// A connector is a driver whose only query returns the rows.
type connector struct{ rows *rows }

func (c connector) Connect(context.Context) (driver.Conn, error) { return c, nil }
func (c connector) Driver() driver.Driver                        { return nil }
func (connector) Prepare(string) (driver.Stmt, error)            { return nil, errors.ErrUnsupported }

func (connector) Begin() (driver.Tx, error) { return nil, errors.ErrUnsupported }
func (connector) Close() error              { return nil }
func (c connector) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return c.rows, nil
}
