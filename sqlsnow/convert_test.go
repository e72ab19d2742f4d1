package sqlsnow

import (
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/shardsnow/snow/internal/dbserver"
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

var errTransaction = errors.New("in a transaction")

func TestDatabaseErrors(t *testing.T) {
	for _, test := range []struct {
		dialect Dialect
		err     error
		want    error // nil for none of them; errTransaction for one with InTransaction
		busy    bool
	}{
		{MySQL, &numbered{1146}, ErrNotMigrated, false},
		{MySQL, &numbered{1290}, ErrReadOnly, false},
		{MySQL, &numbered{1213}, nil, true},
		{MySQL, &numbered{1020}, nil, true},
		{MySQL, &numbered{1045}, nil, false},
		{MySQL, &numbered{1047}, nil, false},
		{MySQL, &numbered{1180}, nil, false},
		{MySQL, &numbered{1568}, errTransaction, false},
		{Postgres, &stated{"25P02"}, errTransaction, false},
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
		e, err := dbserver.For(test.dialect)
		if err != nil {
			t.Fatal(err)
		}
		got := exported(e, "renew", test.err)
		var failed *DatabaseError
		if !errors.As(got, &failed) || failed.Op != "renew" || !errors.Is(got, test.err) {
			t.Errorf("%v, %v: %v is no DatabaseError", test.dialect, test.err, got)
		}
		if want := errors.Is(test.want, errTransaction); failed.InTransaction != want || failed.BadReply {
			t.Errorf("%v, code %s: %+v, want InTransaction %t", test.dialect, failed.Code, failed, want)
		}
		for _, sentinel := range []error{ErrNotMigrated, ErrReadOnly} {
			if is, want := errors.Is(got, sentinel), test.want != nil && errors.Is(test.want, sentinel); is != want {
				t.Errorf("%v, code %s: %v is %v: %t", test.dialect, failed.Code, got, sentinel, is)
			}
		}
		if busy := e.IsBusy(got); busy != test.busy {
			t.Errorf("%v, code %s: busy %t", test.dialect, failed.Code, busy)
		}
	}
}
