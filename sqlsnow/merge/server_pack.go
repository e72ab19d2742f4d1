package merge

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
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
	return d != nil && d.dense && d.dating != nil && d.texts != nil, err
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
		text := fmt.Sprintf(`INSERT INTO snow_merge_packs (scope, seq, last_old, size, old_ids, new_ids, begins, places)
			SELECT %d, %d, %s, COUNT(*), %s, GROUP_CONCAT(%s), %d, BIT_XOR(@snow_merge_place) FROM %s AS s FORCE INDEX (PRIMARY) WHERE %s`,
			b.scope, b.seq, textOf(b.hi[0]), olds, c.dating.lateID(c.key), place, c.table, c.within(b.lo, b.hi))
		if _, err := w.target.ExecContext(ctx, text); err != nil {
			return err
		}
		var size, late int64
		before := place
		text = fmt.Sprintf("SELECT @snow_merge_place, @snow_merge_late, size FROM snow_merge_packs WHERE scope = %d AND seq = %d", b.scope, b.seq)
		if err := w.target.QueryRowContext(ctx, text).Scan(&place, &late, &size); err != nil {
			return err
		}
		bound := l.place(b.tick, b.sequence)
		if size != b.read || place < before+size || i == len(each.ranges)-1 && place > bound {
			return errUnlike
		}
		b.tick, b.sequence = l.at(place)
		b.late = late * l.layout.Tick().Microseconds()
	}
	return nil
}

// insertPacked copies the rows of ranges that have packs, and returns how many
// they were. Their ids are made once more, in the same way.
func (p *porter) insertPacked(ctx context.Context, ranges []batch, heads []packHead) (rows int64, err error) {
	d, target, l := p.direct, p.worker.target, p.scope.lane
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
		if _, err := target.ExecContext(ctx, fmt.Sprintf("SET @snow_merge_place = %d, @snow_merge_sum = 0", heads[0].begins)); err != nil {
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
		var last, sum int64
		if err := target.QueryRowContext(ctx, "SELECT @snow_merge_place, @snow_merge_sum").Scan(&last, &sum); err != nil {
			return 0, err
		}
		for _, h := range heads[:n] {
			sum ^= h.places
		}
		if last != place(heads[n-1].last) || sum != 0 {
			return 0, errUnlike // rows have another date now, or are others
		}
		rows += inserted
		ranges, heads = ranges[n:], heads[n:]
	}
	return rows, nil
}

// likePacks reports whether the rows of ranges that have packs are in the
// target as they are in the source, with the ids of the packs in their order,
// and nothing else is of these ranges. Rows are compared as texts that no two of
// them have in common, all at once.
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
	dense := heads[0].dense // as all others
	if dense && !full(ranges) {
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
	mask, value := s.lane.own()
	found := fmt.Sprintf(" FROM %s AS t FORCE INDEX (PRIMARY) WHERE t.%s BETWEEN %d AND %d AND (t.%[2]s & %[5]d) = %[6]d",
		d.engine.quote(s.table.Name), name, heads[0].first, heads[len(heads)-1].last, mask, value)
	packs := func(column string) string {
		return fmt.Sprintf("(SELECT GROUP_CONCAT(%s ORDER BY seq) FROM snow_merge_packs WHERE scope = %d AND seq BETWEEN %d AND %d)", column, s.id, first.seq, last.seq)
	}
	keys, olds := "GROUP_CONCAT(s."+name+")", packs("old_ids")
	if dense { // as many keys as there can be
		keys, olds = "''", "''"
	}
	text := fmt.Sprintf(`SELECT CONCAT((SELECT STRAIGHT_JOIN CONCAT(COUNT(*), '/', %[12]s, '/', %[2]s)%[3]s WHERE %[4]s), '/', %[5]s, '/%[6]d')
		= CONCAT('%[6]d/', %[7]s, '/', (SELECT CONCAT(%[8]s, '/', GROUP_CONCAT(t.%[1]s), '/', COUNT(*))%[9]s))
		AND NOT EXISTS (SELECT 1 FROM snow_merge_map AS m WHERE m.scope = %[10]d%[11]s)`,
		name, list(was), d.rows(), where, packs("new_ids"), rows, olds, list(is), found, s.id, d.between("m.old_id", first.lo, last.hi), keys)
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

// textual returns the parts of a text that no other value, %, of the type is, and
// that does not begin another one with a comma or semicolon after it; false for
// types whose values are not written in full.
func textual(is storedColumn, nullable bool) (string, bool) {
	text := ""
	switch mysqlType(&Column{Type: is.typ}) {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "bit":
		if text = "%"; strings.Contains(is.typ, "zerofill") || strings.HasPrefix(is.typ, "bit") {
			text = "% + 0"
		}
	case "decimal", "date", "datetime", "timestamp", "time", "year":
		text = "%"
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set":
		text = "LENGTH(%), ':', CAST(% AS BINARY)"
	case "json":
		text = "LENGTH(CAST(% AS CHAR)), ':', CAST(CAST(% AS CHAR) AS BINARY)"
	default:
		return "", false
	}
	if nullable || is.nullable {
		text = "IFNULL(CONCAT(" + text + "), '-')"
	}
	return text, true
}
