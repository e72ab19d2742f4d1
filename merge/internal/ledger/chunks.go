package ledger

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
	SourceTable int64
	Phase       string
	Seq         int64 // from 1 on
	Lo          []any // the primary key that it begins after; nil for the start
	Hi          []any // its last primary key
	Read        int64 // rows of the source
	Written     int64 // rows of the target
	Rekeyed     int64 // rows with a new id
	Merged      int64 // rows that others stand for
	Dropped     int64
	Hash        chunk.Sum // phase copy: of the source's rows; zero where a server has copied them itself
	Place       int64     // phase mint: of the last new id
	Late        int64     // phase mint: how far ids are ahead of their rows' dates at most, in microseconds
}

const chunkColumns = "source_table, phase, seq, lo, hi, rows_read, rows_written, rekeyed, merged, dropped, hash, place, displaced_us"

// InsertChunks writes chunks that a phase has done.
func (l Ledger) InsertChunks(ctx context.Context, chunks []Chunk) error {
	const width = 13
	for part := range slices.Chunk(chunks, 64) {
		var rows []string
		var args []any
		for i, c := range part {
			var lo any
			if c.Lo != nil {
				lo = sqlvalue.FormatKey(c.Lo)
			}
			args = append(args, c.SourceTable, c.Phase, c.Seq, lo, sqlvalue.FormatKey(c.Hi), c.Read, c.Written, c.Rekeyed, c.Merged, c.Dropped,
				c.Hash.String(), c.Place, c.Late)
			places := l.Engine.Placeholders(1+i*width, width)
			rows = append(rows, places[:len(places)-1]+", "+l.Engine.Now+")")
		}
		text := "INSERT INTO snow_merge_chunks (" + chunkColumns + ", done_us) VALUES " + strings.Join(rows, ", ")
		if _, err := l.Q.ExecContext(ctx, text, args...); err != nil {
			return err
		}
	}
	return nil
}

// Chunks returns at most limit chunks of a phase with numbers above after.
func (l Ledger) Chunks(ctx context.Context, t *SourceTable, phase string, after int64, limit int) ([]Chunk, error) {
	return l.readChunks(ctx, "SELECT "+chunkColumns+" FROM snow_merge_chunks WHERE source_table = ? AND phase = ? AND seq > ? ORDER BY seq LIMIT ?",
		t.ID, phase, after, limit)
}

// Pending returns at most limit chunks of phase mint, with numbers above after,
// that a later phase has not done yet.
func (l Ledger) Pending(ctx context.Context, t *SourceTable, phase string, after int64, limit int) ([]Chunk, error) {
	return l.readChunks(ctx, "SELECT "+chunkColumns+` FROM snow_merge_chunks AS chunks WHERE source_table = ? AND phase = 'mint' AND seq > ?
		AND NOT EXISTS (SELECT 1 FROM snow_merge_chunks AS done WHERE done.source_table = chunks.source_table AND done.phase = ? AND done.seq = chunks.seq)
		ORDER BY seq LIMIT ?`, t.ID, after, phase, limit)
}

// LastChunk returns the last chunk of phase mint, or one with number 0.
func (l Ledger) LastChunk(ctx context.Context, t *SourceTable) (Chunk, error) {
	all, err := l.readChunks(ctx, "SELECT "+chunkColumns+" FROM snow_merge_chunks WHERE source_table = ? AND phase = 'mint' ORDER BY seq DESC LIMIT 1", t.ID)
	if err != nil || len(all) == 0 {
		return Chunk{}, err
	}
	return all[0], nil
}

// Done sums up what a phase has done with a source table: how many rows it has
// read, and how far ids are ahead of their rows at most.
func (l Ledger) Done(ctx context.Context, t *SourceTable, phase string) (c Chunk, err error) {
	err = l.Q.QueryRowContext(ctx, l.Engine.SQL(`SELECT COALESCE(SUM(rows_read), 0), COALESCE(MAX(displaced_us), 0)
		FROM snow_merge_chunks WHERE source_table = ? AND phase = ?`), t.ID, phase).Scan(&c.Read, &c.Late)
	return c, l.Engine.Failed("read the ledger", err)
}

func (l Ledger) readChunks(ctx context.Context, text string, args ...any) (all []Chunk, err error) {
	err = l.Query(ctx, text, args, func(rows *sql.Rows) error {
		c, err := scanChunk(rows)
		all = append(all, c)
		return err
	})
	return all, err
}

func scanChunk(rows *sql.Rows) (c Chunk, err error) {
	var lo sql.NullString
	var hi, hash string
	err = rows.Scan(&c.SourceTable, &c.Phase, &c.Seq, &lo, &hi, &c.Read, &c.Written, &c.Rekeyed, &c.Merged, &c.Dropped, &hash, &c.Place, &c.Late)
	if err != nil {
		return c, err
	}
	if lo.Valid {
		if c.Lo, err = sqlvalue.ParseKey(lo.String); err != nil {
			return c, err
		}
	}
	if c.Hi, err = sqlvalue.ParseKey(hi); err != nil {
		return c, err
	}
	c.Hash, err = chunk.ParseSum(hash)
	return c, err
}
