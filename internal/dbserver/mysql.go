package dbserver

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// Conditions for a session. They are checked before a write and not in it: see Session. MySQL has no
// @@in_transaction, and only MariaDB executes what follows /*M!.
const (
	mysqlLone     = "@@autocommit = 1 /*M! AND @@in_transaction = 0 */"
	mysqlMigrates = "(@@autocommit = 0 /*M! OR @@in_transaction = 0 */ /*!50720 OR @@autocommit = 1 */)"

	// Administrators may write in spite of read_only, and may turn off the binary log in a session. The value of
	// read_only is a word or a number.
	mysqlWrites = "CAST(@@global.read_only AS CHAR) IN ('0', 'OFF')"
	mysqlLogged = "(@@global.log_bin = 0 OR @@sql_log_bin = 1)"

	// SET timestamp stops the clock of a session, but not SYSDATE. Both are in the session's time zone.
	mysqlRuns = "ABS(TIMESTAMPDIFF(SECOND, NOW(), SYSDATE())) < 60"

	mysqlDurable = "@@global.innodb_flush_log_at_trx_commit IN (1, 3) AND (@@global.log_bin = 0 OR @@global.sync_binlog = 1)" +
		" AND COALESCE(@@global.innodb_flush_method, '') NOT IN ('nosync', 'littlesync')"
)

func mysqlEngine() *Engine {
	// UTC_TIMESTAMP is the time at which the statement began. UNIX_TIMESTAMP(NOW(6))
	// would go through the server's time zone and repeat an hour once a year.
	const now = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"
	return &Engine{
		Dialect:  sqldialect.MySQL,
		Now:      now,
		div:      "DIV",
		greatest: "GREATEST",
		least:    "LEAST",
		bound:    "@snow = :mark AND",
		insertID: func(expression string) string { // the value that is written does not depend on the expression
			return "1 + 0 * LAST_INSERT_ID(IF(" + mysqlWrites + ", " + expression + ", 0))"
		},
		checkSession: checkMySQL,
		current:      "DATABASE()",
		// The handshake of a connection with a schema in its DSN does not count. MySQL shows the count in SHOW
		// STATUS only.
		changed:  "COALESCE(NULL /*M! , (SELECT variable_value FROM information_schema.session_status WHERE variable_name = 'COM_CHANGE_DB') */)",
		hasMoved: hasMovedMySQL,
		stored: "(SELECT MAX(CASE engine WHEN 'InnoDB' THEN '' ELSE COALESCE(engine, table_type) END) FROM information_schema.tables" +
			" WHERE table_schema = {schema} AND table_name = '{table}')",
		info: now + ", @@global.read_only, @@autocommit, @@global.innodb_flush_log_at_trx_commit," +
			" @@global.log_bin, @@global.sync_binlog, @@global.innodb_flush_log_at_timeout, 0 /*M! + @@in_transaction */," +
			" @@sql_log_bin, @@global.innodb_flush_method, " + mysqlRuns + ", 0 /*M! + 1 */",
		readInfo: func(v []sql.NullString) Info {
			info := Info{ReadOnly: v[1].String != "0" && v[1].String != "OFF", InTransaction: v[7].String == "1"}
			info.stopped, info.oneByOne = !isTrue(v[10].String), isTrue(v[11].String)
			switch {
			case v[2].String != "1":
				info.weaken("autocommit", v[2].String, Forever)
			case v[4].String == "1" && v[8].String != "1":
				info.weaken("sql_log_bin", v[8].String, Forever)
			case v[9].String == "nosync" || v[9].String == "littlesync":
				info.weaken("innodb_flush_method", v[9].String, Forever)
			case v[4].String == "1" && v[5].String != "1":
				info.weaken("sync_binlog", v[5].String, time.Minute)
			case v[3].String != "1" && v[3].String != "3": // 3 is as durable, and only MariaDB has it
				every, err := strconv.Atoi(v[6].String)
				if err != nil {
					every = 2700 // the highest
				}
				info.weaken("innodb_flush_log_at_trx_commit", v[3].String, max(5, time.Duration(3*every))*time.Second)
			}
			return info
		},
	}
}

// hasMovedMySQL reports whether the session has changed its schema since it was opened. TiDB does not count that.
func hasMovedMySQL(ctx context.Context, conn Queryer) (bool, error) {
	var name, n string
	err := conn.QueryRowContext(ctx, "SHOW SESSION STATUS LIKE 'Com_change_db'").Scan(&name, &n)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return isTrue(n), err
}

