package mysqlexec

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/phases"
)

// counts are what is known of chunks, and what a server finds in them.
type counts struct {
	source  int64 // rows of the source
	rekeyed int64
	merged  int64
	dropped int64
	copied  int64 // rows that are copied
	right   int64 // of these, rows that are in the target as they should be
}

// compare lets the server compare the rows of some chunks. It returns nil if
// something is other than it should be: then the rows must be read to say what it
// is. So they must be after an error, which no later chunk is spared of.
func (c *copier) compare(ctx context.Context, tasks []phases.Task) (*phases.Proof, error) {
	if _, ok := c.within(tasks[0].Mint.Lo, tasks[len(tasks)-1].Mint.Hi); !ok {
		return nil, nil
	}
	var want counts
	chunks := make([]ledger.Chunk, len(tasks))
	for i, t := range tasks {
		chunks[i] = t.Mint
		want.source += t.Copied.Read
		want.rekeyed += t.Mint.Rekeyed
		want.merged += t.Mint.Merged
		want.dropped += t.Mint.Dropped
		want.copied += t.Copied.Written
	}
	want.right = want.copied
	heads, err := ledger.MapOf(c.Conns.Target).PackHeads(ctx, c.Table, chunks)
	if errors.Is(err, ledger.ErrPacks) || len(heads) > 0 && (c.texts == nil || !c.dense) {
		return nil, nil
	}
	var got counts
	found := phases.NewProof()
	found.Unhashed = true
	switch {
	case err != nil:
	case len(heads) == 0:
		got, err = c.compareMapped(ctx, chunks, found)
	default:
		got, err = c.comparePacked(ctx, chunks, heads, found)
	}
	if err != nil || got != want {
		return nil, err
	}
	found.Read, found.Rekeyed, found.Merged, found.Dropped, found.Copied = got.source, got.rekeyed, got.merged, got.dropped, got.copied
	return found, c.sample(ctx, tasks[0].Mint.Lo, found)
}

// compareMapped compares rows whose ids are in rows of the map.
func (c *copier) compareMapped(ctx context.Context, chunks []ledger.Chunk, found *phases.Proof) (got counts, err error) {
	target := c.Conns.Target
	var least, most sql.NullInt64
	if _, err := target.ExecContext(ctx, "SET @snow_merge_last = -1"); err != nil {
		return got, err
	}
	refs := c.referring()
	checked, into := scanned(len(refs))
	into = append([]any{&got.source, &got.right, &got.copied, &got.rekeyed, &got.merged, &got.dropped, &least, &most}, into...)
	if err := target.QueryRowContext(ctx, c.comparison(chunks[0].Lo, chunks[len(chunks)-1].Hi)).Scan(into...); err != nil {
		return got, err
	}
	if c.Table.Rekeys {
		found.First, found.Last = least.Int64, most.Int64
	}
	for i, ref := range refs {
		found.Reference(phases.RefKey{Column: ref, Ref: 0}).Checked += checked[i]
	}
	return got, nil
}

// comparison returns the statement that compares rows: how many there are in
// the source; how many of them are as they should be in the target, with ids
// above those before; how many are to be copied, and have a new id, are merged
// and dropped; the first and the last new id; and how many references there are
// in each column that refers to rows.
func (c *copier) comparison(lo, hi []any) string {
	e, t := c.engine, c.Table
	alive := "TRUE"
	if c.alive != "" {
		alive = c.alive
	}
	var keys []string
	right := append([]string{alive}, c.checks...)
	for i, column := range t.Columns {
		is := "t." + e.Quote(column.Name)
		if slices.Contains(t.Primary, i) {
			keys = append(keys, is+" = "+c.values[i])
		} else {
			right = append(right, strings.ReplaceAll(c.exact[i], "%", is)+" <=> "+strings.ReplaceAll(c.exact[i], "%", c.values[i]))
		}
	}
	if t.Rekeys {
		mask, value := t.Ids.Own()
		right = append(right, fmt.Sprintf("m.new_id & %d = %d", mask, value))
	}
	right = append(right, "t."+e.Quote(t.Table.PrimaryKey[0])+" IS NOT NULL")
	kinds, edges, good := "0, 0, 0", "NULL, NULL", "COALESCE(SUM("+strings.Join(right, " AND ")+"), 0)"
	if c.own != "" {
		kinds = "COALESCE(SUM(m.kind = 0), 0), COALESCE(SUM(m.kind = 1), 0), COALESCE(SUM(m.kind = 2), 0)"
	}
	if t.Rekeys { // the rows come in the order of the primary key; both sides of the sum are evaluated, for neither is NULL
		edges = "MIN(CASE WHEN m.kind = 0 THEN m.new_id END), MAX(CASE WHEN m.kind = 0 THEN m.new_id END)"
		good += " - COALESCE(SUM(CASE WHEN m.kind = 0 THEN (m.new_id <= @snow_merge_last) + 0 * (@snow_merge_last := m.new_id) ELSE 0 END), 0)"
	}
	where, _ := c.within(lo, hi)
	columns := append([]string{"COUNT(*)", good, "COALESCE(SUM(" + alive + "), 0)", kinds, edges}, c.references(alive)...)
	return "SELECT STRAIGHT_JOIN " + strings.Join(columns, ", ") + c.joined() +
		" LEFT JOIN " + e.Quote(t.Table.Name) + " AS t FORCE INDEX (PRIMARY) ON " + strings.Join(keys, " AND ") + " WHERE " + where
}

// sample takes samples of plain columns that nobody has decided on.
func (c *copier) sample(ctx context.Context, after []any, found *phases.Proof) error {
	if !slices.ContainsFunc(c.Table.Columns, c.Undecided) {
		return nil
	}
	part := c.Table.Only(c.Undecided)
	rows, err := part.Read(ctx, c.Conns, after, nil, phases.SampledRows)
	if err == nil {
		found.SampleRows(c.Job, part, rows)
	}
	return err
}
