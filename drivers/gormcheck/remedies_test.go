//go:build unix

package gormcheck_test

import (
	"errors"
	"testing"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// An odd has names that SQL knows as words, and that PostgreSQL would fold.
type odd struct {
	ID snow.ID `gorm:"column:Key;primaryKey"`
}

func (odd) TableName() string { return "order" }

// A remedy that is a statement can be executed as it is.
func TestRemedyOfOddNames(t *testing.T) {
	for product, columns := range map[string][]string{
		"mariadb":  {"`Key` INT AUTO_INCREMENT PRIMARY KEY", "`Key` BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY"},
		"postgres": {`"Key" BIGSERIAL PRIMARY KEY`, `"Key" BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY`},
	} {
		t.Run(product, func(t *testing.T) {
			t.Parallel()
			db := newDatabase(t, product).open(t, gorm.Config{})
			for _, column := range columns {
				execute(t, db, "CREATE TABLE "+db.Statement.Quote("order")+" ("+column+")")
				for _, found := range gormsnow.Check(db, &odd{}).(interface{ Unwrap() []error }).Unwrap() {
					var finding *gormsnow.CheckError
					if !errors.As(found, &finding) {
						t.Fatal(found)
					}
					if finding.Remedy != "change its type to bigint" { // which the other remedy does
						execute(t, db, finding.Remedy)
					}
				}
				if err := gormsnow.Check(db, &odd{}); err != nil {
					t.Errorf("%s: %v", column, err)
				}
				execute(t, db, "DROP TABLE "+db.Statement.Quote("order"))
			}
		})
	}
}
