package rekey

import "github.com/shardsnow/snow/merge/internal/sqlvalue"

// A single is a column whose values are ids of one table.
type single struct{ column }

func (f single) edit(r *Row, by editor) (value any, lost bool, err error) {
	v, text, has := f.text(r)
	if !has {
		return v, false, nil
	}
	value, lost = f.one(v, text, 0, by)
	return value, lost, nil
}

// one edits a value that is an id and nothing else.
func (f column) one(v any, text string, ref int, by editor) (value any, lost bool) {
	after, keep := by(ref, text)
	switch {
	case !keep && (f.Column.Nullable || len(f.Column.None) == 0):
		return nil, true
	case !keep:
		after = f.Column.None[0]
	}
	if after == text {
		return v, !keep
	}
	if _, ok := v.(int64); ok {
		if n, ok := sqlvalue.ParseID(after); ok {
			return n, !keep
		}
	}
	return after, !keep
}
