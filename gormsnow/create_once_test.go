package gormsnow_test

import (
	"database/sql/driver"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	mysqldriver "github.com/go-sql-driver/mysql"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

type (
	booking struct {
		ID     snow.ID
		Seat   *string `gorm:"uniqueIndex:seat_of_show"`
		Show   int64   `gorm:"uniqueIndex:seat_of_show"`
		Code   string  `gorm:"unique"`
		Folded string  `gorm:"uniqueIndex:folded,expression:lower(folded)"`
		Notes  string  `gorm:"-"`
		Plain  string  `gorm:"index"`
	}
	keyless struct{ Name string }
)

var errTaken = &mysqldriver.MySQLError{Number: 1062, Message: "text that nobody reads"}

// mockOnce is mock with patterns instead of statements: the names of savepoints are random.
func mockOnce(t *testing.T, cfg *gorm.Config) (*gorm.DB, sqlmock.Sqlmock) {
	t.Helper()
	conn, expect, err := sqlmock.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		expect.ExpectClose()
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if err := expect.ExpectationsWereMet(); err != nil {
			t.Error(err)
		}
	})
	cfg.Logger = logger.Discard
	db, err := gorm.Open(mysql.New(mysql.Config{Conn: conn, SkipInitializeWithVersion: true}), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(gormsnow.New(newSequence())); err != nil {
		t.Fatal(err)
	}
	return db, expect
}

const insertOrder = "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)"

func exactly(statement string) string { return "^" + regexp.QuoteMeta(statement) + "$" }

func TestCreateOnceStatements(t *testing.T) {
	t.Parallel()
	byID := exactly("SELECT * FROM `orders` WHERE `orders`.`id` = ? LIMIT ?")
	for name, tt := range map[string]struct {
		expect  func(m sqlmock.Sqlmock)
		call    func(db *gorm.DB, row *Order) (bool, error)
		created bool
		err     error
		buyer   string
	}{
		"created": {
			expect: func(m sqlmock.Sqlmock) {
				m.ExpectBegin()
				m.ExpectExec(exactly(insertOrder)).WithArgs(1001, "ann").WillReturnResult(sqlmock.NewResult(0, 1))
				m.ExpectCommit()
			},
			created: true, buyer: "ann",
		},
		"stored": {
			expect: func(m sqlmock.Sqlmock) {
				m.ExpectBegin()
				m.ExpectExec(exactly(insertOrder)).WithArgs(1001, "ann").WillReturnError(errTaken)
				m.ExpectRollback()
				m.ExpectBegin()
				m.ExpectQuery(byID).WithArgs(1001, 2).WillReturnRows(sqlmock.NewRows([]string{"id", "buyer"}).AddRow(1001, "bob"))
				m.ExpectCommit()
			},
			buyer: "bob",
		},
		"stored, in a transaction": {
			expect: func(m sqlmock.Sqlmock) {
				m.ExpectBegin()
				m.ExpectExec("^SAVEPOINT").WillReturnResult(driver.ResultNoRows)
				m.ExpectExec(exactly(insertOrder)).WithArgs(1001, "ann").WillReturnError(errTaken)
				m.ExpectExec("^ROLLBACK TO SAVEPOINT").WillReturnResult(driver.ResultNoRows)
				m.ExpectExec("^SAVEPOINT").WillReturnResult(driver.ResultNoRows)
				m.ExpectQuery(exactly("SELECT * FROM `orders` WHERE `orders`.`id` = ? LIMIT ? FOR SHARE")).WithArgs(1001, 2).
					WillReturnRows(sqlmock.NewRows([]string{"id", "buyer"}).AddRow(1001, "bob"))
				m.ExpectCommit()
			},
			call: func(db *gorm.DB, row *Order) (created bool, err error) {
				err = db.Transaction(func(tx *gorm.DB) error {
					created, err = gormsnow.CreateOnce(tx, row)
					return err
				})
				return created, err
			},
			buyer: "bob",
		},
		"stored, but not there any more": {
			expect: func(m sqlmock.Sqlmock) {
				m.ExpectBegin()
				m.ExpectExec(exactly(insertOrder)).WillReturnError(errTaken)
				m.ExpectRollback()
				m.ExpectBegin()
				m.ExpectQuery(byID).WillReturnRows(sqlmock.NewRows([]string{"id", "buyer"}))
				m.ExpectQuery(byID).WillReturnRows(sqlmock.NewRows([]string{"id", "buyer"}))
				m.ExpectCommit()
			},
			err: gorm.ErrDuplicatedKey, buyer: "ann",
		},
		"stored twice": {
			expect: func(m sqlmock.Sqlmock) {
				m.ExpectBegin()
				m.ExpectExec(exactly(insertOrder)).WillReturnError(errTaken)
				m.ExpectRollback()
				m.ExpectBegin()
				m.ExpectQuery(byID).WillReturnRows(sqlmock.NewRows([]string{"id", "buyer"}).AddRow(1001, "bob").AddRow(1001, "cid"))
				m.ExpectRollback()
			},
			err: errTaken, buyer: "ann",
		},
		"refused otherwise": {
			expect: func(m sqlmock.Sqlmock) {
				m.ExpectBegin()
				m.ExpectExec(exactly(insertOrder)).WillReturnError(&mysqldriver.MySQLError{Number: 1205, Message: "Duplicate entry"})
				m.ExpectRollback()
			},
			err: &mysqldriver.MySQLError{Number: 1205}, buyer: "ann",
		},
		"no reply to the commit": {
			expect: func(m sqlmock.Sqlmock) {
				m.ExpectBegin()
				m.ExpectExec(exactly(insertOrder)).WillReturnResult(sqlmock.NewResult(0, 1))
				m.ExpectCommit().WillReturnError(io.ErrUnexpectedEOF)
			},
			err: io.ErrUnexpectedEOF, buyer: "ann",
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, expect := mockOnce(t, &gorm.Config{})
			tt.expect(expect)
			row := Order{Buyer: "ann"}
			call := tt.call
			if call == nil {
				call = func(db *gorm.DB, row *Order) (bool, error) { return gormsnow.CreateOnce(db, row) }
			}
			created, err := call(db, &row)
			if created != tt.created || !errors.Is(err, tt.err) {
				t.Errorf("CreateOnce = %t, %v; want %t, %v", created, err, tt.created, tt.err)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "gormsnow: create once: ") {
				t.Errorf("error %q has no prefix", err)
			}
			if row.ID != 1001 || row.Buyer != tt.buyer {
				t.Errorf("row = %+v, want that of %s", row, tt.buyer)
			}
		})
	}
}

