package chunk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// An Inserter inserts rows into one table, with a prepared statement for as many
// as one takes.
type Inserter struct {
	s       *Session
	table   string
	columns []*plan.Column
	full    *sql.Stmt
	rows    int    // that full takes
	most    int    // about how many bytes a statement has, 0 before it is known
	packet  int    // the server's max_allowed_packet, 0 if it has none
	texts   []bool // which columns of the target take no integer
}

// MostInserted is how many rows a statement inserts, and mostSent about how many bytes, or half of the server's
// max_allowed_packet: servers refuse statements that are too long.
const (
	MostInserted = 500
	mostSent     = 1 << 20
)

// NewInserter returns one for columns of a table.
func NewInserter(s *Session, table string, columns []*plan.Column) *Inserter {
	i := &Inserter{s: s, table: table, columns: columns, rows: max(1, min(MostInserted, s.Engine.MaxParams/len(columns)))}
	for _, c := range columns {
		i.texts = append(i.texts, s.Engine.Carrier(c) == dialect.CarryText)
	}
	return i
}

// Close ends the statement. Nothing depends on it any more, and of a connection
// that was lost an error would say so once more.
func (i *Inserter) Close() {
	if i.full != nil {
		_ = i.full.Close()
	}
}

func (i *Inserter) text(rows int) string {
	e := i.s.Engine
	return "INSERT INTO " + e.Table(i.table) + " (" + e.QuoteAll(namesOf(i.columns)) + ") VALUES " + e.PlaceholderRows(rows, len(i.columns))
}

// Write inserts rows, which have a value for each column. Without rows it asks the server nothing, so an error is about
// some of the rows.
func (i *Inserter) Write(ctx context.Context, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	if err := i.measure(ctx); err != nil {
		return err
	}
	for len(rows) > 0 {
		n, sent := 1, SizeOf(rows[0])
		for n < len(rows) && n < i.rows {
			if sent += SizeOf(rows[n]); sent > i.most {
				break
			}
			n++
		}
		if err := i.some(ctx, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// measure finds out how long a statement may be.
func (i *Inserter) measure(ctx context.Context) error {
	if i.most > 0 {
		return nil
	}
	if i.most = mostSent; i.s.Engine.Kind != sqlsnow.MySQL {
		return nil
	}
	err := i.s.QueryRowContext(ctx, "SELECT @@max_allowed_packet").Scan(&i.packet)
	i.most = min(mostSent, i.packet/2)
	// placeholders are part of the statement that is prepared
	i.rows = max(1, min(i.rows, i.packet/2/(3*len(i.columns)+1)))
	return err
}

// Limit returns how many bytes a statement may have, or 0 if the server does not say so.
func (i *Inserter) Limit(ctx context.Context) (int, error) {
	err := i.measure(ctx)
	return i.packet, err
}

// A PacketError says that one row is longer than a statement of the target may be.
type PacketError struct {
	Size, Limit int // in bytes, the size about
	Err         error
	row         []any
}

func (e *PacketError) Error() string {
	text := fmt.Sprintf("the row has about %d bytes, and max_allowed_packet of the target is %d: raise it there, up to 1073741824 (and maxAllowedPacket in the target's DSN, if it is set), or leave the row out by without_rows",
		e.Size, e.Limit)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns what the server or the driver said, which may be that the connection is lost.
func (e *PacketError) Unwrap() error { return e.Err }

// tooLong tells of an error of a row that is about as long as a statement may be.
func (i *Inserter) tooLong(ctx context.Context, rows [][]any, err error) error {
	if size := SizeOf(rows[0]); err != nil && ctx.Err() == nil && len(rows) == 1 && i.packet > 0 && 2*size >= i.packet {
		return &PacketError{Size: size, Limit: i.packet, Err: err, row: rows[0]}
	}
	return err
}

// Send sends a row in a statement as long as the one that inserts it, which writes nothing.
func (i *Inserter) Send(ctx context.Context, row []any) error {
	if err := i.measure(ctx); err != nil {
		return err
	}
	text := "DO " + strings.TrimSuffix(strings.Repeat("?,", len(row)), ",")
	text += " /*" + strings.Repeat("*", max(0, len(i.text(1))-len(text)-5)) + "*/"
	_, err := i.s.ExecContext(ctx, text, i.args([][]any{row})...)
	return i.tooLong(ctx, [][]any{row}, err)
}

// args returns the values of rows as the driver takes them.
func (i *Inserter) args(rows [][]any) []any {
	args := make([]any, 0, len(rows)*len(i.columns))
	for _, row := range rows {
		for n, v := range row {
			if i.texts[n] {
				v = FitValue(i.s.Engine, v, i.columns[n])
			}
			args = append(args, v)
		}
	}
	return args
}

func (i *Inserter) some(ctx context.Context, rows [][]any) error {
	args := i.args(rows)
	if len(rows) < i.rows {
		_, err := i.s.ExecContext(ctx, i.text(len(rows)), args...)
		return i.tooLong(ctx, rows, err)
	}
	if i.full == nil {
		var err error
		if i.full, err = i.s.PrepareContext(ctx, i.text(i.rows)); err != nil {
			return err
		}
	}
	_, err := i.full.ExecContext(ctx, args...)
	return i.tooLong(ctx, rows, err)
}

// Blame returns which of rows is the first that the target does not take, and
// its error, given that the target refuses all of them together with whole.
func (i *Inserter) Blame(ctx context.Context, rows [][]any, whole error) (at int, found error) {
	found = whole
	if packet := (*PacketError)(nil); errors.As(whole, &packet) { // the session is lost
		return max(0, slices.IndexFunc(rows, func(row []any) bool { return &row[0] == &packet.row[0] })), whole
	}
	_ = i.s.Try(ctx, nil, func() error {
		for n := range rows {
			if err := i.some(ctx, rows[n:n+1]); err != nil {
				found, at = err, n
				break
			}
		}
		return errRollBack
	})
	return at, found
}

// SizeOf returns about how many bytes rows have.
func SizeOf(rows ...[]any) (n int) {
	for _, row := range rows {
		n += 16 * len(row)
		for _, v := range row {
			switch v := v.(type) {
			case string:
				n += len(v)
			case []byte:
				n += 8 + len(v)
			}
		}
	}
	return n
}
