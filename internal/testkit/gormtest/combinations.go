package gormtest

import (
	"errors"
	"fmt"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// Models that combine features of GORM.
type (
	// An Account has a name that is unique among the accounts that are not
	// deleted, if the database has partial indexes.
	Account struct {
		gormsnow.Model
		Name  string  `gorm:"size:40;uniqueIndex:live_account,where:deleted_at IS NULL"`
		Token snow.ID `gorm:"snowflake"`
	}
	// A Branch refers to itself in three ways.
	Branch struct {
		ID       snow.ID
		Name     string `gorm:"size:40;uniqueIndex"`
		ParentID *snow.ID
		Parent   *Branch
		Twigs    []Branch `gorm:"foreignKey:ParentID"`
		Friends  []Branch `gorm:"many2many:branch_friends"`
	}
	// A Document counts its versions, has a column that the database fills, and
	// logs that it was created.
	Document struct {
		gormsnow.Model
		Title   string `gorm:"size:40;uniqueIndex"`
		Version Version
		Status  string         `gorm:"size:10;default:draft"`
		Labels  []string       `gorm:"serializer:json;size:100"`
		Logs    []DocumentLog  `gorm:"polymorphic:Subject"`
		Origin  DocumentOrigin `gorm:"embedded;embeddedPrefix:origin_"`
	}
	// A DocumentOrigin is unique if it has a page.
	DocumentOrigin struct {
		Site string `gorm:"size:20;uniqueIndex:document_origin"`
		Page *int   `gorm:"uniqueIndex:document_origin"`
	}
	// A DocumentLog has a polymorphic subject.
	DocumentLog struct {
		ID          snow.ID
		SubjectID   snow.ID
		SubjectType string `gorm:"size:20"`
		Line        string `gorm:"size:40;unique"`
	}
	// A Region has a composite key. The plugin fills one of its members.
	Region struct {
		Tenant int64   `gorm:"primaryKey;autoIncrement:false"`
		ID     snow.ID `gorm:"primaryKey;snowflake"`
		Name   string  `gorm:"size:40;uniqueIndex"`
	}
	// An Office refers to both.
	Office struct {
		Base
		RegionTenant int64
		RegionID     snow.ID
		Region       *Region `gorm:"foreignKey:RegionTenant,RegionID;references:Tenant,ID"`
	}
	// A Version is 1 in new rows, as with optimistic locking.
	Version int64

	versionOne struct{ field *schema.Field }
)

// CreateClauses implements [schema.CreateClausesInterface].
func (Version) CreateClauses(f *schema.Field) []clause.Interface {
	return []clause.Interface{versionOne{f}}
}

func (versionOne) Name() string                           { return "" }
func (versionOne) Build(clause.Builder)                   {}
func (versionOne) MergeClause(*clause.Clause)             {}
func (v versionOne) ModifyStatement(stmt *gorm.Statement) { stmt.SetColumn(v.field.DBName, 1, true) }

// BeforeCreate logs, in a statement of its own.
func (d *Document) BeforeCreate(tx *gorm.DB) error {
	return tx.Create(&DocumentLog{Line: "before " + d.ID.String(), SubjectID: d.ID}).Error
}

// AfterCreate logs once for each title.
func (d *Document) AfterCreate(tx *gorm.DB) error {
	nothing := tx.Session(&gorm.Session{NewDB: true}).Clauses(clause.OnConflict{DoNothing: true})
	return nothing.Create(&DocumentLog{Line: "after " + d.Title, SubjectID: d.ID}).Error
}

// combinations uses several of GORM's features at once.
func (s *suite) combinations(t *testing.T) {
	if err := s.db.AutoMigrate(&Account{}, &Branch{}, &Document{}, &DocumentLog{}, &Region{}, &Office{}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(*testing.T){
		"generics with a conflict":          s.generics,
		"one statement for several creates": s.reused,
		"a partial index":                   s.partialIndex,
		"self references":                   s.selfReferences,
		"hooks, versions and defaults":      s.documents,
		"all columns returned":              s.returned,
		"rows returned in place of rows":    s.replaced,
		"batches of upserts":                s.upsertBatches,
		"a table with its schema":           s.schemaTable,
		"savepoints":                        s.savepoints,
		"references to a composite key":     s.compositeReferences,
		"association mode, self reference":  s.associationMode,
		"association mode, delete":          s.associationDelete,
	} {
		t.Run(name, test)
	}
}

// created fails the test on an error, and if the row with a company's name has
// another id than the company.
func (s *suite) created(t *testing.T, err error, companies ...Company) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range companies {
		if want := id(t, s.db, "companies", "name", c.Name); c.ID != want {
			t.Errorf("%s: id %d, want %d", c.Name, c.ID, want)
		}
	}
}

// branch returns the id of a branch.
func (s *suite) branch(t *testing.T, name string) snow.ID {
	t.Helper()
	return id(t, s.db, "branches", "name", name)
}

var doNothing = clause.OnConflict{DoNothing: true}

func (s *suite) generics(t *testing.T) {
	one, many := Company{Name: "generic"}, []Company{{Name: "generic 1"}, {Name: "generic"}, {Name: "generic 2"}}
	s.created(t, gorm.G[Company](s.db, doNothing).Create(t.Context(), &one), one)
	again := Company{Name: "generic"}
	s.created(t, gorm.G[Company](s.db, doNothing, gorm.WithResult()).Create(t.Context(), &again), again)
	upsert := gorm.G[Company](s.db, on(clause.OnConflict{UpdateAll: true}, "name"))
	s.created(t, upsert.CreateInBatches(t.Context(), &many, 2), many...)
}

func (s *suite) reused(t *testing.T) {
	tx := s.db.Clauses(doNothing) // no session: each create goes on with the statement of the last
	a, b, c, many := Company{Name: "reused"}, Company{Name: "reused"}, Company{Name: "reused 1"}, []Company{{Name: "reused 2"}, {Name: "reused"}}
	s.created(t, errors.Join(tx.Create(&a).Error, tx.Create(&b).Error, tx.Create(&c).Error, tx.Create(&many).Error), append(many, a, b, c)...)
	tx = s.db.Select("Name")
	d, e, entry := Company{Name: "reused 3"}, Company{Name: "reused 4"}, map[string]any{"name": "reused 5"}
	s.created(t, errors.Join(tx.Create(&d).Error, tx.Create(&e).Error, tx.Create(entry).Error), d, e, Company{ID: entry["id"].(snow.ID), Name: "reused 5"})
}

func (s *suite) partialIndex(t *testing.T) {
	if s.db.Name() == "mysql" {
		t.Skip("MySQL has no partial indexes")
	}
	deleted, live := Account{Name: "a"}, Account{Name: "a"}
	if err := errors.Join(s.db.Create(&deleted).Error, s.db.Delete(&deleted).Error, s.db.Create(&live).Error); err != nil {
		t.Fatal(err)
	}
	target := on(clause.OnConflict{TargetWhere: clause.Where{Exprs: []clause.Expression{
		clause.Or(clause.Eq{Column: "deleted_at"}, clause.Expr{SQL: "1 = 0"}), clause.Expr{SQL: "deleted_at IS NULL"},
	}}}, "name")
	if s.db.Name() == "sqlite" { // which wants the words of the index
		target.TargetWhere.Exprs = target.TargetWhere.Exprs[1:]
	}
	update := target
	target.DoNothing, update.DoUpdates = true, clause.AssignmentColumns([]string{"updated_at"})
	for i, c := range []clause.OnConflict{doNothing, target, update} {
		one, many := Account{Name: "a"}, []Account{{Name: fmt.Sprint("a", i)}, {Name: "a"}}
		upsert := s.db.Clauses(c).Session(&gorm.Session{})
		if err := errors.Join(upsert.Create(&one).Error, upsert.Create(&many).Error); err != nil {
			t.Fatal(err)
		}
		for _, a := range []Account{one, many[1]} {
			if a.ID != live.ID || a.Token != live.Token {
				t.Errorf("%+v: keys %d and %d, want %d and %d", c, a.ID, a.Token, live.ID, live.Token)
			}
		}
		column("accounts", "id", live.ID, many[0].ID).check(t, s.db)
		column("accounts", "token", live.Token, many[0].Token).check(t, s.db)
	}
}

func (s *suite) selfReferences(t *testing.T) {
	root := Branch{
		Name:    "root",
		Twigs:   []Branch{{Name: "a", Twigs: []Branch{{Name: "aa"}}}, {Name: "b"}},
		Friends: []Branch{{Name: "f", Friends: []Branch{{Name: "a"}}}},
	}
	if err := s.db.Create(&root).Error; err != nil {
		t.Fatal(err)
	}
	a := s.branch(t, "a")
	if root.ID != s.branch(t, "root") || root.Twigs[0].ID != a || *root.Twigs[0].Twigs[0].ParentID != a || root.Friends[0].Friends[0].ID != a {
		t.Errorf("%+v, want %d as the id of a", root, a)
	}
	column("branch_friends", "friend_id", a, root.Friends[0].ID).check(t, s.db)
	shared := &Branch{Name: "shared"}
	leaves := []*Branch{
		{Name: "l1", Parent: shared},
		{Name: "l2", Parent: shared},
		{Name: "l3", Parent: &Branch{Name: "shared"}},
		{Name: "l4", Parent: &Branch{Name: "new", Parent: &Branch{Name: "root"}}},
	}
	if err := s.db.Create(leaves).Error; err != nil {
		t.Fatal(err)
	}
	for _, leaf := range leaves {
		if want := s.branch(t, leaf.Parent.Name); *leaf.ParentID != want || leaf.Parent.ID != want {
			t.Errorf("%s: parent %d, %d, want %d", leaf.Name, *leaf.ParentID, leaf.Parent.ID, want)
		}
	}
	if got := *leaves[3].Parent.ParentID; got != root.ID {
		t.Errorf("parent %d, want %d", got, root.ID)
	}
}

func (s *suite) documents(t *testing.T) {
	page := 3
	stored := []Document{
		{Title: "one", Labels: []string{"x"}, Origin: DocumentOrigin{"site", &page}},
		{Title: "two", Logs: []DocumentLog{{Line: "first"}, {Line: "second"}}},
	}
	if err := s.db.Create(&stored).Error; err != nil {
		t.Fatal(err)
	}
	column("documents", "id", stored[0].ID, stored[1].ID).check(t, s.db)
	column("document_logs", "id", stored[1].Logs[0].ID, stored[1].Logs[1].ID).check(t, s.db)
	column("document_logs", "line", "before "+stored[0].ID.String(), "before "+stored[1].ID.String(), "after one", "after two").check(t, s.db)
	for i, c := range []clause.OnConflict{
		doNothing,
		on(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"labels"})}, "title"),
		on(clause.OnConflict{UpdateAll: true}, "title"),
	} {
		fresh, line := fmt.Sprint("fresh ", i), fmt.Sprint("line ", i)
		rows := []Document{
			{Title: "one", Labels: []string{"y", "z"}, Origin: DocumentOrigin{"site", &page}},
			{Title: fresh, Status: "done"},
			{Title: "two", Logs: []DocumentLog{{Line: line}}},
		}
		if err := s.db.Clauses(c).Create(&rows).Error; err != nil {
			t.Fatal(err)
		}
		want := []snow.ID{stored[0].ID, id(t, s.db, "documents", "title", fresh), stored[1].ID}
		for j, row := range rows {
			if row.ID != want[j] || row.Version != 1 {
				t.Errorf("%+v: %s: id %d, version %d; want %d and 1", c, row.Title, row.ID, row.Version, want[j])
			}
		}
		if got := rows[2].Logs[0]; got.SubjectID != stored[1].ID || got.ID != id(t, s.db, "document_logs", "line", line) {
			t.Errorf("%+v: log %+v of %d", c, got, stored[1].ID)
		}
	}
	other := Document{Title: "other", Origin: DocumentOrigin{"site", &page}}
	if err := s.db.Clauses(doNothing).Create(&other).Error; err != nil || other.ID != stored[0].ID {
		t.Errorf("id %d, %v; want %d, which has the origin", other.ID, err, stored[0].ID)
	}
}

