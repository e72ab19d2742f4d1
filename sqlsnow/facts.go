package sqlsnow

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"
)

// facts are what a database server says of itself.
type facts struct {
	us            int64 // its clock
	readOnly      bool
	unmigrated    bool
	inTransaction bool          // the session, where that is known
	setting       string        // that weakens what it confirms
	value         string        // of setting
	loses         time.Duration // how much it may lose for that
}

func (f *facts) weak(setting, value string, loses time.Duration) {
	f.setting, f.value, f.loses = setting, value, loses
}

// check says whether a lease with a loss window can rest on the server.
func (f *facts) check(loss time.Duration) error {
	switch {
	case f.unmigrated:
		return ErrNotMigrated
	case f.readOnly:
		return ErrReadOnly
	case f.loses > loss && f.loses == forgetsAll:
		return fmt.Errorf("%w: %s is %s", ErrNotDurable, f.setting, f.value)
	case f.loses > loss:
		return fmt.Errorf("%w: %s is %s, which needs a LossWindow of %v or more", ErrNotDurable, f.setting, f.value, f.loses)
	}
	return nil
}

func (e *engine) askFacts(ctx context.Context, q queryer) (facts, error) {
	rows, err := q.QueryContext(ctx, e.facts)
	if err != nil {
		return facts{}, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return facts{}, err
	}
	values := make([]sql.NullString, len(names))
	places := make([]any, len(names))
	for i := range values {
		places[i] = &values[i]
	}
	if !rows.Next() {
		return facts{}, rows.Err()
	}
	if err := rows.Scan(places...); err != nil {
		return facts{}, err
	}
	f := e.facing(values)
	if f.us, err = strconv.ParseInt(values[0].String, 10, 64); err != nil {
		return facts{}, err
	}
	return f, rows.Close()
}
