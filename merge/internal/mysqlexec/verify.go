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
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// compare lets the server compare the rows of some chunks. It returns nil if
// something is other than it should be: then the rows must be read to say what it
// is. So they must be after an error, which no later chunk is spared of.
func (c *copier) compare(ctx context.Context, tasks []phases.Task) (*phases.Findings, error) {
	if _, ok := c.within(tasks[0].Mint.Lo, tasks[len(tasks)-1].Mint.Hi); !ok || len(c.Table.Computed) > 0 {
		return nil, nil
	}
	var want ledger.Counts
	chunks := make([]ledger.Chunk, len(tasks))
	for i, t := range tasks {
		chunks[i] = t.Mint
		counts := t.Mint.Counts
		counts.Read, counts.Written = t.Copied.Read, t.Copied.Written
		want.Add(counts)
	}
	heads, err := ledger.PackHeads(ctx, ledger.Of(c.Conns.Target), c.Table, chunks)
	if errors.Is(err, ledger.ErrPacks) || len(heads) > 0 && (c.texts == nil || !c.dense) {
		return nil, nil
	}
	found := phases.NewFindings()
	found.Unhashed = true
	right := false
	switch {
	case err != nil:
	case len(heads) == 0:
		right, err = c.compareMapped(ctx, chunks, found)
	default:
		right, err = c.comparePacked(ctx, chunks, heads, found)
	}
	if err != nil || !right || found.Counts != want {
		return nil, err
	}
	return found, c.sample(ctx, tasks[0].Mint.Lo, found)
}

// compareMapped compares rows whose ids are in rows of the map, and reports
// whether all are as they should be.
func (c *copier) compareMapped(ctx context.Context, chunks []ledger.Chunk, found *phases.Findings) (right bool, err error) {
	target := c.Conns.Target
	var least, most sql.NullInt64
	var equal int64
	if _, err := target.ExecContext(ctx, "SET @snow_merge_last = -1"); err != nil {
		return false, err
	}
	refs := c.referring()
	checked, into := scanned(len(refs))
	into = append([]any{&found.Read, &equal, &found.Written, &found.Rekeyed, &found.Merged, &found.Dropped, &least, &most}, into...)
	if err := target.QueryRowContext(ctx, c.comparison(chunks[0].Lo, chunks[len(chunks)-1].Hi)).Scan(into...); err != nil {
		return false, err
	}
	if c.Table.Rekeys {
		found.First, found.Last = least.Int64, most.Int64
	}
	for i, ref := range refs {
		found.Reference(phases.RefKey{Column: ref, Ref: 0}).Checked += checked[i]
	}
	return equal == found.Written, nil
}

// comparison returns the statement that compares rows: how many there are in
// the source; how many of them are as they should be in the target, with ids
// above those before; how many are to be copied, and have a new id, are merged
// and dropped; the first and the last new id; and how many references there are
// in each column that refers to rows.
func (c *copier) comparison(lo, hi []any) string {
	e, t := c.engine, c.Table
	var keys []string
	right := append([]string{c.alive}, c.checks...)
	for i, column := range t.Columns {
		is := "t." + e.Quote(column.Name)
		if slices.Contains(t.Primary, i) {
			keys = append(keys, is+" = "+c.values[i])
		} else {
			right = append(right, strings.ReplaceAll(c.exact[i], "%", is)+" <=> "+strings.ReplaceAll(c.exact[i], "%", c.values[i]))
		}
	}
	if t.Rekeys {
		right = append(right, t.Ids.Condition("m.new_id", "m.old_id"))
	}
	right = append(right, "t."+e.Quote(t.Table.RowKey()[0])+" IS NOT NULL")
	kinds, edges, good := "0, 0, 0", "NULL, NULL", "COALESCE(SUM("+strings.Join(right, " AND ")+"), 0)"
	if c.own != "" {
		kinds = "COALESCE(SUM(m.kind = 0), 0), COALESCE(SUM(m.kind = 1), 0), COALESCE(SUM(m.kind = 2), 0)"
	}
	if t.Rekeys { // the rows come in the order of the primary key; both sides of the sum are evaluated, for neither is NULL
		edges = "MIN(CASE WHEN m.kind = 0 THEN m.new_id END), MAX(CASE WHEN m.kind = 0 THEN m.new_id END)"
		good += " - COALESCE(SUM(CASE WHEN m.kind = 0 THEN (m.new_id <= @snow_merge_last) + 0 * (@snow_merge_last := m.new_id) ELSE 0 END), 0)"
	}
	where, _ := c.within(lo, hi)
	columns := append([]string{"COUNT(*)", good, "COALESCE(SUM(" + c.alive + "), 0)", kinds, edges}, c.references(c.alive)...)
	return "SELECT STRAIGHT_JOIN " + strings.Join(columns, ", ") + c.joined() +
		" LEFT JOIN " + c.into + " AS t FORCE INDEX (PRIMARY) ON " + strings.Join(keys, " AND ") + " WHERE " + where
}

