package gormtest

import (
	"fmt"
	"testing"

	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
)

// A replacing adds RETURNING * only when GORM builds the statement.
type replacing struct {
	ID   snow.ID
	Name string  `gorm:"size:40;uniqueIndex"`
	Back allBack `gorm:"size:9"`
}

// replaced inserts rows with RETURNING *: GORM writes the rows that come back to
// the start of the slice, over other rows. Structs of rows that did not come back
// must not keep ids that belong to no row.
func (s *suite) replaced(t *testing.T) {
	if err := s.db.AutoMigrate(&replacing{}); err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, batch := range map[string]int{"batches": 2, "one batch": 9, "odd batches": 3} {
		for _, pointers := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", pointers ", pointers), func(t *testing.T) {
				n++
				stored := Company{Name: fmt.Sprint("replaced ", n)}
				s.created(t, s.db.Create(&stored).Error)
				rows, list := make([]Company, 6), make([]*Company, 6)
				for i := range rows {
					rows[i].Name = fmt.Sprint("replaced ", n, " ", i)
					if i%2 == 1 {
						rows[i].Name = stored.Name
					}
					list[i] = &rows[i]
				}
				var dest any = &rows
				if pointers {
					dest = &list
				}
				if err := s.db.Clauses(clause.Returning{}, doNothing).CreateInBatches(dest, batch).Error; err != nil {
					t.Fatal(err)
				}
				for _, row := range rows {
					s.created(t, nil, row)
				}
				for _, row := range list {
					s.created(t, nil, *row)
				}
			})
		}
	}
	t.Run("asked for by a field", func(t *testing.T) {
		list := make([]*replacing, 3)
		for i := range list {
			list[i] = &replacing{Name: "one of them"}
		}
		rows := append([]*replacing(nil), list...)
		if err := s.db.Clauses(doNothing).Create(&list).Error; err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if want := id(t, s.db, "replacings", "name", "one of them"); row.ID != want {
				t.Errorf("row %d: id %d, want %d", i, row.ID, want)
			}
		}
	})
}

type allBack string

// CreateClauses implements [schema.CreateClausesInterface].
func (allBack) CreateClauses(*schema.Field) []clause.Interface {
	return []clause.Interface{clause.Returning{}}
}
