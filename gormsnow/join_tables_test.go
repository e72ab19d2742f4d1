package gormsnow_test

import (
	"slices"
	"testing"

	"gorm.io/gorm"
)

func TestJoinTablesGetNoKeys(t *testing.T) {
	t.Parallel()
	src := newSequence()
	db := dry(t, src)
	var tables []string
	if err := db.Callback().Create().Before("gorm:save_after_associations").Register("record", func(tx *gorm.DB) {
		tables = append(tables, tx.Statement.Table)
	}); err != nil {
		t.Fatal(err)
	}
	student := Student{Courses: []Course{{Title: "maths"}, {Title: "latin"}}}
	if err := db.Create(&student).Error; err != nil {
		t.Fatal(err)
	}
	if student.ID != 1001 || student.Courses[0].ID != 1002 || student.Courses[1].ID != 1003 || src.last != 1003 {
		t.Errorf("student %d, courses %d and %d, last id %d; want 1001, 1002, 1003, 1003",
			student.ID, student.Courses[0].ID, student.Courses[1].ID, src.last)
	}
	if want := []string{"students", "courses", "enrolments"}; !slices.Equal(tables, want) {
		t.Errorf("inserted into %q, want %q", tables, want)
	}
}

func TestCustomJoinTableGetsItsKey(t *testing.T) {
	t.Parallel()
	db := dry(t, newSequence())
	if err := db.SetupJoinTable(&Student{}, "Courses", &Enrolment{}); err != nil {
		t.Fatal(err)
	}
	var rows []Enrolment
	if err := db.Callback().Create().Before("gorm:save_after_associations").Register("record", func(tx *gorm.DB) {
		if joins, ok := tx.Statement.Dest.([]*Enrolment); ok {
			for _, row := range joins {
				rows = append(rows, *row)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	student := Student{ID: 1, Courses: []Course{{Base: Base{ID: 2}}, {Base: Base{ID: 3}}}}
	if err := db.Create(&student).Error; err != nil {
		t.Fatal(err)
	}
	if want := []Enrolment{{1001, 1, 2}, {1002, 1, 3}}; !slices.Equal(rows, want) {
		t.Errorf("join rows %v, want %v", rows, want)
	}
}

func TestForeignKeysAreLeftToTheirAssociation(t *testing.T) {
	t.Parallel()
	src := newSequence()
	db := dry(t, src)
	profile := Profile{User: &User{}}
	if err := db.Create(&profile).Error; err != nil || profile.UserID != 1001 {
		t.Errorf("with an association: user %d, %v; want 1001", profile.UserID, err)
	}
	profile = Profile{UserID: 7}
	if err := db.Create(&profile).Error; err != nil || profile.UserID != 7 {
		t.Errorf("with its own value: user %d, %v; want 7", profile.UserID, err)
	}
	wantFieldError(t, db.Create(&Profile{}), "gormsnow_test.Profile", "UserID", "foreign key")
	wantFieldError(t, db.Model(&Profile{}).Create(map[string]any{}), "gormsnow_test.Profile", "UserID", "foreign key")

	account := Account{}
	wantFieldError(t, db.Create(&account), "gormsnow_test.Account", "ID", "foreign key")
	account.User.ID = 9
	if err := db.Create(&account).Error; err != nil || account.ID != 9 {
		t.Errorf("embedded Model: account %d, %v; want 9", account.ID, err)
	}
	if src.last != 1001 {
		t.Errorf("last id %d, want 1001", src.last)
	}

	owner := Owner{Card: User{}}
	if err := db.Select("*", "Card").Create(&owner).Error; err != nil || owner.ID != 1002 {
		t.Errorf("owner %d, %v; want 1002", owner.ID, err)
	}
}
