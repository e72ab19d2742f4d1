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
	t.Run("has many, and some exist", func(t *testing.T) {
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
	t.Run("one new struct, twice", func(t *testing.T) {
		full := s.db.Session(&gorm.Session{FullSaveAssociations: true})
		shared, boss := &Clerk{Name: "shared"}, &Clerk{Name: "boss"}
		desks := []Desk{{Owner: boss, Clerks: []*Clerk{shared, shared}}, {Owner: boss, Clerks: []*Clerk{shared}}}
		if err := full.Create(&desks).Error; err != nil {
			t.Fatal(err)
		}
		want(t, "clerk", shared.ID, id(t, s.db, "clerks", "name", "shared"))
		for _, d := range desks {
			want(t, "owner", *d.OwnerID, id(t, s.db, "clerks", "name", "boss"))
			column("desk_clerks", "desk_id", d.ID).check(t, s.db)
		}
		member := &Clerk{Name: "member"}
		create(t, &Desk{Members: []*Clerk{member, member}})
		want(t, "member", member.ID, id(t, s.db, "clerks", "name", "member"))
		saved := &Clerk{Name: "saved"}
		if err := s.db.Save([]*Clerk{saved, saved}).Error; err != nil {
			t.Fatal(err)
		}
		want(t, "saved", saved.ID, id(t, s.db, "clerks", "name", "saved"))
		// A plain insert has no row to update.
		if err := s.db.Create([]*Clerk{{Name: "a"}, saved, saved}).Error; !errors.Is(err, gorm.ErrDuplicatedKey) {
			t.Errorf("error %v, want %v", err, gorm.ErrDuplicatedKey)
		}
	})
	t.Run("what differs from a uint", func(t *testing.T) {
		var one snow.ID
		clerk := s.db.Model(&Clerk{}).Where("name = ?", "shared")
		if err := clerk.Session(&gorm.Session{}).Pluck("id", &one).Error; err == nil {
			t.Error("Pluck reads one id: docs/coming-from-gorm-model.md says that it does not")
		}
		err := clerk.Session(&gorm.Session{}).Select("id").Scan(&one).Error
		if err != nil || one != id(t, s.db, "clerks", "name", "shared") {
			t.Errorf("id %d, %v", one, err)
		}
		var row struct {
			ID    snow.ID
			Owner *Badge `gorm:"embedded;embeddedPrefix:owner_"`
		}
		err = s.db.Raw("SELECT d.id, c.id AS owner_id FROM desks d LEFT JOIN clerks c ON c.id = d.owner_id WHERE d.owner_id IS NULL").Scan(&row).Error
		if err != nil || row.ID == 0 || row.Owner == nil || !row.Owner.ID.IsZero() {
			t.Errorf("%+v, %v; want an owner without an id", row, err)
		}
		var desk Desk
		if err := s.db.Joins("Owner").Where("owner_id IS NULL").First(&desk).Error; err != nil || desk.Owner != nil {
			t.Errorf("%+v, %v; want no owner", desk, err)
		}
	})
}
