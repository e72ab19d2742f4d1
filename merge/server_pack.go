package merge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// packs reports whether the map of a scope gets packs: the table is large, and
// the server can copy and compare its rows without rows of the map.
func (c *cutter) packs(ctx context.Context, r *run, w *worker) (bool, error) {
	least := c.merge.config.PackRows
	if !c.scope.packs || least < 0 {
		return false, nil
	}
	var n int
	err := w.target.QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM "+c.table+" AS s LIMIT 1 OFFSET "+strconv.Itoa(least-1)+") AS found").Scan(&n)
	if err != nil || n == 0 {
		return false, c.merge.engine.failed("look at table "+strconv.Quote(c.scope.table.Name), err)
	}
	calm := *c.scope
	calm.changed = false // or there would be no cutter
	d, err := w.direct(ctx, r, &calm)
	return d != nil && d.dense && d.texts != nil, err
}

// pack lets the server mint the ids of a cut into packs.
func (c *cutter) pack(ctx context.Context, w *worker, each *cut) error {
	l, place := c.scope.lane, each.from
	if _, err := w.target.ExecContext(ctx, fmt.Sprintf("SET @snow_merge_place = %d, @snow_merge_tick = 0, @snow_merge_late = 0", place)); err != nil {
		return err
	}
	for i := range each.ranges {
		b := &each.ranges[i]
		olds := "GROUP_CONCAT(" + c.key + ")"
		if b.lo != nil && b.hi[0].(int64)-b.lo[0].(int64) == b.read {
			olds = "''"
		}
		text := fmt.Sprintf(`INSERT INTO snow_merge_packs (scope, seq, last_old, size, old_ids, new_ids, begins)
			SELECT %d, %d, %s, COUNT(*), %s, GROUP_CONCAT(%s), %d FROM %s AS s FORCE INDEX (PRIMARY) WHERE %s`,
			b.scope, b.seq, textOf(b.hi[0]), olds, c.dating.lateID(c.key), place, c.table, c.within(b.lo, b.hi))
		if _, err := w.target.ExecContext(ctx, text); err != nil {
			return err
		}
		var size, late int64
		var whole bool
		before := place
		text = fmt.Sprintf("SELECT @snow_merge_place, @snow_merge_late, size, %s FROM snow_merge_packs WHERE scope = %d AND seq = %d", wholePack, b.scope, b.seq)
		if err := w.target.QueryRowContext(ctx, text).Scan(&place, &late, &size, &whole); err != nil {
			return err
		}
		bound := l.place(b.tick, b.sequence)
		if !whole || size != b.read || place < before+size || i == len(each.ranges)-1 && place > bound {
			return errUnlike
		}
		b.tick, b.sequence = l.at(place)
		b.late = late * l.layout.Tick().Microseconds()
	}
	return nil
}

// wholePack is the condition that the lists of a pack have as many ids as they
// should, and that the old ones end with the last of the range.
const wholePack = `(LENGTH(SUBSTRING_INDEX(new_ids, ',', size - 1)) < LENGTH(new_ids) AND LENGTH(SUBSTRING_INDEX(new_ids, ',', size)) = LENGTH(new_ids)
	AND (old_ids = '' OR LENGTH(SUBSTRING_INDEX(old_ids, ',', size - 1)) < LENGTH(old_ids) AND LENGTH(SUBSTRING_INDEX(old_ids, ',', size)) = LENGTH(old_ids)
		AND SUBSTRING_INDEX(RIGHT(old_ids, 21), ',', -1) = CAST(last_old AS CHAR)))`

// insertPacked copies the rows of ranges that have packs, and returns how many
// they were. Their ids are made once more, in the same way, and compared.
func (p *porter) insertPacked(ctx context.Context, ranges []batch, heads []packHead) (rows int64, err error) {
	d, target, l := p.direct, p.worker.target, p.scope.lane
	if d.texts == nil {
		return 0, errPacks
	}
	all, allHeads := ranges, heads
	place := func(id int64) int64 { return l.place(id/int64(l.stride()), id%int64(l.stride())-int64(l.id(0, 0))) }
	for len(ranges) > 0 {
		n := 1 // ranges up to the end of the cut
		for n < len(ranges) && heads[n].begins == place(heads[n-1].last) {
			n++
		}
		where, ok := d.within(ranges[0].lo, ranges[n-1].hi)
		if !ok {
			return 0, errUnlike
		}
		if _, err := target.ExecContext(ctx, fmt.Sprintf("SET @snow_merge_place = %d", heads[0].begins)); err != nil {
			return 0, err
		}
		result, err := target.ExecContext(ctx, p.insertion(where, nil, nil, true))
		if err != nil {
			return 0, err
		}
		inserted, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		rows += inserted
		ranges, heads = ranges[n:], heads[n:]
	}
	var same sql.NullBool // rows may have another date now, or be others
	if err := target.QueryRowContext(ctx, "SELECT "+d.sameIDs(all, allHeads)).Scan(&same); err != nil || !same.Bool {
		return 0, errors.Join(errUnlike, err)
	}
	return rows, nil
}

// sameIDs returns the condition that source and target have the ids of packs.
func (d *direct) sameIDs(ranges []batch, heads []packHead) string {
	name := d.engine.quote(d.scope.columns[d.scope.key].Name)
	conditions := []string{fmt.Sprintf("(SELECT GROUP_CONCAT(t.%s)%s) = %s", name, d.ofPacks(heads), d.packed("new_ids", heads))}
	for i, n := 0, 0; i < len(heads); i += n {
		if n = alike(heads[i:]); heads[i].gapless {
			continue // there are as many as there can be
		}
		where, _ := d.within(ranges[i].lo, ranges[i+n-1].hi)
		conditions = append(conditions, fmt.Sprintf("(SELECT GROUP_CONCAT(s.%s) FROM %s AS s FORCE INDEX (PRIMARY) WHERE %s) = %s", name, d.table, where, d.packed("old_ids", heads[i:i+n])))
	}
	return strings.Join(conditions, " AND ")
}

