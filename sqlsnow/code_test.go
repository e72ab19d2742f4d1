package sqlsnow

import (
	"database/sql/driver"
	"errors"
	"testing"
)

// Errors of the shapes that drivers have.
type (
	numbered struct{ Number uint16 } // go-sql-driver/mysql
	stated   struct{ state string }  // pgx, lib/pq
	coded    struct{ code int }      // modernc
)

func (*numbered) Error() string    { return "numbered" }
func (*stated) Error() string      { return "stated" }
func (s *stated) SQLState() string { return s.state }
func (*coded) Error() string       { return "coded" }
func (c *coded) Code() int         { return c.code }

func TestStandbys(t *testing.T) {
	for names, want := range map[string]int{
		"a": 1, "a, b": 1, "*": 1, "FIRST 2 (a, b, c)": 2, "first 2(a, b)": 2, "ANY 3 (*)": 3, "2 (a, b)": 2, "(a)": 1, "ANY 0 (a)": 1,
	} {
		if got := standbys(names); got != want {
			t.Errorf("%q: got %d standbys, want %d", names, got, want)
		}
	}
}

func TestClasses(t *testing.T) {
	for _, test := range []struct {
		dialect Dialect
		err     error
		want    error // nil for none of them
		busy    bool
	}{
		{MySQL, &numbered{1146}, ErrNotMigrated, false},
		{MySQL, &numbered{1290}, ErrReadOnly, false},
		{MySQL, &numbered{1213}, nil, true},
		{MySQL, &numbered{1020}, nil, true},
		{MySQL, &numbered{1045}, nil, false},
		{MySQL, &numbered{1047}, nil, false},
		{MySQL, &numbered{1180}, nil, false},
		{MySQL, &numbered{1568}, ErrInTransaction, false},
		{Postgres, &stated{"25P02"}, ErrInTransaction, false},
		{Postgres, &stated{"42P05"}, nil, false},
		{Postgres, &stated{"42P01"}, ErrNotMigrated, false},
		{Postgres, &stated{"25006"}, ErrReadOnly, false},
		{Postgres, &stated{"40001"}, nil, true},
		{Postgres, &stated{"28P01"}, nil, false},
		{SQLite, &coded{8 | 3<<8}, ErrReadOnly, false},
		{SQLite, &coded{5}, nil, true},
		{SQLite, &coded{261}, nil, true},
		{SQLite, &coded{1}, nil, false},
		{SQLite, driver.ErrBadConn, nil, false},
	} {
		e, err := engineOf(test.dialect)
		if err != nil {
			t.Fatal(err)
		}
		got := e.database("renew", test.err)
		var failed *DatabaseError
		if !errors.As(got, &failed) || failed.Op != "renew" || !errors.Is(got, test.err) {
			t.Errorf("%v, %v: %v is no DatabaseError", test.dialect, test.err, got)
		}
		for _, sentinel := range []error{ErrNotMigrated, ErrReadOnly, ErrInTransaction} {
			if is, want := errors.Is(got, sentinel), test.want != nil && errors.Is(test.want, sentinel); is != want {
				t.Errorf("%v, code %s: %v is %v: %t", test.dialect, failed.Code, got, sentinel, is)
			}
		}
		if busy := e.isBusy(got); busy != test.busy {
			t.Errorf("%v, code %s: busy %t", test.dialect, failed.Code, busy)
		}
	}
}
