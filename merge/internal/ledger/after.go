package ledger

import (
	"context"
	"database/sql"
	"errors"
)

// The states of a statement of the plan that runs on the target after verification.
const (
	StatementBegun = "begun"
	StatementDone  = "done"
)

// A Statement is a row of snow_merge_after.
type Statement struct {
	Number int // from 1 on; 0 for the report of verification, which is then in SQL
	SQL    string
	State  string
	Rows   int64 // that it has changed
}

// Statements returns what a run has written down of its statements, in their order.
func (l Ledger) Statements(ctx context.Context, run string) (all []Statement, err error) {
	err = l.Query(ctx, "SELECT n, statement, state, changed_rows FROM snow_merge_after WHERE run = ? ORDER BY n", []any{run}, func(rows *sql.Rows) error {
		var s Statement
		err := rows.Scan(&s.Number, &s.SQL, &s.State, &s.Rows)
		all = append(all, s)
		return err
	})
	return all, err
}

// Verified returns the report with which a run's statements began, as JSON, or "" if they have not.
func (l Ledger) Verified(ctx context.Context, run string) (text string, err error) {
	err = l.Q.QueryRowContext(ctx, l.Engine.SQL("SELECT statement FROM snow_merge_after WHERE run = ? AND n = 0"), run).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) || err != nil && l.Engine.IsMissing(err) { // a ledger of an earlier version
		return "", nil
	}
	return text, l.Engine.Failed("read the ledger", err)
}

// InsertStatement writes down a statement.
func (l Ledger) InsertStatement(ctx context.Context, run string, s Statement) error {
	return l.insert(ctx, "snow_merge_after (run, n, statement, state, changed_rows, done_us)", [][]any{{run, int64(s.Number), s.SQL, s.State, s.Rows}}, ", "+l.Engine.Now)
}

// EndStatement writes down that a statement is done.
func (l Ledger) EndStatement(ctx context.Context, run string, s Statement) error {
	_, err := l.Q.ExecContext(ctx, l.Engine.SQL("UPDATE snow_merge_after SET state = ?, changed_rows = ?, done_us = {now} WHERE run = ? AND n = ?"), StatementDone, s.Rows, run, int64(s.Number))
	return err
}

// ForgetStatement deletes a statement that has not run.
func (l Ledger) ForgetStatement(ctx context.Context, run string, s Statement) error {
	_, err := l.Q.ExecContext(ctx, l.Engine.SQL("DELETE FROM snow_merge_after WHERE run = ? AND n = ?"), run, int64(s.Number))
	return err
}
