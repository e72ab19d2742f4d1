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
	_, err := s.ExecContext(ctx, s.engine.setMark(s.use, s.mark, !oneByOne))
	if err == nil && oneByOne {
		return s.engine.checkTemporary(ctx, s)
	}
	if sqldialect.Code(err) == "1690" && s.use != ForMigration && !oneByOne {
		// MariaDB has made temporary tables in this session. Are they in the way?
		if _, err = s.ExecContext(ctx, s.engine.setMark(s.use, s.mark, false)); err == nil {
			return s.engine.checkTemporary(ctx, s)
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

// checkTemporary returns errTemporary if one of the engine's tables is temporary in this session.
func (e *Engine) checkTemporary(ctx context.Context, q Queryer) error {
	for _, table := range e.tables {
		var name, text string
		if err := q.QueryRowContext(ctx, e.Qualify("SHOW CREATE TABLE "+table)).Scan(&name, &text); err != nil {
			return err
		}
		if strings.HasPrefix(text, "CREATE TEMPORARY") {
			return errTemporary
		}
	}
	return nil
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
