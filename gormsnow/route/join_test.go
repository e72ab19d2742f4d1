package route_test

import (
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/route"
)

type (
	Basket struct {
		ID       snow.ID `gorm:"primaryKey;not null" snow:"shard=OwnerID"`
		OwnerID  snow.ID
		Products []Product `gorm:"many2many:basket_products"`
		Friends  []Basket  `gorm:"many2many:basket_friends"`
		Holders  []User    `gorm:"many2many:basket_holders"`
		Remarks  []Remark  `gorm:"polymorphic:Subject"`
		Cover    *Cover    `gorm:"polymorphic:Subject"`
	}
	Remark struct {
		ID          snow.ID `gorm:"primaryKey;not null" snow:"shard=SubjectID"`
		SubjectID   snow.ID
		SubjectType string
		Text        string
	}
	Cover struct {
		ID          snow.ID `gorm:"primaryKey;not null" snow:"shard=SubjectID"`
		SubjectID   snow.ID
		SubjectType string
		Color       string
	}
	Label struct { // in every database, and has the association
		ID      int      `gorm:"primaryKey;autoIncrement:false"`
		Baskets []Basket `gorm:"many2many:basket_labels"`
	}
	Shelf struct { // neither side has shards
		ID       int       `gorm:"primaryKey;autoIncrement:false"`
		Products []Product `gorm:"many2many:shelf_products"`
	}
	Club struct { // and its members know it
		ID      snow.ID `gorm:"primaryKey;not null" snow:"shard=Name"`
		Name    string
		Members []Member `gorm:"many2many:club_members"`
	}
	Member struct {
		ID    snow.ID `gorm:"primaryKey;not null" snow:"shard=Name"`
		Name  string
		Clubs []Club `gorm:"many2many:club_members"`
	}
	Crew struct { // whose members are found by name
		ID    snow.ID `gorm:"primaryKey;not null" snow:"shard=Name"`
		Name  string
		Hands []Product `gorm:"many2many:crew_hands;foreignKey:Name;joinForeignKey:CrewName"`
	}
	BasketProduct struct { // a model of the table, which the association does not know
		BasketID  snow.ID `gorm:"primaryKey"`
		ProductID int     `gorm:"primaryKey"`
		Basket    *Basket
		Product   *Product
	}
	Loose struct { // whose table has nothing that tells a shard
		ID       snow.ID `gorm:"primaryKey;not null" snow:"shard=Name"`
		Name     string
		Email    string
		Products []Product `gorm:"many2many:loose_products;foreignKey:Email;joinForeignKey:LooseEmail"`
	}
)

func newModels(t *testing.T, n int) (*gorm.DB, []*fake) {
	t.Helper()
	fakes, shards := databases(t, n)
	db, err := route.New(shards, route.Global(&Product{}, &Label{}, &Shelf{}), route.Models(&Basket{}, &Label{}, &Shelf{}, &Crew{}))
	if err != nil {
		t.Fatal(err)
	}
	return db, fakes
}