// alike returns how many packs, from the first one on, all have a list of old
// ids or have none.
func alike(heads []packHead) int {
	if n := slices.IndexFunc(heads, func(h packHead) bool { return h.gapless != heads[0].gapless }); n > 0 {
		return n
	}
	return len(heads)
}

// packed returns the lists of packs as one.
func (d *direct) packed(column string, heads []packHead) string {
	return fmt.Sprintf("(SELECT GROUP_CONCAT(%s ORDER BY seq) FROM snow_merge_packs WHERE scope = %d AND seq BETWEEN %d AND %d)", column, d.scope.id, heads[0].seq, heads[len(heads)-1].seq)
}

// ofPacks returns those rows of the target, t, that have ids of the lane, from
// the first one of packs up to the last one.
func (d *direct) ofPacks(heads []packHead) string {
	mask, value := d.scope.lane.own()
	return fmt.Sprintf(" FROM %s AS t FORCE INDEX (PRIMARY) WHERE t.%s BETWEEN %d AND %d AND (t.%[2]s & %[5]d) = %[6]d",
		d.engine.quote(d.scope.table.Name), d.engine.quote(d.scope.columns[d.scope.key].Name), heads[0].first, heads[len(heads)-1].last, mask, value)
}

// likePacks reports whether the rows of ranges whose packs are alike are in the
// target as they are in the source, with the ids of the packs in their order,
// and nothing else is of these ranges. All of them are compared at once, as texts.
func (p *prover) likePacks(ctx context.Context, ranges []batch, heads []packHead) (alike bool, checked []int64, err error) {
	d, s, target := p.direct, p.direct.scope, p.worker.target
	first, last := ranges[0], ranges[len(ranges)-1]
	where, ok := d.within(first.lo, last.hi)
	if !ok {
		return false, nil, nil
	}
	var rows int64
	for _, h := range heads {
		rows += h.size
	}
	if heads[0].gapless && !full(ranges) {
		return false, nil, nil
	}
	name := d.engine.quote(s.columns[s.key].Name)
	var is, was []string
	for i, text := range d.texts {
		if i != s.key {
			is = append(is, strings.ReplaceAll(text, "%", "t."+d.engine.quote(s.columns[i].Name)))
			was = append(was, strings.ReplaceAll(text, "%", d.values[i]))
		}
	}
	if len(d.sound) > 0 || len(is) == 0 {
		is, was = append(is, "''"), append(was, "IF("+strings.Join(append(d.sound, "TRUE"), " AND ")+", '', '!')")
	}
	list := func(texts []string) string {
		return "GROUP_CONCAT(" + strings.Join(texts, ", ',', ") + " SEPARATOR ';')"
	}
	found := d.ofPacks(heads)
	keys, olds := "GROUP_CONCAT(s."+name+")", d.packed("old_ids", heads)
	if heads[0].gapless { // as many keys as there can be
		keys, olds = "''", "''"
	}
	text := fmt.Sprintf(`SELECT CONCAT((SELECT STRAIGHT_JOIN CONCAT(COUNT(*), '/', %[12]s, '/', %[2]s)%[3]s WHERE %[4]s), '/', %[5]s, '/%[6]d')
		= CONCAT('%[6]d/', %[7]s, '/', (SELECT CONCAT(%[8]s, '/', GROUP_CONCAT(t.%[1]s), '/', COUNT(*))%[9]s))
		AND NOT EXISTS (SELECT 1 FROM snow_merge_map AS m WHERE m.scope = %[10]d%[11]s)
		AND NOT EXISTS (SELECT 1 FROM snow_merge_packs WHERE scope = %[10]d AND seq BETWEEN %[13]d AND %[14]d AND NOT %[15]s)`,
		name, list(was), d.rows(), where, d.packed("new_ids", heads), rows, olds, list(is), found, s.id, d.between("m.old_id", first.lo, last.hi), keys, first.seq, last.seq, wholePack)
	var equal sql.NullBool // NULL if it is too long for the server
	if err := target.QueryRowContext(ctx, text).Scan(&equal); err != nil || !equal.Bool {
		return false, nil, err
	}
	counts := d.references("TRUE")
	if len(counts) == 0 {
		return true, nil, nil
	}
	checked = make([]int64, len(counts))
	into := make([]any, len(counts))
	for i := range checked {
		into[i] = &checked[i]
	}
	err = target.QueryRowContext(ctx, "SELECT "+strings.Join(counts, ", ")+found).Scan(into...)
	return err == nil, checked, err
}

// textual returns the parts of a text that no other value, %, of the types is,
// and that does not begin another one with a comma or semicolon after it. It
// returns false for types whose values are not written in full, or may be too long
// for functions, which return NULL then.
func textual(is, becomes storedColumn, nullable bool) (string, bool) {
	text := ""
	switch mysqlType(&plan.Column{Type: is.typ}) {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "bit":
		if text = "%"; strings.Contains(is.typ+becomes.typ, "zerofill") || strings.HasPrefix(is.typ, "bit") {
			text = "% + 0"
		}
	case "decimal", "date", "datetime", "timestamp", "time", "year":
		text = "%"
	case "binary", "varbinary", "tinyblob", "blob", "char", "varchar", "tinytext", "text", "enum", "set":
		text = "LENGTH(%), ':', CAST(% AS BINARY)"
	default:
		return "", false
	}
	if nullable || is.nullable || becomes.nullable {
		text = "IFNULL(CONCAT(" + text + "), '-')"
	}
	return text, true
}
