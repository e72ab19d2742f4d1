package gormtest

import (
	"errors"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// associations inserts rows together with associated rows that are already
// stored, which a unique column shows: GORM inserts these with ON CONFLICT DO
// NOTHING.
func (s *suite) associations(t *testing.T) {
	create := func(t *testing.T, row any) {
		t.Helper()
		if err := s.db.Create(row).Error; err != nil {
			t.Fatal(err)
		}
	}
	create(t, &Company{Name: "acme"})
	create(t, &Badge{Label: "gold"})
	create(t, &Login{Name: "root"})
	create(t, &Secret{Word: "hidden"})
	acme, gold, root := id(t, s.db, "companies", "name", "acme"), id(t, s.db, "badges", "label", "gold"), id(t, s.db, "logins", "name", "root")
	want := func(t *testing.T, what string, got, want snow.ID) {
		t.Helper()
		if got != want {
			t.Errorf("%s %d, want %d", what, got, want)
		}
	}

	t.Run("belongs to", func(t *testing.T) {
		e := Employee{Company: &Company{Name: "acme"}}
		create(t, &e)
		want(t, "company of the struct", e.CompanyID, acme)
		want(t, "its id", e.Company.ID, acme)
		var stored Employee
		if err := s.db.First(&stored, e.ID).Error; err != nil {
			t.Fatal(err)
		}
		want(t, "company of the row", stored.CompanyID, acme)
	})
	t.Run("belongs to, slice", func(t *testing.T) {
		e := []Employee{{Company: &Company{Name: "acme"}}, {Company: &Company{Name: "new inc"}}, {Company: &Company{Name: "new inc"}}, {Company: &Company{Name: "acme"}}}
		create(t, &e)
		fresh := id(t, s.db, "companies", "name", "new inc")
		for i, company := range []snow.ID{acme, fresh, fresh, acme} {
			want(t, "company", e[i].CompanyID, company)
			want(t, "its id", e[i].Company.ID, company)
		}
	})
	t.Run("belongs to, as the primary key", func(t *testing.T) {
		p := Profile{User: &Login{Name: "root"}}
		create(t, &p)
		want(t, "user", p.UserID, root)
	})
	t.Run("many to many", func(t *testing.T) {
		c := Company{Name: "with badges", Badges: []Badge{{Label: "silver"}, {Label: "gold"}}}
		create(t, &c)
		want(t, "badge", c.Badges[1].ID, gold)
		if n := count(t, s.db, "company_badges", "badge_id", gold, c.Badges[0].ID); n != 2 {
			t.Errorf("%d join rows, want 2", n)
		}
	})
	t.Run("has many", func(t *testing.T) {
		email := "ann@example.com"
		first := Employee{Email: &email}
		create(t, &first)
		c := Company{Name: "hires ann", Staff: []Employee{{Email: &email}}}
		// If only the key is a conflict target, a second row for the address is an error.
		if err := s.db.Create(&c).Error; err == nil {
			want(t, "employee", c.Staff[0].ID, first.ID)
			want(t, "company", id(t, s.db, "employees", "company_id", c.ID), first.ID)
		} else if s.db.Name() == "mysql" {
			t.Error(err)
		}
	})
	t.Run("has many, some of which exist", func(t *testing.T) {
		if s.db.Name() != "mysql" {
			return // an error, as above
		}
		twice, stored := "twice@example.com", "stored@example.com"
		first := Employee{Email: &stored}
		create(t, &first)
		// MySQL counts one for the first, nothing for the second and two for the third: as many as there are rows.
		c := Company{Name: "hires three", Staff: []Employee{{Email: &twice}, {Email: &twice}, {Email: &stored}}}
		create(t, &c)
		for i, email := range []string{twice, twice, stored} {
			want(t, "employee", c.Staff[i].ID, id(t, s.db, "employees", "email", email))
		}
	})
	t.Run("a unique column that the model does not declare", func(t *testing.T) {
		k := Keeper{Secret: &Secret{Word: "hidden"}, Shared: []Secret{{Word: "shared"}}}
		create(t, &k)
		want(t, "secret", k.SecretID, 0)
		want(t, "its id", k.Secret.ID, 0)
		want(t, "shared secret", k.Shared[0].ID, id(t, s.db, "secrets", "word", "shared"))
	})
	t.Run("the same in a join table", func(t *testing.T) {
		var field *gormsnow.FieldError
		k := Keeper{Shared: []Secret{{Word: "hidden"}}}
		if err := s.db.Create(&k).Error; !errors.As(err, &field) || field.Field != "SecretID" || field.Model != "many2many:keeper_secrets" {
			t.Errorf("error %v, want a *FieldError for SecretID of keeper_secrets", err)
		}
		if n := count(t, s.db, "keepers", "id", k.ID); n != 0 {
			t.Errorf("%d keepers are stored all the same", n)
		}
	})
	t.Run("the same in a join table whose keys are tagged", func(t *testing.T) {
		if err := s.db.Exec("CREATE UNIQUE INDEX album_titles ON albums (title)").Error; err != nil {
			t.Fatal(err)
		}
		create(t, &Album{Title: "known"})
		var field *gormsnow.FieldError
		fan := Fan{Albums: []Album{{Title: "known"}}}
		if err := s.db.Create(&fan).Error; !errors.As(err, &field) || field.Field != "AlbumID" {
			t.Errorf("error %v, want a *FieldError for AlbumID", err)
		}
		if n := count(t, s.db, "fans", "id", fan.ID); n != 0 {
			t.Errorf("%d fans are stored all the same", n)
		}
	})
	t.Run("association mode", func(t *testing.T) {
		c := Company{Name: "appends"}
		create(t, &c)
		badge := Badge{Label: "gold"}
		if err := s.db.Model(&c).Association("Badges").Append(&badge); err != nil {
			t.Fatal(err)
		}
		want(t, "badge", badge.ID, gold)
	})
	t.Run("children of a row that exists", func(t *testing.T) {
		c := Company{Name: "acme", Staff: []Employee{{}}}
		if err := s.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&c).Error; err != nil {
			t.Fatal(err)
		}
		want(t, "company", c.Staff[0].CompanyID, acme)
	})
	t.Run("no row points to none", func(t *testing.T) {
		for _, fk := range [][3]string{
			{"employees", "company_id", "companies"},
			{"company_badges", "badge_id", "badges"},
			{"company_badges", "company_id", "companies"},
			{"keepers", "secret_id", "secrets"},
			{"keeper_secrets", "secret_id", "secrets"},
			{"profiles", "user_id", "logins"},
		} {
			var n int
			err := s.db.Raw("SELECT COUNT(*) FROM ? AS o WHERE o.? <> 0 AND NOT EXISTS (SELECT 1 FROM ? AS r WHERE r.id = o.?)",
				clause.Table{Name: fk[0]}, clause.Column{Name: fk[1]}, clause.Table{Name: fk[2]}, clause.Column{Name: fk[1]}).Scan(&n).Error
			if err != nil || n != 0 {
				t.Errorf("%d rows of %s have a %s that refers to no row (%v)", n, fk[0], fk[1], err)
			}
		}
	})
	t.Run("full save", func(t *testing.T) {
		c := Company{Name: "saved in full", Badges: []Badge{{Label: "gold", Base: Base{ID: gold}}, {Label: "bronze"}}}
		if err := s.db.Session(&gorm.Session{FullSaveAssociations: true}).Create(&c).Error; err != nil {
			t.Fatal(err)
		}
		want(t, "badge", c.Badges[0].ID, gold)
		want(t, "badge", c.Badges[1].ID, id(t, s.db, "badges", "label", "bronze"))
	})
}