// TestAssociations has the statements of many-to-many and polymorphic associations.
func TestAssociations(t *testing.T) {
	five := func(db *gorm.DB) *gorm.DB { return db.Model(&Basket{ID: base + 5, OwnerID: base + 5}) }
	failed := func(db *gorm.DB, err error) *gorm.DB {
		tx := db.Session(&gorm.Session{})
		_ = tx.AddError(err)
		return tx
	}
	through := func(db *gorm.DB, table clause.Table, column clause.Column) *gorm.DB {
		return db.Clauses(clause.From{Joins: []clause.Join{{Table: table, ON: clause.Where{Exprs: []clause.Expression{clause.Eq{Column: column, Value: base + 5}}}}}})
	}
	owner := clause.Column{Table: "basket_products", Name: "basket_id"}
	const ownFrom = "route: query route_test.Product: the shard is unknown: it has a FROM clause of its own: write it otherwise, or name the shard with On"
	const elsewhere = "route: query route_test.User: the shard is unknown: rows of route_test.User may be in other shards than their rows of \"basket_holders\": preload them: write it otherwise, or name the shard with On"
	const association = "route: create route_test.Product: the shard is unknown: its rows are in every database, and an association would write them: leave them out with Omit"
	const both = "route: query many2many:club_members: the shard is unknown: route_test.Club.Members and route_test.Member.Clubs have it as the table of an association, and its rows would be in the shards of either: drop one of the associations"
	for _, n := range []int{1, 2, 4, 16} {
		db, fakes := newModels(t, n)
		var clubs struct{ join any }
		stmt := &gorm.Statement{DB: db}
		if err := stmt.Parse(&Club{}); err != nil {
			t.Fatal(err)
		}
		clubs.join = stmt.Schema.Relationships.Relations["Members"].JoinTable.MakeSlice().Interface()
		for _, r := range []rule{
			{"find", func(db *gorm.DB) *gorm.DB { return failed(db, five(db).Association("Products").Find(&[]Product{})) }, []uint64{5}, ""},
			{"find with conditions", func(db *gorm.DB) *gorm.DB {
				return failed(db, five(db).Association("Products").Find(&[]Product{}, "products.name = ?", "tea"))
			}, []uint64{5}, ""},
			{"find of several", func(db *gorm.DB) *gorm.DB {
				return failed(db, db.Model(&[]Basket{{ID: base + 1}, {ID: base + 5}}).Association("Products").Find(&[]Product{}))
			}, []uint64{1, 5}, ""},
			{"find, sorted", func(db *gorm.DB) *gorm.DB {
				return failed(db, db.Order("products.id").Limit(2).Model(&[]Basket{{ID: base + 1}, {ID: base + 5}}).Association("Products").Find(&[]Product{}))
			}, []uint64{1, 5}, ""},
			{"find, limited", func(db *gorm.DB) *gorm.DB {
				return failed(db, db.Limit(2).Model(&[]Basket{{ID: base + 1}, {ID: base + 5}}).Association("Products").Find(&[]Product{}))
			}, nil, "route: query route_test.Product: several shards: it is about the shards [1 5], and a limit needs an order: order by a key"},
			{"count", func(db *gorm.DB) *gorm.DB {
				a := five(db).Association("Products")
				a.Count()
				return failed(db, a.Error)
			}, []uint64{5}, ""},
			{"append", func(db *gorm.DB) *gorm.DB {
				return failed(db, five(db).Omit("Products.*").Association("Products").Append(&Product{ID: 1}))
			}, []uint64{5}, ""},
			{"append that writes", func(db *gorm.DB) *gorm.DB {
				return failed(db, five(db).Association("Products").Append(&Product{ID: 1}))
			}, nil, association},
			{"replace", func(db *gorm.DB) *gorm.DB {
				return failed(db, five(db).Omit("Products.*").Association("Products").Replace(&Product{ID: 1}))
			}, []uint64{5}, ""},
			{"delete", func(db *gorm.DB) *gorm.DB {
				return failed(db, five(db).Association("Products").Delete(&Product{ID: 1}))
			}, []uint64{5}, ""},
			{"clear", func(db *gorm.DB) *gorm.DB { return failed(db, five(db).Association("Products").Clear()) }, []uint64{5}, ""},
			{"clear of several", func(db *gorm.DB) *gorm.DB {
				return failed(db, db.Model(&[]Basket{{ID: base + 1}, {ID: base + 5}}).Association("Products").Clear())
			}, nil, "route: delete many2many:basket_products: several shards: it is about the shards [1 5]: write in each shard on its own, because the writes are not atomic together"},
			{"create", func(db *gorm.DB) *gorm.DB {
				return db.Omit("Products.*").Create(&Basket{OwnerID: base + 5, Products: []Product{{ID: 1}, {ID: 2}}})
			}, []uint64{5}, ""},
			{"create, friends elsewhere", func(db *gorm.DB) *gorm.DB {
				return db.Omit("Friends.*").Create(&Basket{OwnerID: base + 5, Friends: []Basket{{ID: base + 1, OwnerID: base + 1}}})
			}, []uint64{5}, ""},
			{"find of rows with shards", func(db *gorm.DB) *gorm.DB { return failed(db, five(db).Association("Holders").Find(&[]User{})) }, nil, elsewhere},
			{"add rows with shards", func(db *gorm.DB) *gorm.DB {
				return failed(db, five(db).Omit("Holders.*").Association("Holders").Append(&User{ID: base + 9, Name: "ann"}))
			}, []uint64{5}, ""},
			{"the other side decides", func(db *gorm.DB) *gorm.DB {
				return failed(db, db.Model(&Label{ID: 1}).Omit("Baskets.*").Session(&gorm.Session{SkipHooks: true}).Association("Baskets").Delete(&Basket{ID: base + 5}))
			}, []uint64{5}, ""},
			{"of the other side, which is everywhere", func(db *gorm.DB) *gorm.DB {
				return failed(db, db.Model(&Label{ID: 1}).Association("Baskets").Clear())
			}, nil, "route: delete many2many:basket_labels: the shard is unknown: no condition on BasketID with = or IN holds for all its rows: add one, or name the shard with On"},
			{"both are everywhere", func(db *gorm.DB) *gorm.DB {
				return failed(db, db.Model(&Shelf{ID: 1}).Association("Products").Find(&[]Product{}))
			}, nil, ""},
			{"both are everywhere, delete", func(db *gorm.DB) *gorm.DB {
				return failed(db, db.Model(&Shelf{ID: 1}).Association("Products").Clear())
			}, nil, "route: delete many2many:shelf_products: the shard is unknown: its rows are in every database: write them in each, with Shards.Each, or in one with On"},
			{"both sides have it", func(db *gorm.DB) *gorm.DB { return db.Find(clubs.join, "club_id = ?", base+5) }, nil, both},
			{"by the field", func(db *gorm.DB) *gorm.DB {
				return failed(db, db.Model(&Crew{ID: base + 5, Name: named(t, 5)}).Association("Hands").Find(&[]Product{}))
			}, []uint64{5}, ""},
			{"unknown", func(db *gorm.DB) *gorm.DB {
				return failed(db, db.Model(&Loose{ID: base + 5, Email: "a"}).Association("Products").Find(&[]Product{}))
			}, nil, `route: query route_test.Product: the shard is unknown: it joins "loose_products", of which the router does not know whose rows it has: pass the owner to Models, or preload: write it otherwise, or name the shard with On`},
			{"another join of that table", func(db *gorm.DB) *gorm.DB {
				return db.Clauses(clause.From{Joins: []clause.Join{{
					Table: clause.Table{Name: "basket_products"},
					ON:    clause.Where{Exprs: []clause.Expression{clause.Or(clause.Eq{Column: clause.Column{Table: "basket_products", Name: "basket_id"}, Value: base + 5})}},
				}}}).Find(&[]Product{})
			}, nil, "route: query route_test.Product: the shard is unknown: it has a FROM clause of its own: write it otherwise, or name the shard with On"},
			{"left join of that table", func(db *gorm.DB) *gorm.DB {
				return db.Clauses(clause.From{Joins: []clause.Join{{
					Type: clause.LeftJoin, Table: clause.Table{Name: "basket_products"},
					ON: clause.Where{Exprs: []clause.Expression{clause.Eq{Column: clause.Column{Table: "basket_products", Name: "basket_id"}, Value: base + 5}}},
				}}}).Find(&[]Product{})
			}, nil, "route: query route_test.Product: the shard is unknown: it has a FROM clause of its own: write it otherwise, or name the shard with On"},
			{"join of that table", func(db *gorm.DB) *gorm.DB {
				return through(db, clause.Table{Name: "basket_products"}, owner).Find(&[]Product{})
			}, []uint64{5}, ""},
			{"join with an alias", func(db *gorm.DB) *gorm.DB {
				return through(db, clause.Table{Name: "basket_products", Alias: "b"}, owner).Find(&[]Product{})
			}, nil, ownFrom},
			{"two joins", func(db *gorm.DB) *gorm.DB {
				return through(db.Joins("CROSS JOIN users"), clause.Table{Name: "basket_products"}, owner).Find(&[]Product{})
			}, nil, ownFrom},
			{"join by a column of another table", func(db *gorm.DB) *gorm.DB {
				return through(db, clause.Table{Name: "basket_products"}, clause.Column{Table: "others", Name: "basket_id"}).Find(&[]Product{})
			}, nil, `route: query route_test.Product: the shard is unknown: it joins "basket_products" without a condition on BasketID: write it otherwise, or name the shard with On`},
			{"another model of that table", func(db *gorm.DB) *gorm.DB {
				return db.Find(&[]BasketProduct{}, "basket_id = ?", base+5)
			}, nil, "route: query route_test.BasketProduct: the shard is unknown: it has no shard tag: give its key one"},
			{"join without the owner", func(db *gorm.DB) *gorm.DB {
				return db.Clauses(clause.From{Joins: []clause.Join{{
					Table: clause.Table{Name: "basket_products"},
					ON:    clause.Where{Exprs: []clause.Expression{clause.Eq{Column: clause.Column{Table: "basket_products", Name: "product_id"}, Value: 5}}},
				}}}).Find(&[]Product{})
			}, nil, `route: query route_test.Product: the shard is unknown: it joins "basket_products" without a condition on BasketID: write it otherwise, or name the shard with On`},

			{"polymorphic, find", func(db *gorm.DB) *gorm.DB { return failed(db, five(db).Association("Remarks").Find(&[]Remark{})) }, []uint64{5}, ""},
			{"polymorphic, append", func(db *gorm.DB) *gorm.DB {
				return failed(db, five(db).Association("Remarks").Append(&Remark{Text: "x"}))
			}, []uint64{5}, ""},
			{"polymorphic, create", func(db *gorm.DB) *gorm.DB {
				return db.Create(&Basket{OwnerID: base + 5, Remarks: []Remark{{Text: "x"}}, Cover: &Cover{Color: "red"}})
			}, []uint64{5}, ""},
			{"polymorphic, count", func(db *gorm.DB) *gorm.DB {
				a := five(db).Association("Remarks")
				a.Count()
				return failed(db, a.Error)
			}, []uint64{5}, ""},
			{"polymorphic, delete", func(db *gorm.DB) *gorm.DB {
				return failed(db, five(db).Association("Remarks").Unscoped().Delete(&Remark{ID: base + 5}))
			}, []uint64{5}, ""},
			{"polymorphic, clear", func(db *gorm.DB) *gorm.DB {
				return failed(db, five(db).Association("Remarks").Unscoped().Clear())
			}, []uint64{5}, ""},
			{
				"polymorphic, taken away", func(db *gorm.DB) *gorm.DB { return failed(db, five(db).Association("Remarks").Clear()) }, nil,
				"route: update route_test.Remark: the row would change its shard: it sets SubjectID to what tells no shard: leave it out, or delete the row and create another",
			},
			{"polymorphic, joined", func(db *gorm.DB) *gorm.DB {
				return db.Joins("Cover").Find(&[]Basket{}, "baskets.owner_id = ?", base+5)
			}, []uint64{5}, ""},
		} {
			t.Run(r.name, func(t *testing.T) {
				err := r.run(db.Session(&gorm.Session{NewDB: true})).Error
				got := take(fakes)
				var want []uint64
				for _, s := range r.want {
					want = append(want, s%uint64(n))
				}
				slices.Sort(want)
				want = slices.Compact(want)
				switch {
				case r.err != "":
					if err == nil || !strings.HasPrefix(err.Error(), r.err) || len(got) > 0 { // GORM may have it twice
						t.Fatalf("over %d: sent to %v, error\n%v, want\n%s", n, got, err, r.err)
					}
				case err != nil || len(want) == 0 && len(got) != 1 || len(want) > 0 && !slices.Equal(got, want):
					t.Fatalf("over %d: sent to %v, %v, want %v", n, got, err, want)
				}
			})
		}
	}
}

