package gormtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
)

// shapes are the ways to insert rows, and what they claim to have stored.
var shapes = map[string]func(ctx context.Context, db *gorm.DB) ([]stored, error){
	"struct": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Name: "ann"}
		err := db.Create(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"pointer to a pointer": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := &Customer{}
		err := db.Create(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"slice": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := []Customer{{Name: "ann"}, {Name: "bob"}}
		err := db.Create(c).Error
		return []stored{column("customers", "id", c[0].ID, c[1].ID)}, err
	},
	"slice of pointers": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := []*Customer{{Name: "ann"}, {Name: "bob"}}
		err := db.Create(&c).Error
		return []stored{column("customers", "id", c[0].ID, c[1].ID)}, err
	},
	"array": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := [2]Topic{{Name: "tea"}, {Name: "milk"}}
		err := db.Create(&c).Error
		return []stored{column("topics", "id", c[0].ID, c[1].ID)}, err
	},
	"batches": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		topics := make([]Topic, 7)
		err := db.CreateInBatches(topics, 3).Error
		s := column("topics", "id")
		for _, topic := range topics {
			s.ids = append(s.ids, topic.ID)
		}
		return []stored{s}, err
	},
	"batch size of the session": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		topics := make([]Topic, 3)
		err := db.Session(&gorm.Session{CreateBatchSize: 2}).Create(&topics).Error
		return []stored{column("topics", "id", topics[0].ID, topics[1].ID, topics[2].ID)}, err
	},
	"map": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		row := map[string]any{"Name": "tea"}
		err := db.Model(&Topic{}).Create(row).Error
		return []stored{column("topics", "id", row["id"])}, err
	},
	"pointer to a map": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		row := map[string]any{"name": "tea", "ID": 0}
		err := db.Model(&Topic{}).Create(&row).Error
		return []stored{column("topics", "id", row["ID"])}, err
	},
	"maps": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		rows := []map[string]any{{"name": "tea"}, {"name": "milk", "id": nil}}
		err := db.Model(&Topic{}).Create(rows).Error
		return []stored{column("topics", "id", rows[0]["id"], rows[1]["id"])}, err
	},
	"batches of maps": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		rows := []map[string]any{{"name": "tea"}, {"name": "milk"}, {"name": "rum"}}
		err := db.Model(&Topic{}).CreateInBatches(&rows, 2).Error
		return []stored{column("topics", "id", rows[0]["id"], rows[1]["id"], rows[2]["id"])}, err
	},
	"map for keys of four types": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		row := map[string]any{}
		err := db.Model(&Voucher{}).Create(row).Error
		return []stored{
			column("vouchers", "id", row["id"]), column("vouchers", "code", row["code"]),
			column("vouchers", "serial", row["serial"]), column("vouchers", "public", row["public"]),
		}, err
	},
	"keys of four types": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		v := []Voucher{{}, {Public: new(snow.ID)}}
		err := db.Create(&v).Error
		return []stored{
			column("vouchers", "id", v[0].ID, v[1].ID), column("vouchers", "code", v[0].Code, v[1].Code),
			column("vouchers", "serial", v[0].Serial, v[1].Serial), column("vouchers", "public", v[0].Public, v[1].Public),
		}, err
	},
	"embedded structs": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		v := []Visit{{Page: "/"}, {Base: &Base{}}}
		err := db.Create(&v).Error
		return []stored{
			column("visits", "id", v[0].ID, v[1].ID),
			column("visits", "origin_code", v[0].Origin.Code, v[1].Origin.Code),
		}, err
	},
	"select": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := []Customer{{Name: "ann"}, {Name: "bob"}}
		err := db.Select("Name").Create(&c).Error
		return []stored{column("customers", "id", c[0].ID, c[1].ID)}, err
	},
	"omit associations": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Carts: []Basket{{Note: "not stored"}}}
		err := db.Omit(clause.Associations).Create(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"has many": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Carts: []Basket{{Note: "a"}, {Note: "b"}}}
		err := db.Create(&c).Error
		return []stored{
			column("customers", "id", c.ID), column("baskets", "id", c.Carts[0].ID, c.Carts[1].ID),
			column("customers", "id", c.Carts[0].CustomerID),
		}, err
	},
	"belongs to": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		b := Basket{Customer: &Customer{Name: "ann"}}
		err := db.Create(&b).Error
		return []stored{column("baskets", "id", b.ID), column("customers", "id", b.Customer.ID), column("baskets", "customer_id", b.Customer.ID)}, err
	},
	"many to many": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Interest: []Topic{{Name: "tea"}, {Name: "milk"}}}
		err := db.Create(&c).Error
		return []stored{
			column("customers", "id", c.ID), column("topics", "id", c.Interest[0].ID, c.Interest[1].ID),
			column("customer_topics", "topic_id", c.Interest[0].ID, c.Interest[1].ID),
		}, err
	},
	"association mode": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{}
		if err := db.Create(&c).Error; err != nil {
			return nil, err
		}
		b := Basket{}
		err := db.Model(&c).Association("Carts").Append(&b)
		return []stored{column("baskets", "id", b.ID), column("baskets", "customer_id", c.ID)}, err
	},
	"save": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Name: "ann"}
		err := db.Save(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"save a slice": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := []Customer{{Name: "ann"}, {Name: "bob"}}
		err := db.Save(&c).Error
		return []stored{column("customers", "id", c[0].ID, c[1].ID)}, err
	},
	"first or create": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		var c Customer
		err := db.Where(Customer{Name: "nobody yet"}).FirstOrCreate(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"generics": func(ctx context.Context, db *gorm.DB) ([]stored, error) {
		t := Topic{}
		err := gorm.G[Topic](db).Create(ctx, &t)
		return []stored{column("topics", "id", t.ID)}, err
	},
	"generics, batches": func(ctx context.Context, db *gorm.DB) ([]stored, error) {
		t := make([]Topic, 3)
		err := gorm.G[Topic](db).CreateInBatches(ctx, &t, 2)
		return []stored{column("topics", "id", t[0].ID, t[1].ID, t[2].ID)}, err
	},
	"without hooks": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{}
		err := db.Session(&gorm.Session{SkipHooks: true}).Create(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"without a transaction": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{}
		err := db.Session(&gorm.Session{SkipDefaultTransaction: true}).Create(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"prepared": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{}
		err := db.Session(&gorm.Session{PrepareStmt: true}).Create(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"nested transactions": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		var outer, inner Customer
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&outer).Error; err != nil {
				return err
			}
			return tx.Transaction(func(tx *gorm.DB) error { return tx.Create(&inner).Error })
		})
		return []stored{column("customers", "id", outer.ID, inner.ID)}, err
	},
	"dry run, then for real": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Topic{}
		if err := db.Session(&gorm.Session{DryRun: true}).Create(&c).Error; err != nil {
			return nil, err
		}
		id := c.ID
		err := db.Create(&c).Error
		if c.ID != id {
			err = fmt.Errorf("id %d became %d", id, c.ID)
		}
		return []stored{column("topics", "id", id)}, err
	},
	"double pointer in a slice variable": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := &[]*Topic{{Name: "tea"}, {}}
		err := db.Create(&c).Error
		return []stored{column("topics", "id", (*c)[0].ID, (*c)[1].ID)}, err
	},
	"rows with and without an id": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		own, err := nextID(db)
		if err != nil {
			return nil, err
		}
		rows := []Topic{{}, {ID: own}, {}}
		err = db.Create(&rows).Error
		if rows[1].ID != own {
			err = fmt.Errorf("id %d became %d", own, rows[1].ID)
		}
		return []stored{column("topics", "id", rows[0].ID, own, rows[2].ID)}, err
	},
	"nil embedded pointers, named and prefixed": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		rows := []*Parcel{{Label: "a"}, {Box: &Base{}}}
		err := db.Create(rows).Error
		return []stored{column("parcels", "box_id", rows[0].Box.ID, rows[1].Box.ID)}, err
	},
	"member of a composite key": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		own, err := nextID(db) // for a name that is unique
		rows := []Lot{{Tenant: 1, Name: "a" + own.String()}, {Tenant: 2, Name: "b" + own.String()}}
		if err == nil {
			err = db.Create(&rows).Error
		}
		return []stored{column("lots", "id", rows[0].ID, rows[1].ID)}, err
	},
	"generics, a map": func(ctx context.Context, db *gorm.DB) ([]stored, error) {
		name := fmt.Sprintf("generic %p", &ctx)
		err := gorm.G[Topic](db).Set(clause.Assignment{Column: clause.Column{Name: "name"}, Value: name}).Create(ctx)
		if err != nil {
			return nil, err
		}
		var topic Topic
		err = db.Where("name = ?", name).First(&topic).Error
		return []stored{column("topics", "id", topic.ID)}, err
	},
	"generics, selected": func(ctx context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Name: "ann"}
		err := gorm.G[Customer](db).Select("Name").Create(ctx, &c)
		return []stored{column("customers", "id", c.ID)}, err
	},
	"polymorphic has many": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		s := Shed{Tools: []Tool{{}, {}}}
		err := db.Create(&s).Error
		return []stored{
			column("sheds", "id", s.ID), column("tools", "id", s.Tools[0].ID, s.Tools[1].ID),
			column("sheds", "id", s.Tools[0].OwnerID), column("sheds", "id", s.Tools[1].OwnerID),
		}, err
	},
	"polymorphic has one": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		b := []Barn{{}, {}}
		err := db.Create(&b).Error // Tool is zero: not saved
		if err == nil {
			b[0].Tool.OwnerType = "x"
			err = db.Save(&b[0]).Error
		}
		return []stored{column("barns", "id", b[0].ID, b[1].ID), column("tools", "id", b[0].Tool.ID), column("barns", "id", b[0].Tool.OwnerID)}, err
	},
	"join table with a key of its own, saved twice": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		s := Student{Courses: []Course{{Title: "maths"}, {Title: "latin"}}}
		if err := db.Create(&s).Error; err != nil {
			return nil, err
		}
		if err := db.Save(&s).Error; err != nil {
			return nil, err
		}
		var rows []Enrolment
		err := db.Where("student_id = ?", s.ID).Find(&rows).Error
		if err == nil && len(rows) != 2 {
			err = fmt.Errorf("%d join rows, want 2", len(rows))
		}
		claims := []stored{column("courses", "id", s.Courses[0].ID, s.Courses[1].ID), column("enrolments", "id")}
		for _, row := range rows {
			claims[1].ids = append(claims[1].ids, row.ID)
		}
		return claims, err
	},
	"save a slice, one row stored": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := []Topic{{Name: "first"}}
		if err := db.Create(&c).Error; err != nil {
			return nil, err
		}
		c = append(c, Topic{Name: "second"})
		err := db.Save(&c).Error
		return []stored{column("topics", "id", c[0].ID, c[1].ID)}, err
	},
	"full save of associations": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Carts: []Basket{{Note: "a"}}, Interest: []Topic{{}}}
		err := db.Session(&gorm.Session{FullSaveAssociations: true}).Create(&c).Error
		return []stored{column("customers", "id", c.ID), column("baskets", "id", c.Carts[0].ID), column("topics", "id", c.Interest[0].ID)}, err
	},
	"association of a select": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Carts: []Basket{{Note: "a"}}}
		err := db.Select("Name", "Carts").Create(&c).Error
		return []stored{column("customers", "id", c.ID), column("baskets", "id", c.Carts[0].ID)}, err
	},
	"replace in association mode": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Interest: []Topic{{Name: "old"}}}
		if err := db.Create(&c).Error; err != nil {
			return nil, err
		}
		fresh := Topic{Name: "new"}
		err := db.Model(&c).Association("Interest").Replace(&fresh)
		return []stored{column("topics", "id", fresh.ID), column("customer_topics", "topic_id", fresh.ID)}, err
	},
	"rows of a transaction that was rolled back": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c, undo := Topic{}, errors.New("undo")
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&c).Error; err != nil {
				return err
			}
			return undo
		})
		if !errors.Is(err, undo) {
			return nil, err
		}
		before := c.ID
		if err = db.Create(&c).Error; c.ID != before {
			err = fmt.Errorf("id %d became %d", before, c.ID)
		}
		return []stored{column("topics", "id", c.ID)}, err
	},
}

// shapes inserts in every way, in sessions of every kind.
func (s *suite) shapes(t *testing.T) {
	for name, session := range map[string]*gorm.Session{
		"":                      {},
		", prepared":            {PrepareStmt: true},
		", without transaction": {SkipDefaultTransaction: true},
		", without hooks":       {SkipHooks: true},
	} {
		db := s.db.Session(session)
		for shape, create := range shapes {
			t.Run(shape+name, func(t *testing.T) {
				claims, err := create(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				for _, claim := range claims {
					claim.check(t, s.db)
				}
			})
		}
	}
}

// nextID returns an id that nobody else gets.
func nextID(db *gorm.DB) (snow.ID, error) {
	topic := Topic{}
	err := db.Session(&gorm.Session{DryRun: true}).Create(&topic).Error
	return topic.ID, err
}
