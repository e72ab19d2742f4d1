package mysqlexec

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/phases"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
)

// packs reports whether the map of a source table gets packs: the table is large,
// and the server can copy and compare its rows without rows of the map.
func (m *minter) packs(ctx context.Context, database string) (bool, error) {
	if !m.Table.Packable || m.PackRows < 0 {
		return false, nil
	}
	var n int
	err := m.Conns.Target.QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM "+m.from+" AS s LIMIT 1 OFFSET "+strconv.Itoa(m.PackRows-1)+") AS found").Scan(&n)
	if err != nil || n == 0 {
		return false, m.Engine.Failed("look at table "+strconv.Quote(m.Table.Table.Name), err)
	}
	s, err := newSelection(ctx, m.Work, database)
	return s != nil && s.dense && s.texts != nil, err
}

// fillPacks lets the server make the ids of a transaction's chunks, a pack each.
func (m *minter) fillPacks(ctx context.Context, target *chunk.Session, tx *mintTx) error {
	place := tx.from
	if err := setPlace(ctx, target, place); err != nil {
		return err
	}
	for i := range tx.chunks {
		c := &tx.chunks[i]
		olds := "GROUP_CONCAT(" + m.key + ")"
		if c.Lo != nil && c.Hi[0].(int64)-c.Lo[0].(int64) == c.Read {
			olds = "''"
		}
		text := fmt.Sprintf(`INSERT INTO snow_merge_packs (source_table, seq, last_old, size, old_ids, new_ids, begins)
			SELECT %d, %d, %s, COUNT(*), %s, GROUP_CONCAT(%s), %d FROM %s AS s FORCE INDEX (PRIMARY) WHERE %s`,
			c.SourceTable, c.Seq, sqlvalue.Text(c.Hi[0]), olds, m.dates.LateExpression(m.key, m.dates.rowTick()), place, m.from, m.within(c.Lo, c.Hi))
		if _, err := target.ExecContext(ctx, text); err != nil {
			return err
		}
		var size, late int64
		var whole bool
		before := place
		text = fmt.Sprintf("SELECT @snow_merge_place, @snow_merge_late, size, %s FROM snow_merge_packs WHERE source_table = %d AND seq = %d", wholePack, c.SourceTable, c.Seq)
		if err := target.QueryRowContext(ctx, text).Scan(&place, &late, &size, &whole); err != nil {
			return err
		}
		if !whole || size != c.Read || place < before+size || i == len(tx.chunks)-1 && place > c.Place {
			return errUnlike
		}
		c.Place, c.Late = place, m.dates.Ahead(late).Microseconds()
	}
	return nil
}

// wholePack is the condition that the lists of a pack have as many ids as they
// should, and that the old ones end with the last of the range.
const wholePack = `(LENGTH(SUBSTRING_INDEX(new_ids, ',', size - 1)) < LENGTH(new_ids) AND LENGTH(SUBSTRING_INDEX(new_ids, ',', size)) = LENGTH(new_ids)
	AND (old_ids = '' OR LENGTH(SUBSTRING_INDEX(old_ids, ',', size - 1)) < LENGTH(old_ids) AND LENGTH(SUBSTRING_INDEX(old_ids, ',', size)) = LENGTH(old_ids)
		AND SUBSTRING_INDEX(RIGHT(old_ids, 21), ',', -1) = CAST(last_old AS CHAR)))`

// insertPacked copies the rows of chunks that have packs, and returns how many
// they were. Their ids are made once more, in the same way, and compared.
func (c *copier) insertPacked(ctx context.Context, chunks []ledger.Chunk, heads []ledger.PackHead) (rows int64, err error) {
	if c.texts == nil {
		return 0, ledger.ErrPacks
	}
	target, key := c.Conns.Target, "s."+c.engine.Quote(c.Table.Columns[c.Table.Key].Name)
	into, values := c.insertInto()
	values[c.Table.Key] = c.dates.Expression(key, c.dates.rowTick())
	all, allHeads := chunks, heads
	for len(chunks) > 0 {
		n := 1 // chunks whose ids go on where those before ended
		for n < len(chunks) && heads[n].Begins == c.Table.Ids.Place(heads[n-1].Last) {
			n++
		}
		where, ok := c.within(chunks[0].Lo, chunks[n-1].Hi)
		if !ok {
			return 0, errUnlike
		}
		if err := setPlace(ctx, target, heads[0].Begins); err != nil {
			return 0, err
		}
		result, err := target.ExecContext(ctx, into+strings.Join(values, ", ")+c.unmapped()+" WHERE "+strings.Join(append([]string{where}, c.checks...), " AND ")+" ORDER BY "+key)
		if err != nil {
			return 0, err
		}
		inserted, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		rows += inserted
		chunks, heads = chunks[n:], heads[n:]
	}
	var same sql.NullBool // rows may have another date now, or be others
	if err := target.QueryRowContext(ctx, "SELECT "+c.sameIDs(all, allHeads)).Scan(&same); err != nil || !same.Bool {
		return 0, errors.Join(errUnlike, err)
	}
	return rows, nil
}