// checkMySQL sets the mark in the session. Its statement fails with "out of range" if the session is not fit. The
// first assignment changes nothing, but fails within a transaction, because only MariaDB has a variable that shows
// a transaction.
func checkMySQL(ctx context.Context, s *Session) error {
	s.mark = 1 + rand.Int64N(1<<53)
	oneByOne := s.engine.oneByOne && s.use != ForMigration
	var err error
	if oneByOne {
		err = s.engine.checkMariaDB(ctx, s)
	} else {
		_, err = s.ExecContext(ctx, s.engine.setMark(s.use, s.mark, true))
	}
	if err == nil || errors.Is(err, errTemporary) {
		return err
	}
	if sqldialect.Code(err) == "1690" && s.use != ForMigration && !oneByOne {
		// MariaDB has made temporary tables in this session. Are they in the way?
		if err = s.engine.checkEach(ctx, s); err == nil || errors.Is(err, errTemporary) {
			return err
		}
	}
	code := sqldialect.Code(err)
	switch code {
	case "1137":
		return errTemporary
	case "1690":
	case "1568": // with autocommit=0, MySQL begins a transaction to look at the tables
		if s.use == ForMigration {
			return err
		}
	default:
		return err
	}
	info, failed := s.engine.Ask(ctx, s.Conn)
	switch {
	case failed != nil:
		return failed
	case code == "1568":
		return cmp.Or(info.Check(protocol.LongestLoss), err)
	case info.InTransaction:
		return dberrors.ErrInTransaction
	case info.stopped:
		return errStopped
	}
	loss := protocol.LongestLoss
	if s.use == ForSegments {
		loss = 0
	}
	if err := info.Check(loss); err != nil {
		return err
	}
	return dberrors.ErrRefused
}

// errTemporary says that a temporary table hides one of the engine's.
var errTemporary = fmt.Errorf("%w: a temporary table hides one of them", dberrors.ErrElsewhere)

// checkMariaDB sets the mark, and returns errTemporary if one of the engine's tables is temporary in the session.
func (e *Engine) checkMariaDB(ctx context.Context, s *Session) error {
	err := e.checkAtOnce(ctx, s)
	if sqldialect.Code(err) == "1064" { // what is on the way doesn't know statements in IF
		err = e.checkEach(ctx, s)
	}
	return err
}

// checkAtOnce is checkMariaDB in one statement. Its results are the definitions of the tables.
func (e *Engine) checkAtOnce(ctx context.Context, s *Session) error {
	rows, err := s.QueryContext(ctx, e.lookAtOnce(s.use, s.mark)) //nolint:rowserrcheck // below
	if err != nil {
		return err
	}
	defer rows.Close()
	seen, hidden := 0, false
	for more := true; more; more = rows.NextResultSet() {
		for rows.Next() {
			var name, text string
			if err := rows.Scan(&name, &text); err != nil {
				return err
			}
			seen++
			hidden = hidden || isTemporary(text)
		}
	}
	switch err := errors.Join(rows.Err(), rows.Close()); {
	case err != nil:
		return err
	case hidden:
		return errTemporary
	case seen != len(e.tables): // a driver or a proxy that leaves out results
		return e.checkEach(ctx, s)
	}
	return nil
}

// checkEach is checkMariaDB with a statement for the mark, and one for each table.
func (e *Engine) checkEach(ctx context.Context, s *Session) error {
	if _, err := s.ExecContext(ctx, e.setMark(s.use, s.mark, false)); err != nil {
		return err
	}
	for _, look := range e.lookAtTables() {
		var name, text string
		if err := s.QueryRowContext(ctx, look).Scan(&name, &text); err != nil {
			return err
		}
		if isTemporary(text) {
			return errTemporary
		}
	}
	return nil
}

func isTemporary(definition string) bool { return strings.HasPrefix(definition, "CREATE TEMPORARY") }

// lookAtTables returns a statement for each of the engine's tables that shows the definition of the one that the
// session has.
func (e *Engine) lookAtTables() []string {
	all := make([]string, len(e.tables))
	for i, table := range e.tables {
		all[i] = e.Qualify("SHOW CREATE TABLE " + table)
	}
	return all
}

// lookAtOnce returns the statement of checkAtOnce. Proxies take one that starts with BEGIN for a transaction.
func (e *Engine) lookAtOnce(use Use, mark int64) string {
	return "IF 1 THEN " + e.setMark(use, mark, false) + "; " + strings.Join(e.lookAtTables(), "; ") + "; END IF"
}

// setMark returns the statement that sets the mark. With lone, MariaDB refuses a session that has made temporary
// tables. To count them, it goes through all of its status variables, which takes ten times as long as to look at a
// table.
func (e *Engine) setMark(use Use, mark int64, lone bool) string {
	only, fit := "/*!50720 @@transaction_isolation = @@transaction_isolation, */ ", mysqlLone
	switch use {
	case ForMigration: // connections may have autocommit=0
		fit = mysqlMigrates
	case ForSegments:
		fit += " AND " + mysqlDurable
	}
	if use == ForLease || use == ForLossyLease || use == ForSegments {
		fit += " AND " + mysqlLogged + " AND " + mysqlRuns
	}
	if use != ForReading {
		fit += " AND " + mysqlWrites
	}
	if use != ForMigration {
		var twice []string
		for i, table := range e.tables {
			twice = append(twice, fmt.Sprintf("%s AS a%d, %s AS b%d", table, i, table, i))
		}
		fit += " /*!50720 AND NOT EXISTS (SELECT 1 FROM " + e.Qualify(strings.Join(twice, ", ")) + " WHERE FALSE) */"
		if lone {
			fit += " /*M! AND (SELECT variable_value FROM information_schema.session_status WHERE variable_name = 'COM_CREATE_TEMPORARY_TABLE') = 0 */"
		}
	}
	return fmt.Sprintf("SET %s@snow = %d + IF(%s, 0, 9223372036854775807)", only, mark, fit)
}