func (s *suite) returned(t *testing.T) {
	s.created(t, s.db.Create(&Company{Name: "returned"}).Error)
	for i, c := range []clause.OnConflict{
		doNothing,
		on(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"motto"})}, "name"),
		on(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"id"})}, "name"),
	} {
		for j, r := range []clause.Returning{{}, {Columns: []clause.Column{{Name: "motto"}}}} {
			one, many := Company{Name: "returned"}, []Company{{Name: "returned"}, {Name: fmt.Sprint("returned ", i, j)}}
			tx := s.db.Clauses(c, r).Session(&gorm.Session{})
			s.created(t, tx.Create(&one).Error, one)
			s.created(t, tx.Create(&many).Error, many...) // GORM may drop rows that do not return
		}
	}
}

func (s *suite) upsertBatches(t *testing.T) {
	rows := make([]Company, 9)
	for i := range rows {
		rows[i].Name = fmt.Sprint("batch ", i%5) // some in one statement, on MySQL and with DO NOTHING
	}
	s.created(t, s.db.Clauses(doNothing).CreateInBatches(rows, 6).Error, rows...)
	again := make([]*Company, 5)
	for i := range again {
		again[i] = &Company{Name: rows[i].Name}
	}
	s.created(t, s.db.Clauses(on(clause.OnConflict{UpdateAll: true}, "name")).CreateInBatches(again, 2).Error)
	for _, c := range again {
		s.created(t, nil, *c)
	}
}