func TestModels(t *testing.T) {
	_, shards := databases(t, 2)
	for _, c := range []struct {
		options []route.Option
		err     string
	}{
		{[]route.Option{route.Models(&Basket{}), route.Global(&Product{})}, ""},
		{[]route.Option{route.Models(5)}, "route: model int: unsupported data type: 5"},
		{[]route.Option{route.Models(&Plain{})}, "route: model route_test.Plain has no shard tag: give its key one, or pass it to Global if its rows are in every database"},
		{[]route.Option{route.Models(&Club{})}, `route: the table "club_members" of route_test.Club.Members: route_test.Club.Members and route_test.Member.Clubs have it`},
		{[]route.Option{route.Models(&Loose{})}, `route: the table "loose_products" of route_test.Loose.Products: the table of route_test.Loose.Products has neither ID or Name of route_test.Loose: refer to one`},
	} {
		if _, err := route.New(shards, c.options...); (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("got %v, want %s", err, c.err)
		}
	}
}

// A guard watches the tables of many-to-many associations, too.
func TestGuardedAssociations(t *testing.T) {
	fakes, shards := databases(t, 2)
	for i := range shards.Len() {
		if err := shards.At(uint64(i)).Use(route.Guard(shards, i)); err != nil {
			t.Fatal(err)
		}
	}
	owner := Basket{ID: base + 1, OwnerID: base + 1}
	if err := shards.At(1).Model(&owner).Association("Products").Append(&Product{ID: 1}); err != nil || !slices.Equal(take(fakes), []uint64{1}) {
		t.Error(err)
	}
	err := shards.At(0).Model(&owner).Association("Products").Clear()
	if err == nil || !strings.HasPrefix(err.Error(), "route: delete many2many:basket_products: another shard: ") || len(take(fakes)) > 0 {
		t.Error(err)
	}
}