// sameIDs returns the condition that source and target have the ids of packs.
func (s *selection) sameIDs(chunks []ledger.Chunk, heads []ledger.PackHead) string {
	name := s.engine.Quote(s.of.Columns[s.of.Key].Name)
	conditions := []string{fmt.Sprintf("(SELECT GROUP_CONCAT(t.%s)%s) = %s", name, s.ofPacks(heads), s.packed("new_ids", heads))}
	for i, n := 0, 0; i < len(heads); i += n {
		if n = alike(heads[i:]); heads[i].Gapless {
			continue // there are as many as there can be
		}
		where, _ := s.within(chunks[i].Lo, chunks[i+n-1].Hi)
		conditions = append(conditions, fmt.Sprintf("(SELECT GROUP_CONCAT(s.%s) FROM %s AS s FORCE INDEX (PRIMARY) WHERE %s) = %s", name, s.from, where, s.packed("old_ids", heads[i:i+n])))
	}
	return strings.Join(conditions, " AND ")
}

// alike returns how many packs, from the first one on, all have a list of old
// ids or have none.
func alike(heads []ledger.PackHead) int {
	if n := slices.IndexFunc(heads, func(h ledger.PackHead) bool { return h.Gapless != heads[0].Gapless }); n > 0 {
		return n
	}
	return len(heads)
}

// packed returns the lists of packs as one.
func (s *selection) packed(column string, heads []ledger.PackHead) string {
	return fmt.Sprintf("(SELECT GROUP_CONCAT(%s ORDER BY seq) FROM snow_merge_packs WHERE source_table = %d AND seq BETWEEN %d AND %d)", column, s.of.ID, heads[0].Seq, heads[len(heads)-1].Seq)
}

// ofPacks returns those rows of the target, t, that have ids of the range, from
// the first one of packs up to the last one.
func (s *selection) ofPacks(heads []ledger.PackHead) string {
	mask, value := s.of.Ids.Own()
	return fmt.Sprintf(" FROM %s AS t FORCE INDEX (PRIMARY) WHERE t.%s BETWEEN %d AND %d AND (t.%[2]s & %[5]d) = %[6]d",
		s.engine.Quote(s.of.Table.Name), s.engine.Quote(s.of.Columns[s.of.Key].Name), heads[0].First, heads[len(heads)-1].Last, mask, value)
}

// comparePacked compares rows whose ids are in packs.
func (c *copier) comparePacked(ctx context.Context, chunks []ledger.Chunk, heads []ledger.PackHead, found *phases.Proof) (got counts, err error) {
	found.Counted = true
	found.First, found.Last = heads[0].First, heads[len(heads)-1].Last
	for len(heads) > 0 {
		n := alike(heads)
		if n < len(heads) && heads[n].First <= heads[n-1].Last {
			return counts{}, nil
		}
		same, err := c.likePacks(ctx, chunks[:n], heads[:n], found)
		if err != nil || !same {
			return counts{}, err
		}
		for _, h := range heads[:n] {
			got.source += h.Size
		}
		chunks, heads = chunks[n:], heads[n:]
	}
	got.rekeyed, got.copied, got.right = got.source, got.source, got.source
	return got, nil
}

// likePacks reports whether the rows of chunks whose packs are alike are in the
// target as they are in the source, with the ids of the packs in their order,
// and nothing else is of these chunks. All of them are compared at once, as texts.
func (c *copier) likePacks(ctx context.Context, chunks []ledger.Chunk, heads []ledger.PackHead, found *phases.Proof) (alike bool, err error) {
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

// textual returns the parts of a text that no other value, %, of the types is,
// and that does not begin another one with a comma or semicolon after it. It
// returns false for types whose values are not written in full, or may be too long
// for functions, which return NULL then.
func textual(is, becomes storedColumn, nullable bool) (string, bool) {
	text := ""
	switch sqltype.Word(is.typ) {
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
