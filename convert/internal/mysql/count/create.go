package count

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/convert/internal/mysql/restate"
	"github.com/shardsnow/snow/convert/report"
)

// A trigger is one that a table has for inserts.
type trigger struct {
	name, timing, text string
	order              int
}

func (w *counting) triggers(ctx context.Context) (all []trigger, err error) {
	rows, err := w.conn.QueryContext(ctx, "SELECT TRIGGER_NAME, ACTION_TIMING, ACTION_STATEMENT, ACTION_ORDER FROM information_schema.TRIGGERS"+
		" WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = ? AND EVENT_MANIPULATION = 'INSERT' ORDER BY ACTION_TIMING, ACTION_ORDER", w.table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t trigger
		if err := rows.Scan(&t.name, &t.timing, &t.text, &t.order); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, rows.Err()
}

// begins and watches are who stands in the rows of the blocks with which counting begins, and with which Finish begins
// to watch, before the tag of the variables. Each time it is another one, because sessions still have variables of
// earlier blocks, which may not count any more.
const (
	begins  = "snow convert begins "
	watches = "snow convert watches "
)

// readTag sets the tag of the variables, if the table of blocks has one.
func (w *counting) readTag(ctx context.Context) error {
	var who string
	err := w.conn.QueryRowContext(ctx, "SELECT who FROM "+quote(w.blockTable())+" WHERE who LIKE 'snow convert %' ORDER BY block DESC LIMIT 1").Scan(&who)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(who[strings.LastIndex(who, " ")+1:], 16, 32)
	w.tag = uint32(n)
	return err
}

func mark(who string) string { return fmt.Sprintf("%s%08x", who, rand.Uint32()) }

// create creates the triggers, with the block of the highest id and of the counter, while nobody writes.
func (w *counting) create(ctx context.Context, again bool) error {
	if err := w.exec(ctx, w.createBlocks(), w.createTaken(), createLeft); err != nil {
		return err
	}
	return w.locked(ctx, func() error {
		if err := w.begin(ctx, again); err != nil {
			return err
		}
		return w.renew(ctx)
	})
}

// begin takes the blocks of all ids that exist.
func (w *counting) begin(ctx context.Context, again bool) error {
	var highest, blocks, newest int64
	err := w.conn.QueryRowContext(ctx, "SELECT (SELECT COALESCE(MAX("+quote(w.key)+"), 0) FROM "+quote(w.table)+" WHERE "+quote(w.key)+" < ?), COUNT(*), COALESCE(MAX(block), 0) FROM "+
		quote(w.blockTable()), w.first).Scan(&highest, &blocks, &newest)
	if err != nil {
		return err
	}
	counter, err := w.autoIncrement(ctx)
	if err != nil {
		return err
	}
	switch {
	case counter <= uint64(w.first):
		highest = max(highest, int64(counter)-1)
	case blocks == 0 && !again:
		return &report.CountError{Table: w.table, Reason: fmt.Sprintf("its counter is at %d, and the plan says that numbers from %d are snow ids", counter, w.first)}
	}
	if left := (w.limit() - highest) / int64(w.size); left < 1000 {
		return &report.CountError{Table: w.table, Reason: fmt.Sprintf("its highest id is %d: %d blocks of %d numbers are left; make the plan's block smaller", highest, max(left, 0), w.size)}
	}
	if blocks > 0 && highest/int64(w.size) <= newest {
		return nil // from an earlier call
	}
	_, err = w.conn.ExecContext(ctx, "INSERT INTO "+quote(w.blockTable())+" (block, at, who) VALUES (?, SYSDATE(6), ?)", max(highest/int64(w.size), newest+1), mark(begins))
	return err
}

// limit is the highest number that the old programs know, by the type that the key had.
func (w *counting) limit() int64 {
	column := w.plan.Column(w.key)
	if column == nil {
		return w.first
	}
	bits := map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "integer": 32}[integerKind(column.Type)]
	if bits == 0 {
		return w.first
	}
	if !isUnsigned(column.Type) {
		bits--
	}
	return min(w.first, int64(math.Pow(2, float64(bits))))
}

var counterOption = regexp.MustCompile(`(?m)^\) .*\bAUTO_INCREMENT=(\d+)`)

