package count

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
)

const probeTable = "snow_convert_probe"

const createProbe = "CREATE TABLE " + probeTable + " (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, v INT NOT NULL, w INT NULL UNIQUE) ENGINE=InnoDB"

// An attempt is a statement of the probe, and what it must do.
type attempt struct {
	statement string
	fails     bool
	lastID    int64 // LAST_INSERT_ID() afterwards, counted from the first number
	reply     int64 // the id in the reply
}

// attempts are what the triggers rely on. A server on which one of them goes otherwise is refused.
var attempts = []attempt{
	{statement: "(v) VALUES (1)"},
	{statement: "(id, v) VALUES (4000000000000000000, 2)", reply: 4000000000000000000},
	{statement: "(v) VALUES (3), (4), (5)", lastID: 1, reply: 1},
	{statement: "(id, v) VALUES (0, 6), (NULL, 7), (DEFAULT, 8)", lastID: 4, reply: 4},
	{statement: "(v) VALUES (NULL)", fails: true},
	{statement: "(v) VALUES (9)", lastID: 7, reply: 7},
	{statement: "(v, w) VALUES (10, 1)", lastID: 8, reply: 8},
	{statement: "(v, w) VALUES (11, 1)", fails: true},
	{statement: "(v, w) VALUES (12, 2)", lastID: 10, reply: 10},
	{statement: "(id, v) VALUES (NULL, 13), (4000000000000000001, 14), (NULL, 15)", lastID: 11, reply: 11},
	{statement: "(v, w) VALUES (16, 2), (17, 3) ON DUPLICATE KEY UPDATE v = 18", lastID: 13, reply: 13},
	{statement: "(v) SELECT v FROM " + probeTable + " WHERE w IS NOT NULL", lastID: 14, reply: 14},
	{statement: "(v) VALUES (19)", lastID: 17, reply: 17},
}

// probed are the ids of the table afterwards, counted from the first number.
var probed = []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17}

// probe looks whether the server can do it, and tries the triggers on a table of their own.
func probe(ctx context.Context, db *sql.DB) error {
	return withSession(ctx, db, func(conn *sql.Conn) error {
		if err := ready(ctx, conn); err != nil {
			return err
		}
		c := newCounter(&plan.Table{Name: probeTable, Key: "id", Block: 1000})
		c.tag = rand.Uint32()
		drop := func() error {
			_, err := conn.ExecContext(context.WithoutCancel(ctx), "DROP TABLE IF EXISTS "+probeTable+", "+quote(c.blockTable()))
			return err
		}
		if err := drop(); err != nil { // a run that was killed left it
			return err
		}
		defer func() { _ = drop() }()
		for _, s := range []string{createLeft, createProbe, c.createBlocks(), c.createTaken(), c.createAfter(""), c.createBefore("")} {
			if _, err := conn.ExecContext(ctx, s); err != nil {
				if reason := refusal(err); reason != "" {
					return &report.CountError{Reason: reason}
				}
				return fmt.Errorf("probe: %s: %w", firstLine(s), err)
			}
		}
		return c.attempt(ctx, conn)
	})
}

// refusal says what a server needs before it lets an account create triggers.
func refusal(err error) string {
	switch sqldialect.Code(err) {
	case "1419":
		return "with a binary log, it lets accounts create triggers only if they have SUPER, or with SET GLOBAL log_bin_trust_function_creators = 1"
	case "1142", "1044", "1227":
		return "the account lacks the right to create tables or triggers: " + err.Error()
	}
	return ""
}

// ready looks at the settings.
func ready(ctx context.Context, conn *sql.Conn) error {
	var format string
	var log bool
	if err := conn.QueryRowContext(ctx, "SELECT @@GLOBAL.binlog_format, @@GLOBAL.log_bin").Scan(&format, &log); err != nil {
		return err
	}
	if log && format == "STATEMENT" {
		return &report.CountError{Reason: "its binlog_format is STATEMENT, so replicas would give other numbers; set ROW, for all sessions"}
	}
	var name, on string
	err := conn.QueryRowContext(ctx, "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'").Scan(&name, &on)
	if err == nil && on == "ON" {
		return &report.CountError{Reason: "it is a node of a Galera cluster, where LOCK TABLES keeps writers of other nodes out of nothing"}
	}
	if err != nil && err != sql.ErrNoRows {
		return err
	}
	return nil
}

func (c *counter) attempt(ctx context.Context, conn *sql.Conn) error {
	var mode string
	err := conn.QueryRowContext(ctx, "SELECT @@auto_increment_increment, @@sql_mode").Scan(new(int64), &mode)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "SET SESSION auto_increment_increment = 1"); err != nil {
		return &report.CountError{Reason: "auto_increment_increment is not 1, and the account may not change it for the probe: " + err.Error()}
	}
	first := int64(c.size)
	for _, a := range attempts {
		statement := "INSERT INTO " + probeTable + " " + a.statement
		result, err := conn.ExecContext(ctx, statement)
		if (err != nil) != a.fails {
			return &report.CountError{Reason: fmt.Sprintf("the probe %q ended with the error %v", statement, err)}
		}
		if err != nil {
			continue
		}
		reply, err := result.LastInsertId()
		if err != nil {
			return err
		}
		want := a.reply
		if want < firstID {
			want += first
		}
		if reply != want {
			return &report.CountError{Reason: fmt.Sprintf("the probe %q replied with id %d, not %d", statement, reply, want)}
		}
		var last int64
		if err := conn.QueryRowContext(ctx, "SELECT LAST_INSERT_ID()").Scan(&last); err != nil {
			return err
		}
		if want < firstID && last != a.lastID+first {
			return &report.CountError{Reason: fmt.Sprintf("LAST_INSERT_ID() after the probe %q is %d, not %d", statement, last, a.lastID+first)}
		}
	}
	return c.probedIDs(ctx, conn)
}

func (c *counter) probedIDs(ctx context.Context, conn *sql.Conn) error {
	rows, err := conn.QueryContext(ctx, "SELECT id FROM "+probeTable+" WHERE id < ? ORDER BY id", c.first)
	if err != nil {
		return err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		ids = append(ids, id-int64(c.size))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if !slices.Equal(ids, probed) {
		return &report.CountError{Reason: fmt.Sprintf("the probe %s left the numbers %v, not %v", strings.ToLower(probeTable), ids, probed)}
	}
	return nil
}
