package merge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
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
	if _, ok := d.within(tasks[0].mint.lo, tasks[len(tasks)-1].mint.hi); !ok {
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
	want[5] = want[4]
	ranges := make([]batch, len(tasks))
	for i, t := range tasks {
		ranges[i] = t.mint
	}
	heads, err := p.engine.packHeads(ctx, p.worker.target, s, ranges)
	var got [6]int64
	var found *proof
	switch {
	case errors.Is(err, errPacks), len(heads) > 0 && (d.texts == nil || !d.dense):
		return nil, nil
	case err != nil:
	case len(heads) == 0:
		got, found, err = p.inServer(ctx, tasks)
	default:
		if found, err = p.byPacks(ctx, ranges, heads); err == nil && found == nil {
			return nil, nil
		}
		if err == nil {
			got = [6]int64{found.read, found.rekeyed, 0, 0, found.copied, found.copied}
		}
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
	return found, p.look(ctx, s, tasks[0].mint.lo, found)
}

// byPacks returns what likePacks finds as a proof, or nil if something is wrong.
func (p *prover) byPacks(ctx context.Context, ranges []batch, heads []packHead) (*proof, error) {
	found := newProof()
	found.unhashed, found.counted = true, true
	found.first, found.last = heads[0].first, heads[len(heads)-1].last
	for len(heads) > 0 {
		n := alike(heads)
		if n < len(heads) && heads[n].first <= heads[n-1].last {
			return nil, nil
		}
		alike, checked, err := p.likePacks(ctx, ranges[:n], heads[:n])
		if err != nil || !alike {
			return nil, err
		}
		for _, h := range heads[:n] {
			found.read += h.size
		}
		for i, ref := range p.direct.referring() {
			found.reference(refKey{ref, 0}).Checked += checked[i]
		}
		ranges, heads = ranges[n:], heads[n:]
	}
	found.rekeyed, found.copied = found.read, found.read
	return found, nil
}

// inServer returns what the server counts, and the same as a proof.
func (p *prover) inServer(ctx context.Context, tasks []task) (got [6]int64, found *proof, err error) {
	d, target := p.direct, p.worker.target
	first, last := tasks[0], tasks[len(tasks)-1].mint
	found = newProof()
	found.unhashed = true
	var least, most sql.NullInt64
	if _, err := target.ExecContext(ctx, "SET @snow_merge_last = -1"); err != nil {
		return got, nil, err
	}
	text, refs := d.comparison(first, last)
	into := []any{&got[0], &got[5]}
	if d.hash == "" {
		into = []any{&got[0], &got[5], &got[4], &got[1], &got[2], &got[3], &least, &most}
	}
	checked := make([]int64, len(refs))
	for i := range checked {
		into = append(into, &checked[i])
	}
	if err := target.QueryRowContext(ctx, text).Scan(into...); err != nil {
		return got, nil, err
	}
	if d.hash != "" {
		if got[4] = got[0]; d.own != "" { // rows do not come in their order where they are found by hashes
			var astray int64
			text := "SELECT " + disorder + ", " + kinds + ", " + edges + " FROM snow_merge_map AS m FORCE INDEX (PRIMARY) WHERE m.scope = " +
				strconv.FormatInt(d.scope.id, 10) + d.between("m.old_id", first.mint.lo, last.hi)
			if err := target.QueryRowContext(ctx, text).Scan(&astray, &got[1], &got[2], &got[3], &least, &most); err != nil {
				return got, nil, err
			}
			got[4], got[5] = got[1], got[5]-astray
		}
		found.counted = true
	}
	found.read, found.rekeyed, found.merged, found.dropped, found.copied = got[0], got[1], got[2], got[3], got[4]
	if d.scope.mints {
		found.first, found.last = least.Int64, most.Int64
	}
	for i, ref := range refs {
		found.reference(refKey{ref, 0}).Checked += checked[i]
	}
	return got, found, nil
}

// What is counted in the rows of the map, m. Both sides of the sum in disorder
// are evaluated, for neither is NULL.
const (
	kinds    = "COALESCE(SUM(m.kind = 0), 0), COALESCE(SUM(m.kind = 1), 0), COALESCE(SUM(m.kind = 2), 0)"
	edges    = "MIN(CASE WHEN m.kind = 0 THEN m.new_id END), MAX(CASE WHEN m.kind = 0 THEN m.new_id END)"
	disorder = "COALESCE(SUM(CASE WHEN m.kind = 0 THEN (m.new_id <= @snow_merge_last) + 0 * (@snow_merge_last := m.new_id) ELSE 0 END), 0)"
)

// comparison returns the statement that compares rows: how many there are in
// the source, and how many of them are as they should be in the target, with
// ids above those before; unless rows are found by hashes also how many are to
// be copied, minted, merged and dropped, and the first and the last new id; and
// how many references there are in each of the columns that it returns.
func (d *direct) comparison(first task, last batch) (string, []*plan.Column) {
	e, s := d.engine, d.scope
	alive := "TRUE"
	if d.alive != "" {
		alive = d.alive
	}
	var keys []string
	right := append([]string{alive}, d.sound...)
	for i, c := range s.columns {
		is := "t." + e.quote(c.Name)
		if slices.Contains(s.primary, i) {
			keys = append(keys, is+" = "+d.values[i])
		} else {
			right = append(right, strings.ReplaceAll(d.exact[i], "%", is)+" <=> "+strings.ReplaceAll(d.exact[i], "%", d.values[i]))
		}
	}
	refs, counts := d.referring(), ""
	for _, count := range d.references(alive) {
		counts += ", " + count
	}
	if s.mints {
		mask, value := s.lane.own()
		right = append(right, fmt.Sprintf("m.new_id & %d = %d", mask, value))
	}
	key := "t." + e.quote(s.table.PrimaryKey[0])
	lo, hi := first.mint.lo, last.hi
	where, _ := d.within(lo, hi)
	target := " JOIN " + e.quote(s.table.Name) + " AS t FORCE INDEX (PRIMARY) ON " + strings.Join(keys, " AND ")
	if d.hash != "" {
		bounds := d.between(key, lo, hi)
		if s.mints {
			bounds = fmt.Sprintf(" AND %[1]s >= %[2]d AND %[1]s < %[3]d", key, s.lane.id(max(0, first.before.tick), 0), s.lane.id(last.tick+1, 0))
		}
		return d.hash + "SELECT STRAIGHT_JOIN (SELECT COUNT(*) FROM " + d.table + " AS s FORCE INDEX (PRIMARY) WHERE " + where + "), COUNT(*)" + counts +
			d.from(lo, hi) + target + bounds + " WHERE " + where + " AND " + strings.Join(right, " AND "), refs
	}
	mapped, around, good := "0, 0, 0", "NULL, NULL", "COALESCE(SUM("+strings.Join(append(right, key+" IS NOT NULL"), " AND ")+"), 0)"
	if d.own != "" {
		mapped = kinds
	}
	if s.mints { // the rows come in the order of the primary key
		around, good = edges, good+" - "+disorder
	}
	return "SELECT STRAIGHT_JOIN COUNT(*), " + good + ", COALESCE(SUM(" + alive + "), 0), " + mapped + ", " + around + counts +
		d.from(lo, hi) + " LEFT" + target + " WHERE " + where, refs
}

// referring returns the columns that refer to rows.
func (d *direct) referring() (refs []*plan.Column) {
	for _, c := range d.scope.columns {
		if c.Role == plan.RoleReference {
			refs = append(refs, c)
		}
	}
	return refs
}

// references returns how many of the rows of the target, t, that a condition is
// true of refer to rows, for each column that does.
func (d *direct) references(alive string) (counts []string) {
	for _, c := range d.referring() {
		is, none := "t."+d.engine.quote(c.Name), ""
		if others := d.none(is, c); others != "" {
			none = " AND NOT (" + strings.TrimSuffix(others, " OR ") + ")"
		}
		counts = append(counts, "COALESCE(SUM("+alive+" AND "+is+" IS NOT NULL"+none+"), 0)")
	}
	return counts
}

// look takes samples of plain columns that nobody has decided on.
func (p *prover) look(ctx context.Context, s *scope, after []any, found *proof) error {
	undecided := func(c *plan.Column) bool {
		return c.Role == plan.RolePlain && !c.Decided && sqltype.Of(p.engine.dialect, c.Type).Kind <= sqltype.Text
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
