package count

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// FinishSteps returns the steps of phase Finish that end the counting.
func FinishSteps(p *plan.Plan) (steps []job.Step) {
	tables := counted(p)
	for _, t := range tables {
		steps = append(steps, watchStep(t))
	}
	for i, t := range tables {
		s := finishStep(t)
		if i == 0 {
			s.Gate = "As long as the programs need to do all they do, such as a day with its nightly jobs, no row without an id has come."
		}
		steps = append(steps, s)
	}
	if len(tables) == 0 {
		return nil
	}
	guards := guardStep(p)
	return append(steps, job.Step{
		Name: "finish: guards", Title: "Drop the guards of other tables", Phase: job.Finish, Back: "always",
		Blocks:     guards.Blocks,
		Statements: []string{"DROP TRIGGER … -- the guards", "DROP TABLE " + leftTable},
		Do:         guards.Undo, Undo: guards.Do,
		Verify: func(context.Context, *job.Run) error { return nil },
	})
}

func watchStep(t *plan.Table) job.Step {
	c := newCounter(t)
	return job.Step{
		Name: "finish " + t.Name + ": watch", Title: "Make every session take a new block of " + t.Name + ", to see who still does", Phase: job.Finish, Table: t.Name,
		Statements: append(append([]string{c.lock(), "INSERT INTO " + quote(c.blockTable()) + " … -- a row that says from when on it is watched"}, c.drops()...), "… the triggers again, with other names of their variables", "UNLOCK TABLES"),
		Blocks:     countStep(t).Blocks, Back: "always",
		Do: func(ctx context.Context, r *job.Run) error {
			return withCounter(ctx, r, t, func(w *counting) error { return w.beginWatch(ctx, false) })
		},
		Verify: func(ctx context.Context, r *job.Run) error {
			return withCounter(ctx, r, t, func(w *counting) error { return w.verify(ctx) })
		},
		Undo: func(context.Context, *job.Run) error { return nil }, // it counts as before
	}
}

func (c *counter) watch() string {
	return "INSERT INTO " + quote(c.blockTable()) + " (block, at, who) VALUES (NULL, SYSDATE(6), '" + mark(watches) + "')"
}

// beginWatch changes the variables of the triggers, so that each session takes a new block at its next row. The row of
// that block says who it was.
func (w *counting) beginWatch(ctx context.Context, again bool) error {
	return w.locked(ctx, func() error {
		var n int
		if err := w.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+quote(w.blockTable())+" WHERE who LIKE ?", watches+"%").Scan(&n); err != nil {
			return err
		}
		if n == 0 || again {
			if _, err := w.conn.ExecContext(ctx, w.watch()); err != nil {
				return err
			}
		}
		return w.renew(ctx)
	})
}

