package clash

import (
	"context"
	"slices"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// An Ident is what a row is in the target: a key there, or the key of a row of a
// source whose key in the target is not known yet.
type Ident struct {
	source string // empty for the target
	Key    int64
}

// Identities tell which rows of sources are one row in the target. But for left, they are
// asked for tables with a Role key only.
type Identities interface {
	// identify returns what rows are in the target. Rows that are not copied
	// are absent.
	identify(ctx context.Context, source string, t *plan.Table, keys []int64) (map[int64]Ident, error)

	// members returns the rows of a source that are the given ones in the target.
	members(ctx context.Context, source string, t *plan.Table, ids []Ident) (map[Ident][]int64, error)

	// left returns why rows of a source are left out, by [sqlvalue.FormatRow] of what tells them apart. It is asked for
	// any table.
	left(ctx context.Context, source string, t *plan.Table, keys [][]any) (map[string]Reason, error)

	// decided reports whether a run would have decided on all rows of a source table that left knows of.
	decided(source string, t *plan.Table) bool
}

// A Reason says why a row is left out.
type Reason uint8

// The reasons.
const (
	Stays   Reason = iota
	Chosen         // a condition of the plan, which is known from the beginning
	Follows        // a reference
)

// MappedIdentities are the identities of a run, by its ledger. Its idents are all
// keys of the target.
type MappedIdentities struct {
	Ids ledger.IDMap
	Run *ledger.Run
}

func (m *MappedIdentities) identify(ctx context.Context, source string, t *plan.Table, keys []int64) (map[int64]Ident, error) {
	found := map[int64]Ident{}
	if t.Empty {
		return found, nil
	}
	if !t.Rekeys(source) {
		for _, key := range keys {
			found[key] = Ident{Key: key}
		}
	}
	of := m.Run.Table(source, t.Name)
	if of == nil {
		return found, nil
	}
	entries, err := m.Ids.Find(ctx, of, keys)
	for old, after := range entries {
		if after.Fate == ledger.Dropped {
			delete(found, old)
		} else {
			found[old] = Ident{Key: after.ID}
		}
	}
	return found, err
}

func (m *MappedIdentities) members(ctx context.Context, source string, t *plan.Table, ids []Ident) (map[Ident][]int64, error) {
	keys := make([]int64, len(ids))
	for i, id := range ids {
		keys[i] = id.Key
	}
	found := map[Ident][]int64{}
	if !t.Rekeys(source) {
		same, err := m.identify(ctx, source, t, keys)
		if err != nil {
			return nil, err
		}
		for old, id := range same {
			if id.Key == old {
				found[id] = []int64{old}
			}
		}
	}
	of := m.Run.Table(source, t.Name)
	if of == nil {
		return found, nil
	}
	olds, err := m.Ids.Olds(ctx, of, keys)
	for id, old := range olds {
		found[Ident{Key: id}] = append(found[Ident{Key: id}], old...)
	}
	return found, err
}

func (m *MappedIdentities) left(ctx context.Context, source string, t *plan.Table, keys [][]any) (map[string]Reason, error) {
	found := map[string]Reason{}
	of := m.Run.Table(source, t.Name)
	if of == nil {
		return found, nil
	}
	rows := make([]string, len(keys))
	for i, key := range keys {
		rows[i] = sqlvalue.FormatRow(key)
	}
	changes, err := m.Ids.Changes(ctx, of, rows)
	for _, c := range changes {
		switch {
		case c.Kind != ledger.ChangeDropped:
		case c.Seq == 0: // phase choose has no chunks
			found[c.Row] = Chosen
		default:
			found[c.Row] = Follows
		}
	}
	return found, err
}

func (m *MappedIdentities) decided(string, *plan.Table) bool { return true }

// RememberedIdentities are the identities of a dry run: a row is itself, unless it would
// be merged into another one.
type RememberedIdentities struct {
	winners map[sourceRow]Ident
	losers  map[winner][]int64
	gone    map[leftRow]Reason
	done    map[leftRow]bool // source tables, without a row
}

// A leftRow is a row of a source that is left out, by [sqlvalue.FormatRow] of what tells it apart.
type leftRow struct{ source, table, row string }

// A sourceRow is a row of a source, and a winner one that rows of a source would
// be merged into.
type (
	sourceRow struct {
		source, table string
		key           int64
	}
	winner struct {
		source, table string
		id            Ident
	}
)

// NewRememberedIdentities returns identities of rows that all are themselves.
func NewRememberedIdentities() *RememberedIdentities {
	return &RememberedIdentities{map[sourceRow]Ident{}, map[winner][]int64{}, map[leftRow]Reason{}, map[leftRow]bool{}}
}

// Drop remembers that a row would not be copied. The first reason stays.
func (r *RememberedIdentities) Drop(source string, t *plan.Table, key []any, why Reason) {
	row := leftRow{source, t.Name, sqlvalue.FormatRow(key)}
	if r.gone[row] == Stays {
		r.gone[row] = why
	}
}

// Left says why a row would not be copied.
func (r *RememberedIdentities) Left(source string, t *plan.Table, key []any) Reason {
	if t.Empty {
		return Chosen
	}
	if len(r.gone) == 0 {
		return Stays
	}
	return r.gone[leftRow{source, t.Name, sqlvalue.FormatRow(key)}]
}

// Done remembers that all rows of a source table were looked at.
func (r *RememberedIdentities) Done(source string, t *plan.Table) {
	r.done[leftRow{source, t.Name, ""}] = true
}

func (r *RememberedIdentities) left(_ context.Context, source string, t *plan.Table, keys [][]any) (map[string]Reason, error) {
	found := map[string]Reason{}
	for _, key := range keys {
		found[sqlvalue.FormatRow(key)] = r.Left(source, t, key)
	}
	return found, nil
}

func (r *RememberedIdentities) decided(source string, t *plan.Table) bool {
	return r.done[leftRow{source, t.Name, ""}]
}

// Add remembers that a row would be merged into another one.
func (r *RememberedIdentities) Add(source string, t *plan.Table, id int64, into Ident) {
	r.winners[sourceRow{source, t.Name, id}] = into
	w := winner{source, t.Name, into}
	r.losers[w] = append(r.losers[w], id)
}

func (r *RememberedIdentities) identify(_ context.Context, source string, t *plan.Table, keys []int64) (map[int64]Ident, error) {
	found := map[int64]Ident{}
	for _, key := range keys {
		row := sourceRow{source, t.Name, key}
		if r.Left(source, t, []any{key}) != Stays {
			continue
		}
		found[key] = Ident{source, key}
		if into, ok := r.winners[row]; ok {
			found[key] = into
		}
	}
	return found, nil
}

func (r *RememberedIdentities) members(_ context.Context, source string, t *plan.Table, ids []Ident) (map[Ident][]int64, error) {
	found := map[Ident][]int64{}
	for _, id := range ids {
		found[id] = slices.Clone(r.losers[winner{source, t.Name, id}])
		row := sourceRow{source, t.Name, id.Key}
		if _, gone := r.winners[row]; id.source == source && !gone && r.Left(source, t, []any{id.Key}) == Stays {
			found[id] = append(found[id], id.Key)
		}
	}
	return found, nil
}

// Find returns the rows that are left out: the successors of others are not known.
func (r *RememberedIdentities) Find(_ context.Context, t *ledger.SourceTable, olds []int64) (map[int64]ledger.Successor, error) {
	found := map[int64]ledger.Successor{}
	if len(r.gone) == 0 && !t.Table.Empty {
		return found, nil
	}
	for _, old := range olds {
		if r.Left(t.Source, t.Table, []any{old}) != Stays {
			found[old] = ledger.Successor{Fate: ledger.Dropped}
		}
	}
	return found, nil
}

// HasAll reports that rows with new ids must be looked for in the source.
func (r *RememberedIdentities) HasAll() bool { return false }
