package merge

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/shardsnow/snow/merge/report"
)

// A worker is the connections of one goroutine.
type worker struct {
	merge   *Merge
	target  *session
	sources map[string]*session

	databases map[string]string // of sources on the target's server; "" for those that are not
	resolver  *resolver
	insert    inserter
	mapped    *sql.Stmt // inserts as many rows of the map as one takes
}

// newWorker connects to the target; sources follow when they are asked for.
func (m *Merge) newWorker(ctx context.Context) (*worker, error) {
	target, err := m.engine.openSession(ctx, m.target, m.engine.target)
	if err != nil {
		return nil, err
	}
	w := &worker{merge: m, target: target, sources: map[string]*session{}, resolver: newResolver(m.engine)}
	w.insert.worker = w
	return w, nil
}

// newWriter returns a worker that may write.
func (m *Merge) newWriter(ctx context.Context) (*worker, error) {
	w, err := m.newWorker(ctx)
	if err != nil || !m.config.WithoutForeignKeys {
		return w, err
	}
	if _, err := w.target.ExecContext(ctx, m.engine.unchecked); err != nil {
		return nil, errors.Join(m.engine.failed("turn foreign keys off", err), w.close())
	}
	return w, nil
}

// source returns the connection of a source.
func (w *worker) source(ctx context.Context, name string) (*session, error) {
	if s := w.sources[name]; s != nil {
		return s, nil
	}
	s, err := w.merge.engine.openSession(ctx, w.merge.source(name), w.merge.engine.source)
	if err != nil {
		return nil, sourceError(name, err)
	}
	w.sources[name] = s
	return s, nil
}

func sourceError(name string, err error) error {
	if err == nil {
		return nil
	}
	return &SourceError{Source: name, Err: err}
}

// A SourceError says which source an error is of.
type SourceError struct {
	Source string
	Err    error
}

func (e *SourceError) Error() string {
	return "source " + strconv.Quote(e.Source) + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *SourceError) Unwrap() error { return e.Err }

// rewriter returns what rewrites the rows of a scope.
func (w *worker) rewriter(ctx context.Context, r *run, s *scope) (*rewriter, error) {
	source, err := w.source(ctx, s.source)
	if err != nil {
		return nil, err
	}
	return &rewriter{engine: w.merge.engine, scopes: r.of(s.source), target: w.target, source: source, resolver: w.resolver}, nil
}

// read returns rows of a scope, see readRange.
func (w *worker) read(ctx context.Context, s *scope, after, upto []any, limit int) ([][]any, error) {
	source, err := w.source(ctx, s.source)
	if err != nil {
		return nil, err
	}
	rows, err := w.merge.engine.readRange(ctx, source, s.table, s.columns, after, upto, limit)
	if err != nil {
		return nil, sourceError(s.source, w.merge.engine.failed("read table "+strconv.Quote(s.table.Name), err))
	}
	return rows, nil
}

func (w *worker) close() error {
	// Nothing depends on statements any more, and of a connection that was lost they only say so once more.
	_ = w.insert.close()
	if w.mapped != nil {
		_ = w.mapped.Close()
	}
	errs := []error{w.target.close()}
	for _, s := range w.sources {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// An inserter writes rows into one table at a time, with a prepared statement
// for as many as one takes.
type inserter struct {
	worker *worker
	scope  *scope
	full   *sql.Stmt
	rows   int    // that full takes
	texts  []bool // which columns of the target take no integer
}

// mostInserted is how many rows a statement inserts, and mostSent about how
// many bytes: servers refuse statements that are too long.
const (
	mostInserted = 500
	mostSent     = 1 << 20
)

func (i *inserter) close() error {
	if i.full == nil {
		return nil
	}
	err := i.full.Close()
	i.full, i.scope = nil, nil
	return err
}

func (i *inserter) text(s *scope, rows int) string {
	e := i.worker.merge.engine
	names := make([]string, len(s.columns))
	for n, c := range s.columns {
		names[n] = c.Name
	}
	return "INSERT INTO " + e.quote(s.table.Name) + " (" + e.quoteAll(names) + ") VALUES " + e.manyPlaces(rows, len(names))
}

// write inserts rows, which have a value for each column of the scope. It must
// be called in a transaction.
func (i *inserter) write(ctx context.Context, s *scope, rows [][]any) error {
	e := i.worker.merge.engine
	if i.scope != s {
		if err := i.close(); err != nil {
			return err
		}
		i.scope, i.rows, i.texts = s, max(1, min(mostInserted, e.maxParams/len(s.columns))), i.texts[:0]
		for _, c := range s.columns {
			i.texts = append(i.texts, e.carrier(c) == carryText)
		}
	}
	for len(rows) > 0 {
		n, sent := 0, 0
		for n < len(rows) && n < i.rows && (n == 0 || sent < mostSent) {
			sent += sizeOf(rows[n])
			n++
		}
		if err := i.some(ctx, s, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func (i *inserter) some(ctx context.Context, s *scope, rows [][]any) error {
	e, target := i.worker.merge.engine, i.worker.target
	args := make([]any, 0, len(rows)*len(s.columns))
	for _, row := range rows {
		for n, v := range row {
			if i.texts[n] {
				v = e.fit(v, s.columns[n])
			}
			args = append(args, v)
		}
	}
	if len(rows) < i.rows {
		_, err := target.ExecContext(ctx, i.text(s, len(rows)), args...)
		return err
	}
	if i.full == nil {
		var err error
		if i.full, err = target.PrepareContext(ctx, i.text(s, i.rows)); err != nil {
			return err
		}
	}
	_, err := i.full.ExecContext(ctx, args...)
	return err
}

// sizeOf returns about how many bytes a row has.
func sizeOf(row []any) int {
	n := 0
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += 16 + len(v)
		case []byte:
			n += 24 + len(v)
		default:
			n += 16
		}
	}
	return n
}

// blame returns the error of the first of rows that the target does not take,
// given that it does not take all of them together.
func (i *inserter) blame(ctx context.Context, s *scope, rows []row, values [][]any, whole error) error {
	e, target := i.worker.merge.engine, i.worker.target
	found := whole
	at := 0
	_ = e.try(ctx, target, nil, func() error {
		for n := range values {
			if err := i.some(ctx, s, values[n:n+1]); err != nil {
				found, at = err, n
				break
			}
		}
		return errRollBack
	})
	if len(rows) == 0 {
		return e.failed("insert", found)
	}
	return &report.RowError{Source: s.source, Table: s.table.Name, Row: keyText(rows[at].key), Err: e.failed("insert", found)}
}

var errRollBack = errors.New("roll back")
