package mysqlexec

import (
	"fmt"
	"slices"

	"github.com/shardsnow/snow/merge/internal/ledger"
)

// wholePack is the condition that the lists of a pack have as many ids as they
// should, and that the old ones end with the last of the range.
const wholePack = `(LENGTH(SUBSTRING_INDEX(new_ids, ',', size - 1)) < LENGTH(new_ids) AND LENGTH(SUBSTRING_INDEX(new_ids, ',', size)) = LENGTH(new_ids)
	AND (old_ids = '' OR LENGTH(SUBSTRING_INDEX(old_ids, ',', size - 1)) < LENGTH(old_ids) AND LENGTH(SUBSTRING_INDEX(old_ids, ',', size)) = LENGTH(old_ids)
		AND SUBSTRING_INDEX(RIGHT(old_ids, 21), ',', -1) = CAST(last_old AS CHAR)))`

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
	id := "t." + s.engine.Quote(s.of.Columns[s.of.Key].Name)
	return fmt.Sprintf(" FROM %s AS t FORCE INDEX (PRIMARY) WHERE %s BETWEEN %d AND %d AND %s", s.into, id, heads[0].First, heads[len(heads)-1].Last, s.of.Ids.Condition(id, ""))
}