// autoIncrement returns the number that the server would give next.
func (w *counting) autoIncrement(ctx context.Context) (uint64, error) {
	text, err := w.definition(ctx)
	if err != nil {
		return 0, err
	}
	m := counterOption.FindStringSubmatch(text)
	if m == nil {
		return 1, nil
	}
	return strconv.ParseUint(m[1], 10, 64)
}

func (w *counting) definition(ctx context.Context) (text string, err error) {
	var name string
	err = w.conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+quote(w.table)).Scan(&name, &text)
	return text, err
}

// renew replaces the triggers unless they are there, while nobody writes. The one before inserts comes last, so that
// errors of others come first, and the one after inserts comes first.
func (w *counting) renew(ctx context.Context) error {
	if err := w.readTag(ctx); err != nil {
		return err
	}
	if w.verify(ctx) == nil {
		return restate.End(ctx, w.conn, w.table)
	}
	if err := restate.Begin(ctx, w.conn, w.table); err != nil {
		return err
	}
	if err := w.exec(ctx, w.drops()...); err != nil {
		return err
	}
	all, err := w.triggers(ctx)
	if err != nil {
		return err
	}
	order := ""
	for _, t := range all {
		if t.timing == "AFTER" {
			order = "PRECEDES " + quote(t.name) + " "
			break
		}
	}
	if err := w.exec(ctx, w.createAfter(order), w.createBefore("")); err != nil {
		return err
	}
	return restate.Table(ctx, w.conn, w.table)
}

// drops are in this order because the trigger after inserts fails for rows that the other one has not seen.
func (c *counter) drops() []string {
	return []string{"DROP TRIGGER IF EXISTS " + quote(c.afterTrigger()), "DROP TRIGGER IF EXISTS " + quote(c.beforeTrigger())}
}

// verify compares the triggers with what they should be.
func (w *counting) verify(ctx context.Context) error {
	if err := w.readTag(ctx); err != nil {
		return err
	}
	all, err := w.triggers(ctx)
	if err != nil {
		return err
	}
	var before, after bool
	for i, t := range all {
		last := i == len(all)-1 || all[i+1].timing != t.timing
		first := i == 0 || all[i-1].timing != t.timing
		switch t.name {
		case w.beforeTrigger():
			before = t.timing == "BEFORE" && t.text == w.text(beforeInsert) && last
		case w.afterTrigger():
			after = t.timing == "AFTER" && t.text == w.text(afterInsert) && first
		}
	}
	if !before || !after {
		return &report.CountError{Table: w.table, Reason: "its triggers are not the ones of the plan, or others come after or before them"}
	}
	return nil
}

// canUndo returns an error if a snow id is in the table.
func (w *counting) canUndo(ctx context.Context) error {
	var lowest int64
	err := w.conn.QueryRowContext(ctx, "SELECT COALESCE(MIN("+quote(w.key)+"), 0) FROM "+quote(w.table)+" WHERE "+quote(w.key)+" >= ?", w.first).Scan(&lowest)
	if err == nil && lowest != 0 {
		err = &report.SnowIDsError{Table: w.table, ID: lowest}
	}
	return err
}

// undo drops the triggers and sets the counter to what comes after all blocks, unless a snow id is in the table.
func (w *counting) undo(ctx context.Context) error {
	if err := w.exec(ctx, w.createBlocks()); err != nil {
		return err
	}
	err := w.locked(ctx, func() error {
		if err := w.canUndo(ctx); err != nil {
			return err
		}
		var block int64
		if err := w.conn.QueryRowContext(ctx, "SELECT COALESCE(MAX(block), 0) FROM "+quote(w.blockTable())).Scan(&block); err != nil {
			return err
		}
		if err := w.exec(ctx, w.drops()...); err != nil {
			return err
		}
		counter, err := w.autoIncrement(ctx)
		if err != nil || counter <= uint64(w.first) {
			return err // numbers that were given are below it, because they were written
		}
		return w.exec(ctx, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", quote(w.table), (block+1)*int64(w.size)))
	})
	if err != nil {
		return err
	}
	return w.exec(ctx, "DROP TABLE IF EXISTS "+quote(w.blockTable()))
}
