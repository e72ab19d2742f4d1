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

// Statements are what a run has written down of its statements.
type Statements struct {
	Ledger
	Run string
}

// All returns them in their order.
func (l Statements) All(ctx context.Context) (all []Statement, err error) {
	err = l.Query(ctx, "SELECT n, statement, state, changed_rows FROM snow_merge_after WHERE run = ? ORDER BY n", []any{l.Run}, func(rows *sql.Rows) error {
		var s Statement
		err := rows.Scan(&s.Number, &s.SQL, &s.State, &s.Rows)
		all = append(all, s)
		return err
	})
	return all, err
}

// Report returns the report with which the statements began, as JSON, or "" if they have not.
func (l Statements) Report(ctx context.Context) (text string, err error) {
	err = l.Q.QueryRowContext(ctx, l.Engine.SQL("SELECT statement FROM snow_merge_after WHERE run = ? AND n = 0"), l.Run).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) || err != nil && l.Engine.IsMissing(err) { // a ledger of an earlier version
		return "", nil
	}
	return text, l.Engine.Failed("read the ledger", err)
}

// Insert writes down a statement.
func (l Statements) Insert(ctx context.Context, s Statement) error {
	return l.insert(ctx, "snow_merge_after (run, n, statement, state, changed_rows, done_us)", [][]any{{l.Run, int64(s.Number), s.SQL, s.State, s.Rows}}, ", "+l.Engine.Now)
}

// End writes down that a statement is done.
func (l Statements) End(ctx context.Context, s Statement) error {
	_, err := l.Q.ExecContext(ctx, l.Engine.SQL("UPDATE snow_merge_after SET state = ?, changed_rows = ?, done_us = {now} WHERE run = ? AND n = ?"), StatementDone, s.Rows, l.Run, int64(s.Number))
	return err
}

// Forget deletes a statement that has not run.
func (l Statements) Forget(ctx context.Context, s Statement) error {
	_, err := l.Q.ExecContext(ctx, l.Engine.SQL("DELETE FROM snow_merge_after WHERE run = ? AND n = ?"), l.Run, int64(s.Number))
	return err
}
