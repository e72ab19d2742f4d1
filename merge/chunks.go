package merge

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
)

// A Chunk is a row of snow_merge_chunks: what a phase did with rows of a source
// table that follow on each other.
type Chunk struct {
	sourceTable int64
	phase       string
	seq         int64 // from 1 on
	lo          []any // the primary key that it begins after; nil for the start
	hi          []any // its last primary key
	read        int64 // rows of the source
	written     int64 // rows of the target
	rekeyed     int64 // rows with a new id
	merged      int64 // rows that others stand for
	dropped     int64
	hash        chunk.Sum // phase copy: of the source's rows; zero where a server has copied them itself
	place       int64     // phase mint: of the last new id
	late        int64     // phase mint: how far ids are ahead of their rows' dates at most, in microseconds
}

const chunkColumns = "source_table, phase, seq, lo, hi, rows_read, rows_written, rekeyed, merged, dropped, hash, place, displaced_us"

func (l ledger) insertChunks(ctx context.Context, chunks []Chunk) error {
	const width = 13
	for part := range slices.Chunk(chunks, 64) {
		var rows []string
		var args []any
		for i, c := range part {
			var lo any
			if c.lo != nil {
				lo = sqlvalue.FormatKey(c.lo)
			}
			args = append(args, c.sourceTable, c.phase, c.seq, lo, sqlvalue.FormatKey(c.hi), c.read, c.written, c.rekeyed, c.merged, c.dropped,
				c.hash.String(), c.place, c.late)
			places := l.engine.Placeholders(1+i*width, width)
			rows = append(rows, places[:len(places)-1]+", "+l.engine.Now+")")
		}
		text := "INSERT INTO snow_merge_chunks (" + chunkColumns + ", done_us) VALUES " + strings.Join(rows, ", ")
		if _, err := l.q.ExecContext(ctx, text, args...); err != nil {
			return err
		}
	}
	return nil
}

// chunks returns at most limit chunks of a phase with numbers above after.
func (l ledger) chunks(ctx context.Context, t *SourceTable, phase string, after int64, limit int) ([]Chunk, error) {
	return l.readChunks(ctx, "SELECT "+chunkColumns+" FROM snow_merge_chunks WHERE source_table = ? AND phase = ? AND seq > ? ORDER BY seq LIMIT ?",
		t.id, phase, after, limit)
}

// pending returns at most limit chunks of phase mint, with numbers above after,
// that a later phase has not done yet.
func (l ledger) pending(ctx context.Context, t *SourceTable, phase string, after int64, limit int) ([]Chunk, error) {
	return l.readChunks(ctx, "SELECT "+chunkColumns+` FROM snow_merge_chunks AS chunks WHERE source_table = ? AND phase = 'mint' AND seq > ?
		AND NOT EXISTS (SELECT 1 FROM snow_merge_chunks AS done WHERE done.source_table = chunks.source_table AND done.phase = ? AND done.seq = chunks.seq)
		ORDER BY seq LIMIT ?`, t.id, after, phase, limit)
}

// lastChunk returns the last chunk of phase mint, or one with number 0.
func (l ledger) lastChunk(ctx context.Context, t *SourceTable) (Chunk, error) {
	all, err := l.readChunks(ctx, "SELECT "+chunkColumns+" FROM snow_merge_chunks WHERE source_table = ? AND phase = 'mint' ORDER BY seq DESC LIMIT 1", t.id)
	if err != nil || len(all) == 0 {
		return Chunk{}, err
	}
	return all[0], nil
}

// done sums up what a phase has done with a source table: how many rows it has
// read, and how far ids are ahead of their rows at most.
func (l ledger) done(ctx context.Context, t *SourceTable, phase string) (c Chunk, err error) {
	err = l.q.QueryRowContext(ctx, l.engine.SQL(`SELECT COALESCE(SUM(rows_read), 0), COALESCE(MAX(displaced_us), 0)
		FROM snow_merge_chunks WHERE source_table = ? AND phase = ?`), t.id, phase).Scan(&c.read, &c.late)
	return c, l.engine.Failed("read the ledger", err)
}

func (l ledger) readChunks(ctx context.Context, text string, args ...any) (all []Chunk, err error) {
	err = l.read(ctx, text, args, func(rows *sql.Rows) error {
		c, err := scanChunk(rows)
		all = append(all, c)
		return err
	})
	return all, err
}

func scanChunk(rows *sql.Rows) (c Chunk, err error) {
	var lo sql.NullString
	var hi, hash string
	err = rows.Scan(&c.sourceTable, &c.phase, &c.seq, &lo, &hi, &c.read, &c.written, &c.rekeyed, &c.merged, &c.dropped, &hash, &c.place, &c.late)
	if err != nil {
		return c, err
	}
	if lo.Valid {
		if c.lo, err = sqlvalue.ParseKey(lo.String); err != nil {
			return c, err
		}
	}
	if c.hi, err = sqlvalue.ParseKey(hi); err != nil {
		return c, err
	}
	c.hash, err = chunk.ParseSum(hash)
	return c, err
}