// seen returns an error if a session has taken a block since the watch began.
func (w *counting) seen(ctx context.Context) error {
	var who, at string
	err := w.conn.QueryRowContext(ctx, "SELECT who, DATE_FORMAT(at, '%Y-%m-%d %H:%i:%s') FROM "+quote(w.blockTable())+
		" WHERE block > (SELECT MAX(block) FROM "+quote(w.blockTable())+" WHERE who LIKE ?) ORDER BY at DESC LIMIT 1", watches+"%").Scan(&who, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	last, err := time.Parse(time.DateTime, at)
	if err != nil {
		return err
	}
	return &report.StillCountedError{Table: w.table, Who: who, At: last}
}

func finishStep(t *plan.Table) job.Step {
	c := newCounter(t)
	return job.Step{
		Name: "finish " + t.Name, Title: "Count rows of " + t.Name + " no more: those without an id fail", Phase: job.Finish, Table: t.Name,
		Statements: append([]string{"ALTER TABLE " + quote(t.Name) + " MODIFY " + quote(t.Key) + " … -- as it is, without AUTO_INCREMENT, ALGORITHM=INSTANT, else INPLACE, else COPY"},
			append(c.drops(), "DROP TABLE "+quote(c.blockTable()))...),
		Blocks: "writers of " + t.Name + ": on MySQL while the server copies the table, on MariaDB for milliseconds",
		Back:   "always, while the server copies the table",
		Do: func(ctx context.Context, r *job.Run) error {
			return withCounter(ctx, r, t, func(w *counting) error { return w.finish(ctx) })
		},
		Verify: func(ctx context.Context, r *job.Run) error {
			return withCounter(ctx, r, t, func(w *counting) error { return w.finished(ctx) })
		},
		Undo: func(ctx context.Context, r *job.Run) error {
			return withCounter(ctx, r, t, func(w *counting) error { return w.countAgain(ctx) })
		},
	}
}

// finish takes AUTO_INCREMENT away first: with the triggers alone, rows without an id fail. Without the triggers first,
// they would get numbers among the snow ids.
func (w *counting) finish(ctx context.Context) error {
	line, err := w.column(ctx)
	if err != nil {
		return err
	}
	if without, is := withoutCounter(line); is {
		if err := w.seen(ctx); err != nil {
			return errors.Join(err, w.beginWatch(ctx, true))
		}
		if err := w.modify(ctx, without); err != nil {
			return err
		}
	}
	for _, s := range w.drops() {
		if err := patient(ctx, w.run, func() error { return w.exec(ctx, s) }); err != nil {
			return err
		}
	}
	return w.exec(ctx, "DROP TABLE IF EXISTS "+quote(w.blockTable()))
}

func (w *counting) finished(ctx context.Context) error {
	line, err := w.column(ctx)
	if err != nil {
		return err
	}
	all, err := w.triggers(ctx)
	if err != nil {
		return err
	}
	for _, t := range all {
		if t.name == w.beforeTrigger() || t.name == w.afterTrigger() {
			return &report.CountError{Table: w.table, Reason: fmt.Sprintf("it still has the trigger %q", t.name)}
		}
	}
	if _, is := withoutCounter(line); is {
		return &report.CountError{Table: w.table, Reason: "its key is still AUTO_INCREMENT"}
	}
	return nil
}

// countAgain takes finish back. The triggers come first: until the column counts, rows without an id fail.
func (w *counting) countAgain(ctx context.Context) error {
	if err := w.create(ctx, true); err != nil {
		return err
	}
	line, err := w.column(ctx)
	if err != nil {
		return err
	}
	if _, is := withoutCounter(line); is {
		return nil
	}
	return w.modify(ctx, withCounterAgain(line))
}

// modify changes the column in the mildest way that the server allows.
func (w *counting) modify(ctx context.Context, line string) (err error) {
	if _, err := w.conn.ExecContext(ctx, "SET SESSION foreign_key_checks = 0"); err != nil {
		return err
	}
	defer func() {
		_, back := w.conn.ExecContext(context.WithoutCancel(ctx), "SET SESSION foreign_key_checks = 1")
		err = errors.Join(err, back)
	}()
	for _, algorithm := range []string{"INSTANT", "INPLACE", "COPY"} {
		err = patient(ctx, w.run, func() error {
			return w.exec(ctx, "ALTER TABLE "+quote(w.table)+" MODIFY "+line+", ALGORITHM="+algorithm)
		})
		if code := sqldialect.Code(err); code != "1845" && code != "1846" {
			return err
		}
	}
	return err
}

// column returns the definition of the key.
func (w *counting) column(ctx context.Context) (string, error) {
	text, err := w.definition(ctx)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSpace(line), ",")
		if strings.HasPrefix(line, quote(w.key)+" ") {
			return line, nil
		}
	}
	return "", fmt.Errorf("table %q has no column %q", w.table, w.key)
}

const counterWord = " AUTO_INCREMENT"

// withoutCounter says whether a column counts, and returns it without. Texts such as comments come after the word.
func withoutCounter(line string) (string, bool) {
	before, after, found := strings.Cut(line, counterWord)
	if !found || strings.Contains(before, "'") {
		return line, false
	}
	return before + after, true
}

func withCounterAgain(line string) string {
	before, after, found := strings.Cut(line, " COMMENT ")
	if !found {
		return line + counterWord
	}
	return before + counterWord + " COMMENT " + after
}