func (s *suite) schemaTable(t *testing.T) {
	var name string
	current := map[string]string{"mysql": "SELECT DATABASE()", "postgres": "SELECT current_schema()", "sqlite": "SELECT 'main'"}
	if err := s.db.Raw(current[s.db.Name()]).Scan(&name).Error; err != nil {
		t.Fatal(err)
	}
	tx := s.db.Table(name + ".companies").Clauses(doNothing).Session(&gorm.Session{})
	for range 2 {
		c, entry := Company{Name: "schema"}, map[string]any{"Name": "schema"}
		s.created(t, errors.Join(tx.Create(&c).Error, tx.Model(&Company{}).Create(entry).Error), c, Company{ID: entry["id"].(snow.ID), Name: "schema"})
	}
}

func (s *suite) savepoints(t *testing.T) {
	a, b, c := Company{Name: "savepoint"}, Company{Name: "savepoint 1"}, Company{Name: "savepoint"}
	s.created(t, s.db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Create(&a).Error; err != nil {
			return err
		}
		err := tx.Transaction(func(tx *gorm.DB) error {
			return errors.Join(tx.Create(&b).Error, tx.Create(&Company{Name: "savepoint"}).Error)
		})
		if !errors.Is(err, gorm.ErrDuplicatedKey) {
			t.Errorf("error %v, want gorm.ErrDuplicatedKey", err)
		}
		tx.SavePoint("x")
		err = tx.Clauses(doNothing).Create(&b).Error
		tx.RollbackTo("x")
		return errors.Join(err, tx.Clauses(doNothing).Create(&b).Error, tx.Clauses(doNothing).Create(&c).Error)
	}), a, b, c)
}

