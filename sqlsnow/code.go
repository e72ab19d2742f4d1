package sqlsnow

import (
	"errors"
	"fmt"
	"reflect"
)

// A class is what an error of the database means for a lease. None of them
// says that a statement had no effect: only a reply does.
type class int

const (
	other class = iota
	unmigrated
	readOnly
	busy // worth another try at once
)

// database makes err, which a driver returned, a *DatabaseError, with the
// sentinel of its class where there is one.
func (e *engine) database(op string, err error) error {
	code := codeOf(err)
	failed := &DatabaseError{Op: op, Code: code, Err: err}
	switch e.classify(code) {
	case unmigrated:
		return fmt.Errorf("%w (%w)", ErrNotMigrated, failed)
	case readOnly:
		return fmt.Errorf("%w (%w)", ErrReadOnly, failed)
	}
	return failed
}

// isBusy reports whether err is one of another statement in the way.
func (e *engine) isBusy(err error) bool {
	var failed *DatabaseError
	return errors.As(err, &failed) && e.classify(failed.Code) == busy
}

// codeOf returns the code that a driver gave its error, or "". Drivers are not
// imported, so it goes by what their errors have:
//
//	SQLState() string      pgx, lib/pq
//	Number uint16          go-sql-driver/mysql
//	Code() integer         modernc.org/sqlite, ncruces/go-sqlite3
//	Code integer           mattn/go-sqlite3
func codeOf(err error) string {
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
			if codeOf(err) != "" {
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
