package route_test

import (
	"database/sql"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/shardsnow/snow/gormsnow/route"
)

// TestRulesOfThePage runs the rows of the table in docs/sharding.md.
func TestRulesOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/sharding.md")
	if err != nil {
		t.Fatal(err)
	}
	fakes, shards := databases(t, 16)
	replicas, dbs, err := fakeDatabases(generator(t), 1, func(pool *sql.DB) { t.Cleanup(func() { pool.Close() }) })
	if err != nil {
		t.Fatal(err)
	}
	lists := make([][]*gorm.DB, 16)
	lists[5] = dbs
	db, err := route.New(shards, route.Global(&Product{}), route.Models(&Basket{}), route.Replicas(lists...))
	if err != nil {
		t.Fatal(err)
	}
	o5, ids := Order{ID: base + 5, BuyerID: base + 5}, in(1, 5)
	products := func() *gorm.DB { return db.Model(&Basket{ID: base + 5, OwnerID: base + 5}) }
	find := func(conds ...any) func() error { return func() error { return db.Find(&[]Order{}, conds...).Error } }
	runs := map[string]func() error{
		"`db.Create(&Order{BuyerID: buyer5})`": func() error {
			return db.Create(&Order{BuyerID: base + 5}).Error
		},
		"`db.First(&o, \"id = ?\", id5)`": func() error {
			return ignore(db.First(&Order{}, "id = ?", base+5).Error)
		},
		"`db.Find(&os, &Order{BuyerID: buyer5, State: \"open\"})`": func() error {
			return find(&Order{BuyerID: base + 5, State: "open"})()
		},
		"`db.Preload(\"Lines\").Find(&os, \"buyer_id = ?\", buyer5)`": func() error {
			return db.Preload("Lines").Find(&[]Order{}, "buyer_id = ?", base+5).Error
		},
		"`db.Joins(\"Buyer\").Find(&os, \"orders.buyer_id = ?\", buyer5)`": func() error {
			return db.Joins("Buyer").Find(&[]Order{}, "orders.buyer_id = ?", base+5).Error
		},
		"`db.Model(&o5).Update(\"state\", \"paid\")`": func() error {
			return db.Model(&o5).Update("state", "paid").Error
		},
		"`db.Delete(&o5)`": func() error {
			return db.Delete(&Order{ID: base + 5}).Error
		},
		"`db.Find(&os, \"id = ? AND buyer_id = ?\", id1, buyer5)`": func() error {
			return find("id = ? AND buyer_id = ?", base+1, base+5)()
		},
		"`db.Find(&products)`, a global table": func() error {
			return db.Find(&[]Product{}).Error
		},
		"`db.Find(&os, \"id IN ?\", ids)`": func() error {
			return find("id IN ?", ids)()
		},
		"`route.Scatter(db).Order(\"id\").Limit(9).Find(&os)`": func() error {
			return route.Scatter(db).Order("id").Limit(9).Find(&[]Order{}).Error
		},
		"`route.On(db, 5).Exec(\"UPDATE …\")`": func() error {
			return route.On(db, 5).Exec("UPDATE …").Error
		},
		"`route.Replica(db).First(&o, \"id = ?\", id5)`": func() error {
			return ignore(route.Replica(db).First(&Order{}, "id = ?", base+5).Error)
		},
		"`db.Model(&basket5).Association(\"Products\").Find(&products)`": func() error {
			return products().Association("Products").Find(&[]Product{})
		},
		"`db.Model(&basket5).Omit(\"Products.*\").Association(\"Products\").Append(&tea)`": func() error {
			return products().Omit("Products.*").Association("Products").Append(&Product{ID: 1})
		},
		"`db.Model(&basket5).Association(\"Products\").Append(&tea)`": func() error {
			return products().Association("Products").Append(&Product{ID: 1})
		},
		"`route.Replica(db).Model(&o5).Update(\"state\", \"paid\")`": func() error {
			return route.Replica(db).Model(&o5).Update("state", "paid").Error
		},
		"`db.Find(&os, \"state = ?\", \"open\")`": func() error {
			return find("state = ?", "open")()
		},
		"`db.Find(&os, \"id IN (SELECT …)\")`": func() error {
			return find("id IN (SELECT …)")()
		},
		"`db.Joins(\"JOIN users …\").Find(&os)`": func() error {
			return db.Joins("JOIN users …").Find(&[]Order{}).Error
		},
		"`db.Exec(\"UPDATE …\")`": func() error {
			return db.Exec("UPDATE …").Error
		},
		"`db.Table(\"orders\").Find(&maps)`": func() error {
			return db.Table("orders").Find(&[]map[string]any{}).Error
		},
		"`db.Create(&Product{…})`, a global table": func() error {
			return db.Create(&Product{ID: 1}).Error
		},
		"`db.Find(&plains)`, no shard tag": func() error {
			return db.Find(&[]Plain{}).Error
		},
		"`db.Create(&[]Order{{BuyerID: buyer1}, {BuyerID: buyer5}})`": func() error {
			return db.Create(&[]Order{{BuyerID: base + 1}, {BuyerID: base + 5}}).Error
		},
		"`db.Delete(&Order{}, \"id IN ?\", ids)`": func() error {
			return db.Delete(&Order{}, "id IN ?", ids).Error
		},
		"`db.Limit(9).Find(&os, \"id IN ?\", ids)`": func() error {
			return db.Limit(9).Find(&[]Order{}, "id IN ?", ids).Error
		},
		"`db.Order(\"state\").Find(&os, \"id IN ?\", ids)`": func() error {
			return db.Order("state").Find(&[]Order{}, "id IN ?", ids).Error
		},
		"`db.Model(&Order{}).Select(\"sum(amount)\").Where(\"id IN ?\", ids).Scan(&total)`": func() error {
			return db.Model(&Order{}).Select("sum(amount)").Where("id IN ?", ids).Scan(new(int)).Error
		},
		"`route.Scatter(db).Order(\"amount desc, id\").Limit(9).Find(&os)`": func() error {
			return route.Scatter(db).Order("amount desc, id").Limit(9).Find(&[]Order{}).Error
		},
		"`db.Select(\"avg(amount)\").Find(&os, \"id IN ?\", ids)`": func() error {
			return db.Select("avg(amount)").Find(&[]Order{}, "id IN ?", ids).Error
		},
		"`db.Select(\"max(state)\").Find(&os, \"id IN ?\", ids)`": func() error {
			return db.Select("max(state)").Find(&[]Order{}, "id IN ?", ids).Error
		},
		"`route.Scatter(db).Raw(\"SELECT count(*) …\").Scan(&n)`": func() error {
			return route.Scatter(db).Raw("SELECT count(*) FROM orders").Scan(new(int64)).Error
		},
		"a second shard in a transaction": func() error {
			return db.Transaction(func(tx *gorm.DB) error {
				return errors.Join(tx.Find(&[]Order{}, "id = ?", base+1).Error, tx.Find(&[]Order{}, "id = ?", base+5).Error)
			})
		},
		"`db.Model(&o5).Update(\"buyer_id\", buyer1)`": func() error {
			return db.Model(&o5).Update("buyer_id", base+1).Error
		},
		"`route.On(db, 1).Find(&os, \"id = ?\", id5)`": func() error {
			return route.On(db, 1).Find(&[]Order{}, "id = ?", base+5).Error
		},
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 {
			continue
		}
		cells = cells[1:4]
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		name := cells[0]
		run := runs[name]
		if run == nil {
			if strings.Contains(name, "db.") || strings.Contains(name, "route.") {
				t.Errorf("nothing runs the row %s", name)
			}
			continue
		}
		rows++
		delete(runs, name)
		err := run()
		got, replica := take(fakes), take(replicas)
		switch want := strings.Trim(cells[2], "`"); {
		case want != "":
			var e *route.Error
			if err == nil || !errors.As(err, &e) || e.Err.Error()+": "+e.Reason != want || len(got) > 1 {
				t.Errorf("%s: sent to %v, error %v, want %s", name, got, err, want)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case (cells[1] == "shard 5, on a replica") != (len(replica) > 0), len(replica) > 0 && len(got) > 0,
			cells[1] == "shard 5" && !slices.Equal(got, []uint64{5}),
			strings.HasPrefix(cells[1], "any") && len(got) != 1,
			strings.HasPrefix(cells[1], "shards 1 and 5") && !slices.Equal(got, []uint64{1, 5}),
			strings.HasPrefix(cells[1], "all") && len(got) != 16:
			t.Errorf("%s: sent to %v, want %s", name, got, cells[1])
		}
	}
	if rows < 25 || len(runs) > 0 {
		t.Errorf("the page has %d rows, and lacks %v", rows, runs)
	}
}

func ignore(err error) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil // the databases of this test are empty
	}
	return err
}
