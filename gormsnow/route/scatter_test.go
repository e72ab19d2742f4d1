package route_test

import (
	"database/sql"
	"errors"
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/gormsnow/route"
)

// TestScatterRules has queries about several shards: over any number of databases the same ones are refused.
func TestScatterRules(t *testing.T) {
	const spread = "route: query route_test.Order: several shards: it is about "
	const byKey = "its rows are merged by columns only: order by ID or other columns, or sort the rows"
	const texts = "state is neither a number nor a time, and databases sort others by rules of their own: order by ID, or sort the rows"
	const unselected = "its rows are merged by amount, which it does not select: select it"
	const functions = spread + "the shards [1 5], and only count, sum, min and max of a column are merged: ask each database with Shards.Each"
	ids := in(1, 5)
	find := func(add func(db *gorm.DB) *gorm.DB) func(db *gorm.DB) *gorm.DB {
		return func(db *gorm.DB) *gorm.DB { return add(db).Find(&[]Order{}, ids) }
	}
	const rawSpread = "route: row: several shards: it is about all shards, and "
	scatterRaw := func(query string) func(db *gorm.DB) *gorm.DB {
		return func(db *gorm.DB) *gorm.DB { return route.Scatter(db).Raw(query).Scan(&[]map[string]any{}) }
	}
	var count int64
	for _, n := range []int{1, 2, 4, 16} {
		db, fakes := newRouter(t, n)
		for _, r := range []rule{
			{"scatter", func(db *gorm.DB) *gorm.DB { return route.Scatter(db).Find(&[]Order{}, "state = ?", "x") }, nil, ""},
			{"scatter as a scope", func(db *gorm.DB) *gorm.DB { return db.Scopes(route.Scatter).Find(&[]Order{}, "state = ?", "x") }, nil, ""},
			{"scatter of one", func(db *gorm.DB) *gorm.DB { return route.Scatter(db).Find(&[]Order{}, "id = ?", base+3) }, []uint64{3}, ""},
			{"raw", func(db *gorm.DB) *gorm.DB { return route.Scatter(db).Raw("SELECT 1").Find(&[]Order{}) }, nil, ""},
			{"raw, in one query or another", func(db *gorm.DB) *gorm.DB {
				return route.Scatter(db).Raw("SELECT * FROM orders WHERE state = ? OR amount > ?", "x", 3).Find(&[]Order{})
			}, nil, ""},
			{"raw count", scatterRaw("SELECT count(*) FROM orders"), nil, rawSpread + "what functions return is merged only if GORM has built the SQL: ask each database with Shards.Each"},
			{"raw, limited", scatterRaw("SELECT * FROM orders LIMIT 3"), nil, rawSpread + "raw SQL with an order, a limit or a lock is not merged: ask each database with Shards.Each"},
			{"raw, ordered", scatterRaw("SELECT * FROM orders ORDER BY id"), nil, rawSpread + "raw SQL with an order, a limit or a lock is not merged: ask each database with Shards.Each"},
			{"raw, grouped", scatterRaw("SELECT state FROM orders GROUP BY state"), nil, rawSpread + "groups and distinct rows are not merged: ask each database with Shards.Each"},
			{"raw UNION", scatterRaw("SELECT id FROM orders UNION SELECT id FROM orders"), nil, rawSpread + "it has a UNION or the like, which would see the rows of one shard only"},
			{"raw join", scatterRaw("SELECT * FROM orders JOIN users ON users.id = orders.buyer_id"), nil, rawSpread + "the rows of a join may be in two databases: ask each database with Shards.Each"},
			{"raw UPDATE", scatterRaw("UPDATE orders SET state = 'x' RETURNING id"), nil, rawSpread + "it is no SELECT: write in each database with Shards.Each"},
			{"count and a value", find(func(db *gorm.DB) *gorm.DB { return db.Select("count(*) + ?", 100) }), nil, spread + "the shards [1 5], and only count, sum, min and max of a column are merged: ask each database with Shards.Each"},
			{"count and another column", find(func(db *gorm.DB) *gorm.DB { return db.Select("count(*), ? AS n", 1) }), nil, spread + "the shards [1 5], and only count, sum, min and max of a column are merged: ask each database with Shards.Each"},
			{"count of a column", func(db *gorm.DB) *gorm.DB {
				return db.Model(&Order{}).Select("state").Where("id IN ?", ids).Count(&count)
			}, []uint64{1, 5}, ""},
			{"order by key", find(func(db *gorm.DB) *gorm.DB { return db.Order("id") }), []uint64{1, 5}, ""},
			{"order by key, desc", find(func(db *gorm.DB) *gorm.DB { return db.Order("orders.id DESC").Limit(3) }), []uint64{1, 5}, ""},
			{"order by key, clause", find(func(db *gorm.DB) *gorm.DB {
				return db.Order(clause.OrderByColumn{Column: clause.PrimaryColumn, Desc: true}).Limit(3)
			}), []uint64{1, 5}, ""},
			{"first", func(db *gorm.DB) *gorm.DB { return db.Limit(1).Order("id").Find(&[]Order{}, ids) }, []uint64{1, 5}, ""},
			{"page", find(func(db *gorm.DB) *gorm.DB { return db.Clauses(gormsnow.Before(0, 10)) }), []uint64{1, 5}, ""},
			{"order by numbers", find(func(db *gorm.DB) *gorm.DB { return db.Order("amount desc, `orders`.`id` ASC").Limit(4) }), []uint64{1, 5}, ""},
			{"order by a time", find(func(db *gorm.DB) *gorm.DB { return db.Order("deleted_at").Order("amount") }), []uint64{1, 5}, ""},
			{"order by a text", find(func(db *gorm.DB) *gorm.DB { return db.Order("state") }), nil, spread + "the shards [1 5], and " + texts},
			{"order by two", find(func(db *gorm.DB) *gorm.DB { return db.Order("id").Order("state") }), nil, spread + "the shards [1 5], and " + texts},
			{"order by two in one text", find(func(db *gorm.DB) *gorm.DB { return db.Order("id, state") }), nil, spread + "the shards [1 5], and " + texts},
			{"order by another table", find(func(db *gorm.DB) *gorm.DB { return db.Order("users.id") }), nil, spread + "the shards [1 5], and " + byKey},
			{"order with NULLS", find(func(db *gorm.DB) *gorm.DB { return db.Order("amount NULLS FIRST") }), nil, spread + "the shards [1 5], and " + byKey},
			{"order with a hint", find(func(db *gorm.DB) *gorm.DB { return db.Order("amount").Clauses(after{"ORDER BY", "NULLS LAST"}) }), nil, spread + "the shards [1 5], and " + byKey},
			{"order by what is not selected", find(func(db *gorm.DB) *gorm.DB { return db.Select("id").Order("amount") }), nil, spread + "the shards [1 5], and " + unselected},
			{"order by what is selected otherwise", find(func(db *gorm.DB) *gorm.DB { return db.Select("id, -amount AS amount").Order("orders.amount") }), nil, spread + "the shards [1 5], and " + unselected},
			{"order by an expression", find(func(db *gorm.DB) *gorm.DB { return db.Order(clause.OrderBy{Expression: clause.Expr{SQL: "RAND()"}}) }), nil, spread + "the shards [1 5], and " + byKey},
			{"limit", find(func(db *gorm.DB) *gorm.DB { return db.Limit(3) }), nil, spread + "the shards [1 5], and a limit needs an order: order by ID"},
			{"limit with more", find(func(db *gorm.DB) *gorm.DB { return db.Order("id").Limit(3).Clauses(after{"LIMIT", "+ 2"}) }), nil, spread + "the shards [1 5], and a limit needs an order: order by ID"},
			{"limit with an offset", find(func(db *gorm.DB) *gorm.DB { return db.Order("id").Limit(3).Clauses(after{"LIMIT", ", 2"}) }), nil, spread + "the shards [1 5], and an offset is not merged: page by key, with gormsnow.After"},
			{"offset", find(func(db *gorm.DB) *gorm.DB { return db.Order("id").Limit(3).Offset(2) }), nil, spread + "the shards [1 5], and an offset is not merged: page by key, with gormsnow.After"},
			{"group", find(func(db *gorm.DB) *gorm.DB { return db.Select("state").Group("state") }), nil, spread + "the shards [1 5], and groups and distinct rows are not merged: ask each database with Shards.Each"},
			{"distinct", find(func(db *gorm.DB) *gorm.DB { return db.Distinct("state") }), nil, spread + "the shards [1 5], and groups and distinct rows are not merged: ask each database with Shards.Each"},
			{"sum", find(func(db *gorm.DB) *gorm.DB { return db.Select("sum(amount)") }), []uint64{1, 5}, ""},
			{"sums and more", find(func(db *gorm.DB) *gorm.DB {
				return db.Select("sum(amount) AS total, MAX(`orders`.`id`), count(*), min(orders.amount) m")
			}), []uint64{1, 5}, ""},
			{"sum of an expression", find(func(db *gorm.DB) *gorm.DB { return db.Select("sum(amount * 2)") }), nil, functions},
			{"sum of another table", find(func(db *gorm.DB) *gorm.DB { return db.Select("sum(users.amount)") }), nil, functions},
			{"sum of distinct", find(func(db *gorm.DB) *gorm.DB { return db.Select("sum(DISTINCT amount)") }), nil, functions},
			{"sum and a column", find(func(db *gorm.DB) *gorm.DB { return db.Select("state, sum(amount)") }), nil, functions},
			{"window", find(func(db *gorm.DB) *gorm.DB { return db.Select("sum(amount) OVER (ORDER BY id)") }), nil, functions},
			{"another function", find(func(db *gorm.DB) *gorm.DB { return db.Select("upper(state)") }), nil, functions},
			{"average", find(func(db *gorm.DB) *gorm.DB { return db.Select("avg(amount)") }), nil, spread + "the shards [1 5], and averages of parts don't make the average: select the sum and the count"},
			{"sum of texts", find(func(db *gorm.DB) *gorm.DB { return db.Select("sum(state)") }), nil, spread + "the shards [1 5], and State is no number or time, so its sum is not merged: ask each database with Shards.Each"},
			{"extreme of texts", find(func(db *gorm.DB) *gorm.DB { return db.Select("max(state)") }), nil, spread + "the shards [1 5], and State is no number or time, so its max is not merged: ask each database with Shards.Each"},
			{"sum of times", find(func(db *gorm.DB) *gorm.DB { return db.Select("sum(deleted_at)") }), nil, spread + "the shards [1 5], and DeletedAt is no number or time, so its sum is not merged: ask each database with Shards.Each"},
			{"last time", find(func(db *gorm.DB) *gorm.DB { return db.Select("max(deleted_at)") }), []uint64{1, 5}, ""},
			{"sum with a limit", find(func(db *gorm.DB) *gorm.DB { return db.Select("sum(amount)").Limit(1) }), nil, spread + "the shards [1 5], and a count or a sum has no order and no limit"},
			{"sum with an order", find(func(db *gorm.DB) *gorm.DB { return db.Select("sum(amount)").Order("amount") }), nil, spread + "the shards [1 5], and a count or a sum has no order and no limit"},
			{"row of a sum", func(db *gorm.DB) *gorm.DB {
				tx := db.Model(&Order{}).Select("sum(amount)").Where("id IN ?", ids)
				_ = tx.AddError(ignoreNoRows(tx.Row().Scan(&count)))
				return tx
			}, []uint64{1, 5}, ""},
			{"locking", find(func(db *gorm.DB) *gorm.DB { return db.Clauses(clause.Locking{Strength: "UPDATE"}) }), nil, spread + "the shards [1 5], and locks are for one shard"},
			{"locking in text", find(func(db *gorm.DB) *gorm.DB { return db.Clauses(after{"WHERE", "LOCK IN SHARE MODE"}) }), nil, spread + "the shards [1 5], and locks are for one shard"},
			{"count of distinct", func(db *gorm.DB) *gorm.DB {
				return db.Model(&Order{}).Distinct("state").Where("id IN ?", ids).Count(&count)
			}, nil, spread + "the shards [1 5], and only count, sum, min and max of a column are merged: ask each database with Shards.Each"},
			{"row", func(db *gorm.DB) *gorm.DB {
				tx := db.Model(&Order{}).Where("id IN ?", ids)
				_ = tx.AddError(tx.Row().Scan(&count))
				return tx
			}, nil, "route: row route_test.Order: several shards: Row reads one row, and each shard has one: order them, or use Rows or Scan"},
			{"transaction", func(db *gorm.DB) *gorm.DB {
				tx := db.Begin()
				defer tx.Rollback()
				return tx.Find(&[]Order{}, ids)
			}, nil, "route: query route_test.Order: another shard: it is about the shards [1 5], and a transaction is in one: query outside of it, or each shard on its own"},
			{
				"no tag", func(db *gorm.DB) *gorm.DB { return route.Scatter(db).Find(&[]Plain{}) }, nil,
				"route: query route_test.Plain: the shard is unknown: it has no shard tag: give its key one, pass it to Global if its rows are in every database, or name the shard with On",
			},
			{
				"subquery", func(db *gorm.DB) *gorm.DB {
					return route.Scatter(db).Find(&[]Order{}, "id IN (SELECT order_id FROM `lines`)")
				}, nil,
				"route: query route_test.Order: the shard is unknown: it has a subquery, which would see the rows of one shard only: write it otherwise, or name the shard with On",
			},
		} {
			t.Run(r.name, func(t *testing.T) {
				err := r.run(db.Session(&gorm.Session{NewDB: true})).Error
				got := take(fakes)
				if r.err != "" {
					if err == nil || err.Error() != r.err || len(got) > 0 {
						t.Fatalf("over %d: sent to %v, error %v, want %s", n, got, err, r.err)
					}
					return
				}
				var want []uint64
				for _, s := range r.want {
					want = append(want, s%uint64(n))
				}
				for i := 0; len(r.want) == 0 && i < n; i++ {
					want = append(want, uint64(i))
				}
				slices.Sort(want)
				if want = slices.Compact(want); err != nil || !slices.Equal(got, want) {
					t.Fatalf("over %d: sent to %v, %v, want %v", n, got, err, want)
				}
			})
		}
	}
}

// after adds text to a clause.
type after struct{ name, text string }

func (after) Build(clause.Builder) {}
func (a after) ModifyStatement(stmt *gorm.Statement) {
	c := stmt.Clauses[a.name]
	c.AfterExpression = clause.Expr{SQL: a.text}
	stmt.Clauses[a.name] = c
}

func ignoreNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil // of a fake
	}
	return err
}

// A database that breaks off while its rows arrive is an error: the others' rows alone would look complete.
func TestScatterBreaksOff(t *testing.T) {
	db, fakes := newRouter(t, 4)
	fakes[2].breaks = errors.New("gone away")
	for name, ask := range map[string]func(db *gorm.DB) error{
		"rows":    func(db *gorm.DB) error { return db.Find(&[]Order{}).Error },
		"ordered": func(db *gorm.DB) error { return db.Order("id").Find(&[]Order{}).Error },
		"count":   func(db *gorm.DB) error { var n int64; return db.Model(&Order{}).Count(&n).Error },
	} {
		err := ask(route.Scatter(db))
		var shard *snow.ShardError
		if !errors.As(err, &shard) || shard.Index != 2 || !errors.Is(err, fakes[2].breaks) {
			t.Errorf("%s: got %v, want the error of database 2", name, err)
		}
	}
}
