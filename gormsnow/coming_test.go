//go:build unix

package gormsnow_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/gormtest"
)

// A shop before and after the change to snow keys, and two tables that are created after it.
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
		gormsnow.Model
		Name string
	}
	loan struct {
		gormsnow.Model
		MemberID snow.ID
		Member   member
	}
	fine struct {
		gormsnow.Model
		MemberID snow.ID
		Member   member
	}
	fineBefore struct { // only the new table has new keys
		gormsnow.Model
		MemberID snow.ID
		Member   memberBefore
	}
	club struct {
		gormsnow.SoftModel
		Members []member `gorm:"many2many:club_members"`
	}
)

func (memberBefore) TableName() string { return "members" }
func (loanBefore) TableName() string   { return "loans" }
func (fineBefore) TableName() string   { return "fine_befores" }

// Keys become signed by hand, with the programs stopped. Check says what AutoMigrate would stumble over. The steps of
// docs/coming-from-gorm-model.md are in drivers/convert.
func TestKeysBecomeSigned(t *testing.T) {
	t.Parallel()
	server := dbtest.MariaDB(t)
	open := func(dsn string) *gorm.DB {
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
	dsn := server.DSN(server.CreateDatabase(t))
	before := loanBefore{Member: memberBefore{Name: "ann"}}
	old := open(dsn)
	if err := errors.Join(old.AutoMigrate(&loanBefore{}), old.Create(&before).Error); err != nil {
		t.Fatal(err)
	}
	db := open(dsn)
	if err := db.Use(gormsnow.New(gormtest.NewGenerator(t))); err != nil {
		t.Fatal(err)
	}
	// If the model of the old table has not changed, foreign keys to it have the old type.
	if err := db.AutoMigrate(&fineBefore{}); err != nil {
		t.Errorf("a new table with an old model: %v", err)
	}
	models := []any{&member{}, &loan{}, &fine{}, &club{}}

	// Without the steps the migration fails, and Check has said so.
	signed := func(db *gorm.DB) (found []string) {
		err := gormsnow.Check(db, models...)
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok {
			return nil
		}
		for _, err := range joined.Unwrap() {
			var finding *gormsnow.CheckError
			if errors.As(err, &finding) && strings.Contains(finding.Problem, "3780") {
				found = append(found, finding.Field+" "+finding.Column)
			}
		}
		return found
	}
	if got, want := signed(db), []string{"Member members.id", "Members members.id"}; !slices.Equal(got, want) {
		t.Errorf("Check finds %q, want %q", got, want)
	}
	if got := signed(db.Session(&gorm.Session{}).Set("x", 1)); len(got) != 2 {
		t.Errorf("again: %q", got)
	}
	for _, off := range []gorm.Config{{DisableForeignKeyConstraintWhenMigrating: true}, {IgnoreRelationshipsWhenMigrating: true}} {
		off.Logger = logger.Discard
		without, err := gorm.Open(mysql.New(mysql.Config{Conn: db.ConnPool}), &off)
		if err != nil {
			t.Fatal(err)
		}
		if got := signed(without); len(got) != 0 {
			t.Errorf("without constraints: %q, want nothing", got)
		}
	}
	if err := db.AutoMigrate(&fine{}); err == nil {
		t.Error("AutoMigrate does not fail: drop what is said of it")
	}

	for _, statement := range []string{
		"ALTER TABLE fine_befores DROP FOREIGN KEY fk_fine_befores_member",
		"ALTER TABLE loans DROP FOREIGN KEY fk_loans_member",
		"ALTER TABLE members MODIFY id BIGINT NOT NULL",
		"ALTER TABLE loans MODIFY id BIGINT NOT NULL, MODIFY member_id BIGINT",
	} {
		if err := db.Exec(statement).Error; err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := db.AutoMigrate(models...); err != nil {
		t.Fatal(err)
	}
	if err := gormsnow.Check(db, models...); err != nil {
		t.Error(err)
	}
	row := fine{Member: member{Name: "bob"}}
	if err := db.Create(&row).Error; err != nil {
		t.Fatal(err)
	}
	var stored loan
	if err := db.Preload("Member").First(&stored, before.ID).Error; err != nil || stored.Member.Name != "ann" || row.ID <= stored.ID {
		t.Errorf("the old loan is %+v, %v, the new fine %d", stored, err, row.ID)
	}
	for _, constraint := range []struct{ table, name string }{{"loans", "fk_loans_member"}, {"fines", "fk_fines_member"}} {
		if !db.Migrator().HasConstraint(constraint.table, constraint.name) {
			t.Errorf("%s has no foreign key %s", constraint.table, constraint.name)
		}
	}
}
