package convert

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// usualFirst is the limit between counted numbers and snow ids where a plan has none.
const usualFirst = 1 << 40

func firstOf(t *plan.Table) int64 {
	if t.First > 0 {
		return t.First
	}
	return usualFirst
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// ids looks at the highest ids: before phase count, none may be a snow id.
func (v *verification) ids(ctx context.Context) error {
	for _, t := range v.plan.Tables {
		if t.Key == "" || v.phase >= job.Count || v.types[t.Name][t.Key] == "" {
			continue
		}
		n, err := v.count(ctx, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE %s >= %d", v.d.Quote(t.Name), v.d.Quote(t.Key), firstOf(t)))
		if err != nil {
			return fmt.Errorf("look for the highest id of %q: %w", t.Name, err)
		}
		if n > 0 {
			v.fault(t.Name, t.Key, fmt.Sprintf("%d ids are as high as snow ids, from %d on, and phase count is not done", n, firstOf(t)),
				"stop programs that give ids to new rows until the gate is open")
		}
	}
	return nil
}

// counters looks at the server's counters, which must stay below snow ids. On MySQL they may be above from phase count
// on, when nothing takes numbers from them.
func (v *verification) counters(ctx context.Context) error {
	if v.d == sqldialect.MySQL && v.phase >= job.Count {
		return nil
	}
	for _, t := range v.plan.Tables {
		if t.Key == "" || len(v.types[t.Name]) == 0 {
			continue
		}
		next, err := v.next(ctx, t)
		if err != nil {
			return fmt.Errorf("read the counter of %q: %w", t.Name, err)
		}
		if next >= firstOf(t) {
			v.fault(t.Name, t.Key, fmt.Sprintf("its counter is at %d, among the snow ids from %d on", next, firstOf(t)),
				"set it back above the highest small id")
		}
	}
	return nil
}

// next returns about the next number of a table's counter, or 0 if it has none.
func (v *verification) next(ctx context.Context, t *plan.Table) (int64, error) {
	var n sql.NullInt64
	var err error
	switch {
	case v.d == sqldialect.MySQL:
		var variable, value string
		err = v.s.QueryRowContext(ctx, "SHOW VARIABLES LIKE 'information_schema_stats_expiry'").Scan(&variable, &value)
		if err == nil { // MySQL keeps what it has read for a day
			_, err = v.s.ExecContext(ctx, "SET SESSION information_schema_stats_expiry = 0")
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
		err = v.s.QueryRowContext(ctx, "SELECT auto_increment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?", t.Name).Scan(&n)
	case t.Sequence == "" || v.phase >= job.Finish:
		return 0, nil
	default:
		err = v.s.QueryRowContext(ctx, `SELECT s.last_value FROM pg_catalog.pg_sequences s
			WHERE s.schemaname = current_schema() AND s.sequencename = $1`, t.Sequence).Scan(&n)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n.Int64, err
}