// If it is unknown whether a row was inserted, the transaction is rolled back.
func TestCreateOnceDoubts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		clauses []clause.Expression
		rows    int64
	}{
		"no row":             {nil, 0},
		"two rows":           {nil, 2},
		"an on conflict":     {[]clause.Expression{clause.OnConflict{DoNothing: true}}, 1},
		"an insert modifier": {[]clause.Expression{clause.Insert{Modifier: "IGNORE"}}, 0},
	} {
		db, expect := mockOnce(t, &gorm.Config{})
		expect.ExpectBegin()
		expect.ExpectExec("^INSERT .*INTO `orders`").WillReturnResult(sqlmock.NewResult(0, tt.rows))
		expect.ExpectRollback()
		if created, err := gormsnow.CreateOnce(db.Clauses(tt.clauses...), &Order{ID: 7}); created || err == nil {
			t.Errorf("%s: %t, %v; want an error", name, created, err)
		}
	}
}

func TestCreateOnceRefuses(t *testing.T) {
	t.Parallel()
	seat := "A1"
	field := func(model, name string) func(error) bool {
		return func(err error) bool {
			var e *gormsnow.FieldError
			return errors.As(err, &e) && e.Model == "gormsnow_test."+model && e.Field == name
		}
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	for name, tt := range map[string]struct {
		call func(db *gorm.DB) (bool, error)
		want func(error) bool
	}{
		"no row":         {func(db *gorm.DB) (bool, error) { return gormsnow.CreateOnce[Order](db, nil) }, is(gorm.ErrInvalidValue)},
		"rows":           {func(db *gorm.DB) (bool, error) { return gormsnow.CreateOnce(db, &[]Order{{}}) }, is(gorm.ErrInvalidValue)},
		"a map":          {func(db *gorm.DB) (bool, error) { return gormsnow.CreateOnce(db, &map[string]any{}) }, is(gorm.ErrInvalidValue)},
		"a pointer":      {func(db *gorm.DB) (bool, error) { o := &Order{}; return gormsnow.CreateOnce(db, &o) }, is(gorm.ErrInvalidValue)},
		"no primary key": {func(db *gorm.DB) (bool, error) { return gormsnow.CreateOnce(db, &keyless{}) }, field("keyless", "ID")},
		"no such column": {func(db *gorm.DB) (bool, error) { return gormsnow.CreateOnce(db, &booking{}, "code", "row") }, field("booking", "row")},
		"no column":      {func(db *gorm.DB) (bool, error) { return gormsnow.CreateOnce(db, &booking{}, "Notes") }, field("booking", "Notes")},
		"not unique":     {func(db *gorm.DB) (bool, error) { return gormsnow.CreateOnce(db, &booking{}, "Plain") }, field("booking", "Plain")},
		"half an index":  {func(db *gorm.DB) (bool, error) { return gormsnow.CreateOnce(db, &booking{Seat: &seat}, "Seat") }, field("booking", "Seat")},
		"an expression":  {func(db *gorm.DB) (bool, error) { return gormsnow.CreateOnce(db, &booking{}, "Folded") }, field("booking", "Folded")},
		"a dry run": {
			func(*gorm.DB) (bool, error) { return gormsnow.CreateOnce(dry(t, newSequence()), &Order{}) },
			is(gorm.ErrDryRunModeUnsupported),
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := mockOnce(t, &gorm.Config{}) // and no statement
			if created, err := tt.call(db); created || err == nil || !tt.want(err) {
				t.Errorf("CreateOnce = %t, %v", created, err)
			}
		})
	}
	t.Run("NULL", func(t *testing.T) {
		db, expect := mockOnce(t, &gorm.Config{})
		expect.ExpectBegin()
		expect.ExpectExec("^INSERT INTO `bookings`").WillReturnResult(sqlmock.NewResult(0, 1))
		expect.ExpectRollback()
		created, err := gormsnow.CreateOnce(db, &booking{}, "Seat", "Show")
		if created || !field("booking", "Seat")(err) {
			t.Errorf("CreateOnce = %t, %v", created, err)
		}
	})
	t.Run("a whole index", func(t *testing.T) {
		db, expect := mockOnce(t, &gorm.Config{})
		expect.ExpectBegin()
		expect.ExpectExec("^INSERT INTO `bookings`").WillReturnResult(sqlmock.NewResult(0, 1))
		expect.ExpectCommit()
		created, err := gormsnow.CreateOnce(db, &booking{Seat: &seat}, "show", "seat", "Plain")
		if !created || err != nil {
			t.Errorf("CreateOnce = %t, %v", created, err)
		}
	})
}