// comparePacked compares rows whose ids are in packs, and reports whether all are
// as they should be.
func (c *copier) comparePacked(ctx context.Context, chunks []ledger.Chunk, heads []ledger.PackHead, found *phases.Findings) (right bool, err error) {
	found.First, found.Last = heads[0].First, heads[len(heads)-1].Last
	for len(heads) > 0 {
		n := alike(heads)
		if n < len(heads) && heads[n].First <= heads[n-1].Last {
			return false, nil
		}
		if same, err := c.likePacks(ctx, chunks[:n], heads[:n], found); err != nil || !same {
			return false, err
		}
		for _, h := range heads[:n] {
			found.Counts.Add(ledger.Counts{Read: h.Size, Written: h.Size, Rekeyed: h.Size})
		}
		chunks, heads = chunks[n:], heads[n:]
	}
	return true, nil
}

// likePacks reports whether the rows of chunks whose packs are alike are in the
// target as they are in the source, with the ids of the packs in their order,
// and nothing else is of these chunks. All of them are compared at once, as texts.
func (c *copier) likePacks(ctx context.Context, chunks []ledger.Chunk, heads []ledger.PackHead, found *phases.Findings) (alike bool, err error) {
	t, e, target := c.Table, c.engine, c.Conns.Target
	first, last := chunks[0], chunks[len(chunks)-1]
	where, ok := c.within(first.Lo, last.Hi)
	if !ok || heads[0].Gapless && !consecutive(chunks) {
		return false, nil
	}
	var rows int64
	for _, h := range heads {
		rows += h.Size
	}
	name := e.Quote(t.Columns[t.Key].Name)
	var is, was []string
	for i, text := range c.texts {
		if i != t.Key {
			is = append(is, strings.ReplaceAll(text, "%", "t."+e.Quote(t.Columns[i].Name)))
			was = append(was, strings.ReplaceAll(text, "%", c.values[i]))
		}
	}
	if len(c.checks) > 0 || len(is) == 0 {
		is, was = append(is, "''"), append(was, "IF("+strings.Join(append(c.checks, "TRUE"), " AND ")+", '', '!')")
	}
	list := func(texts []string) string {
		return "GROUP_CONCAT(" + strings.Join(texts, ", ',', ") + " SEPARATOR ';')"
	}
	ofTarget := c.ofPacks(heads)
	keys, olds := "GROUP_CONCAT(s."+name+")", c.packed("old_ids", heads)
	if heads[0].Gapless { // as many keys as there can be
		keys, olds = "''", "''"
	}
	mapped := "m.old_id <= " + sqlvalue.Text(last.Hi[0])
	if first.Lo != nil {
		mapped += " AND m.old_id > " + sqlvalue.Text(first.Lo[0])
	}
	text := fmt.Sprintf(`SELECT CONCAT((SELECT STRAIGHT_JOIN CONCAT(COUNT(*), '/', %[12]s, '/', %[2]s)%[3]s WHERE %[4]s), '/', %[5]s, '/%[6]d')
		= CONCAT('%[6]d/', %[7]s, '/', (SELECT CONCAT(%[8]s, '/', GROUP_CONCAT(t.%[1]s), '/', COUNT(*))%[9]s))
		AND NOT EXISTS (SELECT 1 FROM snow_merge_map AS m WHERE m.source_table = %[10]d AND %[11]s)
		AND NOT EXISTS (SELECT 1 FROM snow_merge_packs WHERE source_table = %[10]d AND seq BETWEEN %[13]d AND %[14]d AND NOT %[15]s)`,
		name, list(was), c.unmapped(), where, c.packed("new_ids", heads), rows, olds, list(is), ofTarget, t.ID, mapped, keys, first.Seq, last.Seq, wholePack)
	var equal sql.NullBool // NULL if it is too long for the server
	if err := target.QueryRowContext(ctx, text).Scan(&equal); err != nil || !equal.Bool {
		return false, err
	}
	refs := c.referring()
	if len(refs) == 0 {
		return true, nil
	}
	checked, into := scanned(len(refs))
	err = target.QueryRowContext(ctx, "SELECT "+strings.Join(c.references("TRUE"), ", ")+ofTarget).Scan(into...)
	for i, ref := range refs {
		found.Reference(phases.RefKey{Column: ref, Ref: 0}).Checked += checked[i]
	}
	return err == nil, err
}

// sample takes samples of plain columns that nobody has decided on.
func (c *copier) sample(ctx context.Context, after []any, found *phases.Findings) error {
	undecided := func(column *plan.Column) bool { return c.Undecided(c.Table.Table, column) }
	if !slices.ContainsFunc(c.Table.Columns, undecided) {
		return nil
	}
	part := c.Table.Only(undecided)
	rows, err := part.Read(ctx, c.Conns, after, nil, phases.SampledRows)
	if err == nil {
		c.SampleRows(found, part, rows)
	}
	return err
}