func (s *suite) compositeReferences(t *testing.T) {
	north := Region{Tenant: 4, Name: "north"}
	if err := s.db.Create(&north).Error; err != nil {
		t.Fatal(err)
	}
	offices := []Office{{Region: &Region{Tenant: 4, Name: "north"}}, {Region: &Region{Tenant: 5, Name: "north"}}, {Region: &Region{Tenant: 5, Name: "south"}}}
	if err := s.db.Create(&offices).Error; err != nil {
		t.Fatal(err)
	}
	// North does not belong to tenant 5.
	for i, want := range []snow.ID{north.ID, 0, id(t, s.db, "regions", "name", "south")} {
		if got := offices[i]; got.RegionID != want || got.Region.ID != want {
			t.Errorf("office %d: region %d, %d, want %d", i, got.RegionID, got.Region.ID, want)
		}
	}
}

func (s *suite) associationMode(t *testing.T) {
	root, other := Branch{Name: "mode"}, Branch{Name: "other mode"}
	if err := s.db.Create([]*Branch{&root, &other}).Error; err != nil {
		t.Fatal(err)
	}
	both := []*Branch{&root, &other}
	if err := errors.Join(
		s.db.Model(&root).Association("Friends").Append([]Branch{{Name: "mode"}, {Name: "friend"}}, &Branch{Name: "other mode"}),
		s.db.Model(&both).Association("Parent").Append(&Branch{Name: "parent"}, &Branch{Name: "mode"}),
	); err != nil {
		t.Fatal(err)
	}
	for _, b := range append(root.Friends, *root.Parent, *other.Parent) {
		if want := s.branch(t, b.Name); b.ID != want {
			t.Errorf("%s: id %d, want %d", b.Name, b.ID, want)
		}
	}
	if *root.ParentID != root.Parent.ID || *other.ParentID != root.ID {
		t.Errorf("parents %d and %d, want %d and %d", *root.ParentID, *other.ParentID, root.Parent.ID, root.ID)
	}
}
