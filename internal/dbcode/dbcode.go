// Package dbcode tells errors of database drivers apart without importing them.
package dbcode

import (
	"errors"
	"fmt"
	"reflect"
)

// Of returns the code that a driver gave its error, or "". Drivers are not
// imported, so it goes by what their errors have:
//
//	SQLState() string      pgx, lib/pq
//	Number uint16          go-sql-driver/mysql
//	Code() integer         modernc.org/sqlite, ncruces/go-sqlite3
//	Code integer           mattn/go-sqlite3
func Of(err error) string {
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
			if Of(err) != "" {
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
