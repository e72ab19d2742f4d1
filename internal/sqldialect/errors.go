package sqldialect

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
)

// Code returns the code in a driver's error: an error number, an SQLSTATE or a result code. It returns "" if there
// is none. Drivers are not imported, so Code looks for a method or field of their errors:
//
//	SQLState() string      pgx, lib/pq
//	Number uint16          go-sql-driver/mysql
//	Code() integer         modernc.org/sqlite, ncruces/go-sqlite3
//	Code integer           mattn/go-sqlite3
func Code(err error) string {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState()
	}
	for ; err != nil; err = unwrap(err) {
		v := reflect.ValueOf(err)
		if method := v.MethodByName("Code"); method.IsValid() && method.Type().NumIn() == 0 && method.Type().NumOut() == 1 {
			if code, ok := integer(method.Call(nil)[0]); ok {
				return code
			}
		}
		v = reflect.Indirect(v)
		if v.Kind() != reflect.Struct {
			continue
		}
		for _, name := range []string{"Number", "Code"} {
			if code, ok := integer(v.FieldByName(name)); ok {
				return code
			}
		}
	}
	return ""
}

func unwrap(err error) error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range several.Unwrap() {
			if Code(err) != "" {
				return err
			}
		}
	}
	return errors.Unwrap(err)
}

func integer(v reflect.Value) (string, bool) {
	switch {
	case !v.IsValid():
		return "", false
	case v.CanInt():
		return fmt.Sprint(v.Int()), true
	case v.CanUint():
		return fmt.Sprint(v.Uint()), true
	}
	return "", false
}

// A Class is the meaning of a database's error. No class proves that a statement had no effect: only a reply does.
type Class int

// The classes.
const (
	Other              Class = iota
	NoTable                  // the table does not exist; SQLite has no code of its own for it
	NoColumn                 // the column does not exist; SQLite has no code of its own for it
	ReadOnly                 // the server or the transaction takes no writes
	InTransaction            // the statement is not possible in the transaction that the session is in
	NoQuorum                 // the node is not in the primary component of its Galera cluster
	StatementMismatch        // a prepared statement is missing, or belongs to another session of a pooler
	Busy                     // another transaction is in the way: a deadlock, a lock, a serialization failure
	TooManyConnections       // the server has no connection to spare
	Denied                   // the account lacks a right
)

// Classify returns the class of a driver's error, by its code.
func (d Dialect) Classify(err error) Class {
	code := Code(err)
	switch d {
	case MySQL:
		return mysqlClass(code)
	case Postgres:
		return postgresClass(code)
	case SQLite:
		return sqliteClass(code)
	}
	return Other
}

func mysqlClass(code string) Class {
	switch code {
	case "1146":
		return NoTable
	case "1054":
		return NoColumn
	case "1290", "1792", "1836", "3989":
		return ReadOnly
	case "1568": // a characteristic that only the start of a transaction can change
		return InTransaction
	case "1047", "1180": // Galera: not ready, commit refused
		return NoQuorum
	case "1213", "1020", "1205": // deadlock, row changed since the snapshot, lock wait
		return Busy
	case "1040", "1203", "1226":
		return TooManyConnections
	case "1044", "1142", "1143", "1227": // to a database, a table, a column, a privilege
		return Denied
	}
	return Other
}

func postgresClass(code string) Class {
	switch code {
	case "42P01":
		return NoTable
	case "42703":
		return NoColumn
	case "25006":
		return ReadOnly
	case "25P02": // the transaction has failed before
		return InTransaction
	case "42P05", "26000":
		return StatementMismatch
	case "40001", "40P01", "55P03": // serialization, deadlock, lock
		return Busy
	case "53300":
		return TooManyConnections
	case "42501":
		return Denied
	}
	return Other
}

func sqliteClass(code string) Class {
	n, err := strconv.Atoi(code)
	if err != nil {
		return Other
	}
	switch n & 0xff { // the rest of an extended code says more
	case 5, 6: // SQLITE_BUSY, SQLITE_LOCKED
		return Busy
	case 8:
		return ReadOnly
	}
	return Other
}
