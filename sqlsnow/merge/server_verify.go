package merge

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// comparedRows is about how many rows the server compares in one statement.
const comparedRows = 10_000

// together reports whether ranges can be compared in one statement: there are
// few rows in them, and there is no hash of what the copy saw.
func together(tasks []task, more task) bool {
	if more.copied.hash != (sum{}) || tasks[0].copied.hash != (sum{}) {
		return false
	}
	n := more.mint.read
	for _, t := range tasks {
		n += t.mint.read
	}
	return n <= comparedRows
}

// compared lets the server compare the rows of some ranges. It returns nil if
// something is other than it should be, or could not be compared: then the rows
// must be read to say what it is.
func (p *prover) compared(ctx context.Context, s *scope, tasks []task) (*proof, error) {
	d := p.direct
	if d == nil || tasks[0].copied.hash != (sum{}) {
		return nil, nil
	}
	where, ok := d.within(tasks[0].mint.lo, tasks[len(tasks)-1].mint.hi)
	if !ok {
		return nil, nil
	}
	var want [6]int64 // as they are selected
	for _, t := range tasks {
		want[0] += t.copied.read
		want[1] += t.mint.minted
		want[2] += t.mint.merged
		want[3] += t.mint.dropped
		want[4] += t.copied.written
	}
	var got [6]int64
	into := []any{&got[0], &got[1], &got[2], &got[3], &got[4], &got[5]}
	var first, last sql.NullInt64
	into = append(into, &first, &last)
	text, refs := d.comparison(where)
	checked := make([]int64, len(refs))
	for i := range checked {
		into = append(into, &checked[i])
	}
	want[5] = want[4]
	_, err := p.worker.target.ExecContext(ctx, "SET @snow_merge_last = -1")
	if err == nil {
		err = p.worker.target.QueryRowContext(ctx, text).Scan(into...)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		p.direct = nil
		return nil, nil
	}
	if got != want {
		return nil, nil
	}
	found := newProof()
	found.read, found.rekeyed, found.merged, found.dropped, found.copied = got[0], got[1], got[2], got[3], got[4]
	found.unhashed = true
	if s.mints {
		found.first, found.last = first.Int64, last.Int64
	}
	for i, ref := range refs {
		found.reference(refKey{ref, 0}).Checked += checked[i]
	}
	return found, p.look(ctx, s, tasks[0].mint.lo, found)
}

// comparison returns the statement that compares rows: how many there are in
// the source, minted, merged, dropped, to be copied, and as they should be with
// ids above those before; the first and the last new id; and how many
// references there are in each of the columns that it returns.
func (d *direct) comparison(where string) (string, []*Column) {
	e, s := d.engine, d.scope
	alive, kinds := "TRUE", "0, 0, 0"
	if d.alive != "" {
		alive = d.alive
		kinds = "COALESCE(SUM(m.kind = 0), 0), COALESCE(SUM(m.kind = 1), 0), COALESCE(SUM(m.kind = 2), 0)"
	}
	var keys, checks, counts []string
	var refs []*Column
	for i, c := range s.columns {
		is := "t." + e.quote(c.Name)
		if slices.Contains(s.primary, i) {
			keys = append(keys, is+" = "+d.values[i])
		} else {
			checks = append(checks, strings.ReplaceAll(d.exact[i], "%", is)+" <=> "+strings.ReplaceAll(d.exact[i], "%", d.values[i]))
		}
		if c.Role == RoleReference {
			refs = append(refs, c)
			none := ""
			if others := d.none(is, c); others != "" {
				none = " AND NOT (" + strings.TrimSuffix(others, " OR ") + ")"
			}
			counts = append(counts, ", COALESCE(SUM("+alive+" AND "+is+" IS NOT NULL"+none+"), 0)")
		}
	}
	right := append([]string{alive, "t." + e.quote(s.table.PrimaryKey[0]) + " IS NOT NULL"}, append(checks, d.sound...)...)
	edges := ", NULL, NULL"
	if s.mints {
		edges = ", MIN(CASE WHEN " + alive + " THEN m.new_id END), MAX(CASE WHEN " + alive + " THEN m.new_id END)"
	}
	good := "SUM(" + strings.Join(right, " AND ") + ")"
	if s.mints {
		// The rows come in the order of the primary key. Both sides of the sum are
		// evaluated, for neither is NULL.
		good += " - SUM(CASE WHEN " + alive + " THEN (m.new_id <= @snow_merge_last) + 0 * (@snow_merge_last := m.new_id) ELSE 0 END)"
	}
	return "SELECT STRAIGHT_JOIN COUNT(*), " + kinds + ", COALESCE(SUM(" + alive + "), 0), COALESCE(" + good + ", 0)" + edges + strings.Join(counts, "") +
		d.from() + " LEFT JOIN " + e.quote(s.table.Name) + " AS t FORCE INDEX (PRIMARY) ON " + strings.Join(keys, " AND ") + " WHERE " + where, refs
}

// look takes samples of plain columns that nobody has decided on.
func (p *prover) look(ctx context.Context, s *scope, after []any, found *proof) error {
	undecided := func(c *Column) bool {
		return c.Role == RolePlain && !c.Decided && shapeOf(p.engine.dialect, c.Type).kind <= kindText
	}
	if !slices.ContainsFunc(s.columns, undecided) {
		return nil
	}
	part := s.only(undecided)
	rows, err := p.worker.read(ctx, part, after, nil, sampledRows)
	if err == nil {
		p.sample(part, rows, found)
	}
	return err
}

// sampledRows is how many rows of those that are compared at a time are looked at for samples.
const sampledRows = 50
