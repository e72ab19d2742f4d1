package sqldialect

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"
)

// Errors of the shapes that drivers have.
type (
	numbered     struct{ Number uint16 } // go-sql-driver/mysql
	stated       struct{ state string }  // pgx, lib/pq
	coded        struct{ code int }      // modernc
	codedByValue struct{ Code int }      // mattn
	codeType     uint8
	typed        struct{ code codeType } // ncruces
	misleading   struct{ Code string }
)

func (*numbered) Error() string    { return "numbered" }
func (*stated) Error() string      { return "stated" }
func (s *stated) SQLState() string { return s.state }
func (*coded) Error() string       { return "coded" }
func (c *coded) Code() int         { return c.code }
func (codedByValue) Error() string { return "coded" }
func (*typed) Error() string       { return "typed" }
func (c *typed) Code() codeType    { return c.code }
func (misleading) Error() string   { return "misleading" }

func TestCode(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"mysql":         {&numbered{1146}, "1146"},
		"postgres":      {&stated{"42P01"}, "42P01"},
		"modernc":       {&coded{8}, "8"},
		"mattn":         {codedByValue{517}, "517"},
		"ncruces":       {&typed{5}, "5"},
		"wrapped":       {fmt.Errorf("a: %w", fmt.Errorf("b: %w", &numbered{1213})), "1213"},
		"joined":        {errors.Join(context.Canceled, &coded{6}), "6"},
		"nil in driver": {(*numbered)(nil), ""},
		"a text":        {misleading{"1146"}, ""},
		"none":          {driver.ErrBadConn, ""},
		"no error":      {nil, ""},
	} {
		if got := Code(test.err); got != test.want {
			t.Errorf("%s: code %q, want %q", name, got, test.want)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, test := range []struct {
		dialect Dialect
		err     error
		want    Class
	}{
		{MySQL, &numbered{1146}, NoTable},
		{MySQL, &numbered{1054}, NoColumn},
		{MySQL, &numbered{1290}, ReadOnly},
		{MySQL, &numbered{1213}, Busy},
		{MySQL, fmt.Errorf("wrapped: %w", &numbered{1020}), Busy},
		{MySQL, &numbered{1040}, TooManyConnections},
		{MySQL, &numbered{1142}, Denied},
		{MySQL, &numbered{1045}, Other},
		{MySQL, &numbered{1047}, NoQuorum},
		{MySQL, &numbered{1180}, NoQuorum},
		{MySQL, &numbered{1568}, InTransaction},
		{Postgres, &stated{"25P02"}, InTransaction},
		{Postgres, &stated{"42P05"}, StatementMismatch},
		{Postgres, &stated{"42P01"}, NoTable},
		{Postgres, &stated{"42703"}, NoColumn},
		{Postgres, &stated{"25006"}, ReadOnly},
		{Postgres, &stated{"40001"}, Busy},
		{Postgres, &stated{"53300"}, TooManyConnections},
		{Postgres, &stated{"42501"}, Denied},
		{Postgres, &stated{"28P01"}, Other},
		{SQLite, &coded{8 | 3<<8}, ReadOnly},
		{SQLite, &coded{5}, Busy},
		{SQLite, &coded{261}, Busy},
		{SQLite, &coded{1}, Other},
		{SQLite, driver.ErrBadConn, Other},
		{0, &numbered{1213}, Other},
	} {
		if got := test.dialect.Classify(test.err); got != test.want {
			t.Errorf("%v, code %s: class %d, want %d", test.dialect, Code(test.err), got, test.want)
		}
	}
}
