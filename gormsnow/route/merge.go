package route

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"sync"

	"github.com/shardsnow/snow"
)

// A merger answers queries about several shards. Each database that has some of them is asked once, all at the
// same time.
type merger struct {
	refuser
	b       *bound
	targets []int // ascending
	order   ordering
}

// QueryContext implements [gorm.ConnPool].
func (m *merger) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if len(m.targets) == 1 {
		return m.r.shards.At(uint64(m.targets[0])).Config.ConnPool.QueryContext(ctx, query, args...)
	}
	all := &rows{ordering: m.order, sources: make([]*source, len(m.targets))}
	ctx, all.cancel = context.WithCancel(ctx)
	errs := make(chan error, len(m.targets))
	var group sync.WaitGroup
	for i, target := range m.targets {
		s := &source{target: target}
		all.sources[i] = s
		group.Go(func() {
			var err error
			s.rows, err = m.r.shards.At(uint64(target)).Config.ConnPool.QueryContext(ctx, query, args...) //nolint:rowserrcheck // fill does
			if err != nil {
				errs <- &snow.ShardError{Index: target, Err: err}
				all.cancel() // of the others: without these rows, theirs are worth nothing
			}
		})
	}
	group.Wait()
	select {
	case err := <-errs: // the first one; the others may be due to the cancellation
		return nil, errors.Join(err, all.Close())
	default:
	}
	if err := all.open(); err != nil {
		return nil, errors.Join(err, all.Close())
	}
	all.pool = sql.OpenDB(connector{all})
	merged, err := all.pool.QueryContext(ctx, "")
	if err != nil {
		return nil, errors.Join(err, all.Close())
	}
	return merged, nil
}

// QueryRowContext implements [gorm.ConnPool].
func (m *merger) QueryRowContext(ctx context.Context, _ string, _ ...any) *sql.Row {
	return failedRow(ctx, m.b.refuse(m.b.reader.model, ErrSpread, "Row reads one row, and each shard has one: use Rows or Scan"))
}

// A source gives the rows of one database.
type source struct {
	target int
	rows   *sql.Rows
	head   []driver.Value // its next row, or nil
	rank   uint64         // of head
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
	key     int // the column by which they are merged
	sent    int
}

func (r *rows) open() (err error) {
	if r.names, err = r.sources[0].rows.Columns(); err != nil {
		return err
	}
	if r.types, err = r.sources[0].rows.ColumnTypes(); err != nil {
		return err
	}
	if r.key = -1; r.by != "" {
		for i, name := range r.names {
			if name == r.by {
				r.key = i
				return nil
			}
		}
		return fmt.Errorf("route: merge the rows by %q: the column is not selected", r.by)
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
	if r.limit >= 0 && r.sent == r.limit {
		return io.EOF
	}
	var best *source
	var total int64
	for _, s := range r.sources {
		if err := r.fill(s); err != nil {
			return &snow.ShardError{Index: s.target, Err: err}
		}
		switch {
		case s.head == nil:
		case r.counts:
			n, err := integer(s.head[0])
			if err != nil {
				return &snow.ShardError{Index: s.target, Err: err}
			}
			total += n
			s.head, best = nil, s
		case best == nil, r.key >= 0 && before(s.rank, best.rank, r.descends):
			best = s
		}
		if best != nil && r.key < 0 && !r.counts {
			break
		}
	}
	r.sent++
	switch {
	case best == nil:
		return io.EOF
	case r.counts:
		dest[0] = total
	default:
		copy(dest, best.head)
		best.head = nil
	}
	return nil
}

func before(a, b uint64, descends bool) bool {
	if descends {
		a, b = b, a
	}
	return cmp.Less(a, b)
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
	if r.key >= 0 {
		n, err := integer(head[r.key])
		if err != nil {
			return err
		}
		s.rank = uint64(n) ^ 1<<63 // negative numbers come first
	}
	s.head = head
	return nil
}

// integer returns a number as a driver gives it.
func integer(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case []byte:
		return strconv.ParseInt(string(v), 10, 64)
	case string:
		return strconv.ParseInt(v, 10, 64)
	}
	return 0, fmt.Errorf("route: merge the rows: a %T is no integer", v)
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
