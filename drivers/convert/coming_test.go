package convert_test

import (
	"errors"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/convert"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// A library before and after the change to snow keys, and a table that comes with it.
type (
	memberBefore struct {
		gorm.Model
		Name string
	}
	loanBefore struct {
		gorm.Model
		MemberID uint
		Member   memberBefore
	}
	member struct {
		gormsnow.SoftModel
		Name string
	}
	loan struct {
		gormsnow.SoftModel
		MemberID snow.ID
		Member   member
	}
	fine struct {
		gormsnow.Model
		MemberID snow.ID
		Member   member
	}
)

func (memberBefore) TableName() string { return "members" }
func (loanBefore) TableName() string   { return "loans" }

// These are the steps of docs/coming-from-gorm-model.md.
func TestComingFromGormModel(t *testing.T) {
	t.Parallel()
	server := dbtest.MariaDB(t, trusting()...)
	dsn := server.DSN(server.CreateDatabase(t))
	open := func() *gorm.DB {
		db, err := gorm.Open(mysql.Open(dsn), &gorm.Config{Logger: logger.Discard})
		if err != nil {
			t.Fatal(err)
		}
		pool, err := db.DB()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := pool.Close(); err != nil {
				t.Error(err)
			}
		})
		return db
	}
	old, db := open(), open()
	first := loanBefore{Member: memberBefore{Name: "ann"}}
	if err := errors.Join(old.AutoMigrate(&loanBefore{}), old.Create(&first).Error); err != nil {
		t.Fatal(err)
	}
	worker, err := snow.Fixed(snow.DefaultLayout(), 1023)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(gormsnow.New(keys)); err != nil {
		t.Fatal(err)
	}
	models := []any{&member{}, &loan{}}
	var finding *gormsnow.CheckError
	if err := gormsnow.Check(db, models...); !errors.As(err, &finding) {
		t.Errorf("Check: %v, want that the database counts the keys", err)
	}

	// 1. The plan: the columns are wide already.
	pool, err := old.DB()
	if err != nil {
		t.Fatal(err)
	}
	p, err := convert.Inspect(t.Context(), sqlsnow.MySQL, pool, convert.InspectConfig{DeclaredOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range p.Tables {
		if len(each.Columns) > 0 {
			t.Errorf("%s: %d columns change, want none", each.Name, len(each.Columns))
		}
	}
	var gates []string
	run := func(back bool) string {
		t.Helper()
		c, err := convert.New(sqlsnow.MySQL, pool, p, convert.Config{Gates: gates, MaxBusy: -1})
		if err == nil {
			if err = c.Run(t.Context()); back {
				err = c.Back(t.Context())
			}
		}
		var gate *report.GateError
		if err != nil && !errors.As(err, &gate) {
			t.Fatal(err)
		}
		if gate == nil {
			return ""
		}
		return gate.Gate
	}

	// 2. Count, back, and again.
	for _, back := range []bool{true, false} {
		gates = nil
		for gate := run(false); gate != "finish"; gate = run(false) {
			if gate == "" {
				t.Fatal("there is no gate before finish")
			}
			gates = append(gates, gate)
		}
		if back {
			run(true)
		}
	}

	// 3. Programs of both kinds.
	fresh := loan{Member: member{Name: "bob"}}
	if err := db.Create(&fresh).Error; err != nil {
		t.Fatal(err)
	}
	second := loanBefore{MemberID: uint(fresh.MemberID)}
	if err := old.Omit("Member").Create(&second).Error; err != nil {
		t.Fatal(err)
	}
	if second.ID <= first.ID || second.ID > 1_000_000 || fresh.ID < 1<<40 {
		t.Errorf("old programs have the ids %d and %d, the new one %d", first.ID, second.ID, fresh.ID)
	}
	var stored loan
	if err := db.Preload("Member").First(&stored, second.ID).Error; err != nil || stored.Member.Name != "bob" {
		t.Errorf("the new program reads %+v, %v", stored, err)
	}

	// 4. Finish, Check and AutoMigrate.
	for gate := run(false); gate != ""; gate = run(false) {
		gates = append(gates, gate)
	}
	if err := gormsnow.Check(db, models...); err != nil {
		t.Error(err)
	}
	if err := db.AutoMigrate(models...); err != nil {
		t.Error(err)
	}
	err = db.Exec("CREATE TABLE fines (id BIGINT NOT NULL PRIMARY KEY, created_at DATETIME(3), updated_at DATETIME(3), deleted_at DATETIME(3), " +
		"member_id BIGINT UNSIGNED, CONSTRAINT fk_fines_member FOREIGN KEY (member_id) REFERENCES members (id))").Error
	if err := errors.Join(err, gormsnow.Check(db, &member{}, &loan{}, &fine{}), db.Create(&fine{Member: member{Name: "eve"}}).Error); err != nil {
		t.Error(err)
	}
	if err := old.Create(&loanBefore{Member: memberBefore{Name: "dan"}}).Error; err == nil {
		t.Error("an old program inserts rows after Finish, want an error")
	}
	for _, constraint := range []struct{ table, name string }{{"loans", "fk_loans_member"}, {"fines", "fk_fines_member"}} {
		if !db.Migrator().HasConstraint(constraint.table, constraint.name) {
			t.Errorf("%s has no foreign key %s", constraint.table, constraint.name)
		}
	}
}
