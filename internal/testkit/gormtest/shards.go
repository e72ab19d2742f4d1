package gormtest

import (
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// shards inserts rows whose ids carry the shard of another field.
func (s *suite) shards(t *testing.T) {
	layout := Layout(t)
	same := func(t *testing.T, table string, id snow.ID, shard uint64) {
		t.Helper()
		// The lowest bits are all that the table and the layout share.
		if got, want := layout.Shard(id), layout.Shard(snow.ID(shard)); id == 0 || got != want {
			t.Errorf("%s: id %d has shard %d, want %d", table, id, got, want)
		}
		if n := count(t, s.db, table, "id", id); n != 1 {
			t.Errorf("%s: %d rows have the id %d, want 1", table, n, id)
		}
	}
	create := func(t *testing.T, row any) {
		t.Helper()
		if err := s.db.Create(row).Error; err != nil {
			t.Fatal(err)
		}
	}
	decimal := func(t *testing.T, text string) snow.ID {
		t.Helper()
		id, err := snow.ParseID(text)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}

	t.Run("of an id", func(t *testing.T) {
		rows := make([]Purchase, 64)
		for i := range rows {
			rows[i].BuyerID = snow.ID(64000 + i)
		}
		create(t, &rows)
		for _, row := range rows {
			same(t, "purchases", row.ID, uint64(row.BuyerID))
			if row.hookID != row.ID {
				t.Fatalf("the hook saw the id %d, want %d", row.hookID, row.ID)
			}
		}
		batches := make([]*Purchase, 7)
		for i := range batches {
			batches[i] = &Purchase{BuyerID: snow.ID(100 + i)}
		}
		if err := s.db.CreateInBatches(batches, 3).Error; err != nil {
			t.Fatal(err)
		}
		for _, row := range batches {
			same(t, "purchases", row.ID, uint64(row.BuyerID))
		}
	})
	t.Run("of a parent that is created with it", func(t *testing.T) {
		p := Purchase{Buyer: &Buyer{Name: "new buyer"}}
		create(t, &p)
		same(t, "buyers", p.BuyerID, uint64(p.Buyer.ID))
		same(t, "purchases", p.ID, uint64(p.BuyerID))

		rows := []*Purchase{{Buyer: &Buyer{Name: "second buyer"}}, {BuyerID: 5}, {Buyer: &Buyer{Name: "new buyer"}}}
		create(t, rows)
		for _, row := range rows {
			same(t, "purchases", row.ID, uint64(row.BuyerID))
		}
		if rows[2].BuyerID != p.BuyerID {
			t.Errorf("buyer %d, want %d, who exists", rows[2].BuyerID, p.BuyerID)
		}

		optional := OptionalPurchase{Buyer: Buyer{Name: "third buyer"}}
		create(t, &optional)
		same(t, "optional_purchases", optional.ID, uint64(*optional.BuyerID))
		generic := OptionalPurchase{BuyerID: &p.BuyerID}
		if err := gorm.G[OptionalPurchase](s.db).Create(t.Context(), &generic); err != nil {
			t.Fatal(err)
		}
		same(t, "optional_purchases", generic.ID, uint64(p.BuyerID))
	})
	t.Run("of a stored parent that is passed", func(t *testing.T) {
		buyer := Buyer{Name: "stored buyer"}
		create(t, &buyer)
		p := Purchase{Buyer: &buyer, BuyerID: buyer.ID}
		create(t, &p)
		same(t, "purchases", p.ID, uint64(buyer.ID))
		p = Purchase{Buyer: &buyer}
		create(t, &p)
		same(t, "purchases", p.ID, uint64(buyer.ID))
	})
	t.Run("of an integer and a string", func(t *testing.T) {
		rows := []TenantRow{{Tenant: 4}, {Tenant: -5}}
		create(t, &rows)
		for _, row := range rows {
			id := decimal(t, row.ID)
			if got, want := layout.Shard(id), layout.Shard(snow.ID(snow.HashShardInt(int64(row.Tenant)))); got != want {
				t.Errorf("tenant %d has shard %d, want %d", row.Tenant, got, want)
			}
			column("tenant_rows", "id", row.ID).check(t, s.db)
		}
		cities := []CityRow{{City: "Köln"}, {City: "Ulm"}}
		create(t, &cities)
		for _, row := range cities {
			same(t, "city_rows", *row.ID, snow.HashShard(row.City))
		}
	})
	t.Run("of another key", func(t *testing.T) {
		rows := []Twin{{}, {Public: 77}}
		create(t, &rows)
		for _, row := range rows {
			same(t, "twins", row.ID, uint64(row.Public))
		}
	})
	t.Run("of the struct around the key", func(t *testing.T) {
		rows := make([]Lodger, 64)
		for i := range rows {
			rows[i].BuyerID = snow.ID(64000 + i)
		}
		create(t, &rows)
		for _, row := range rows {
			same(t, "lodgers", row.ID, uint64(row.BuyerID))
		}
		entry := map[string]any{"BuyerID": 71}
		if err := s.db.Model(&Lodger{}).Create(entry).Error; err != nil {
			t.Fatal(err)
		}
		same(t, "lodgers", entry["id"].(snow.ID), 71)
	})
	t.Run("of maps", func(t *testing.T) {
		number, text := int32(9), "Bonn"
		rows := []map[string]any{{"BuyerID": 71}, {"buyer_id": snow.ID(72)}, {"buyer_id": "73"}, {"buyer_id": uint64(74)}, {"BuyerID": ptr(snow.ID(75))}}
		if err := s.db.Model(&Purchase{}).Create(rows).Error; err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			same(t, "purchases", row["id"].(snow.ID), uint64(71+i))
		}
		row := map[string]any{"tenant": &number}
		if err := s.db.Model(&TenantRow{}).Create(row).Error; err != nil {
			t.Fatal(err)
		}
		if got, want := layout.Shard(decimal(t, row["id"].(string))), layout.Shard(snow.ID(snow.HashShardInt(9))); got != want {
			t.Errorf("shard %d, want %d", got, want)
		}
		row = map[string]any{"City": &text}
		if err := s.db.Model(&CityRow{}).Create(&row).Error; err != nil {
			t.Fatal(err)
		}
		same(t, "city_rows", row["id"].(snow.ID), snow.HashShard("Bonn"))
	})
	t.Run("unset", func(t *testing.T) {
		entry := map[string]any{"note": "no buyer"}
		for name, tx := range map[string]*gorm.DB{
			"struct": s.db.Create(&Purchase{}),
			"slice":  s.db.Create(&[]Purchase{{BuyerID: 5}, {}}),
			"map":    s.db.Model(&Purchase{}).Create(entry),
			"parent": s.db.Omit("Buyer").Create(&Purchase{Buyer: &Buyer{}}),
		} {
			var field *gormsnow.FieldError
			if !errors.As(tx.Error, &field) || !strings.Contains(field.Reason, "BuyerID") {
				t.Errorf("%s: error %v, want one that names BuyerID", name, tx.Error)
			}
		}
		if _, ok := entry["id"]; ok {
			t.Errorf("the map got an id: %v", entry)
		}
	})
	t.Run("set by the caller", func(t *testing.T) {
		right, wrong := snow.ID(1<<20|7), snow.ID(1<<20|8)
		text, number := wrong.String(), int64(wrong)
		for name, create := range map[string]func(id snow.ID) *gorm.DB{
			"struct": func(id snow.ID) *gorm.DB { return s.db.Create(&Purchase{ID: id, BuyerID: 71}) },
			"slice": func(id snow.ID) *gorm.DB {
				return s.db.Create(&[]Purchase{{BuyerID: 71}, {ID: id, BuyerID: 71}})
			},
			"copy": func(id snow.ID) *gorm.DB { return s.db.Create(OptionalPurchase{ID: id, BuyerID: ptr(snow.ID(71))}) },
			"map": func(id snow.ID) *gorm.DB {
				return s.db.Model(&Purchase{}).Create(map[string]any{"ID": id, "BuyerID": 71})
			},
			"a parent": func(id snow.ID) *gorm.DB { return s.db.Create(&Purchase{ID: id, Buyer: &Buyer{ID: 71}}) },
			"an upsert": func(id snow.ID) *gorm.DB {
				return s.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&Purchase{ID: id, BuyerID: 71})
			},
			"save":      func(id snow.ID) *gorm.DB { return s.db.Save(&Purchase{ID: id, BuyerID: 71}) },
			"a pointer": func(id snow.ID) *gorm.DB { return s.db.Create(&OptionalPurchase{ID: id, BuyerID: ptr(snow.ID(71))}) },
			"a text":    func(id snow.ID) *gorm.DB { return s.db.Create(&TenantRow{ID: id.String(), Tenant: -71}) },
		} {
			good := right
			if name == "a text" {
				var err error
				if good, err = layout.WithShard(right, snow.HashShardInt(-71)); err != nil || layout.Shard(good) == layout.Shard(wrong) {
					t.Fatal(good, err)
				}
			}
			if err := create(good).Error; err != nil {
				t.Errorf("%s: the right shard: %v", name, err)
			}
			var field *gormsnow.FieldError
			if err := create(wrong).Error; !errors.As(err, &field) || field.Field != "ID" ||
				!strings.Contains(field.Reason, "the id 1048584 has the shard 8, and ") || !strings.Contains(field.Reason, " has the shard "+strconv.FormatUint(layout.Shard(good), 10)+",") {
				t.Errorf("%s: error %v, want a *FieldError with the id and both shards", name, err)
			}
			for _, table := range []string{"purchases", "optional_purchases", "tenant_rows"} {
				if n := count(t, s.db, table, "id", text); n != 0 {
					t.Errorf("%s: %s has the refused row", name, table)
				}
				if err := s.db.Exec("DELETE FROM ? WHERE id = ?", clause.Table{Name: table}, good.String()).Error; err != nil {
					t.Fatal(err)
				}
			}
		}
		for name, entry := range map[string]any{
			"int64": number, "text": text, "pointer": &number, "Valuer": sql.Null[int64]{V: number, Valid: true},
			"bytes": []byte(text), "float": float64(number), "expression": gorm.Expr("1048584"),
		} {
			var field *gormsnow.FieldError
			if err := s.db.Model(&Purchase{}).Create(map[string]any{"id": entry, "buyer_id": 71}).Error; !errors.As(err, &field) || field.Field != "ID" {
				t.Errorf("map, %s: error %v, want a *FieldError", name, err)
			}
		}
		// A text that is no id, and a row whose shard is not set, have no shard to compare.
		create(t, &TenantRow{ID: "a UUID, not an id", Tenant: 3})
		if err := s.db.Clauses(on(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"note"})}, "id")).Create(&Purchase{ID: wrong, Note: "x"}).Error; err != nil {
			t.Error(err)
		}
	})
	t.Run("ids stay different", func(t *testing.T) {
		rows := make([]Purchase, 500)
		seen := make(map[snow.ID]bool)
		for i := range rows {
			rows[i].BuyerID, rows[i].Note = 640, strconv.Itoa(i)
		}
		create(t, &rows)
		for _, row := range rows {
			seen[row.ID] = true
		}
		if len(seen) != len(rows) {
			t.Errorf("%d different ids of %d", len(seen), len(rows))
		}
	})
	t.Run("an upsert", func(t *testing.T) {
		if err := s.db.Exec("CREATE UNIQUE INDEX cities ON city_rows (city)").Error; err != nil {
			t.Fatal(err)
		}
		first, again := CityRow{City: "Trier"}, CityRow{City: "Trier"}
		create(t, &first)
		if err := s.db.Clauses(on(clause.OnConflict{DoNothing: true}, "city")).Create(&again).Error; err != nil {
			t.Fatal(err)
		}
		if *again.ID != *first.ID {
			t.Errorf("id %d, want %d", *again.ID, *first.ID)
		}
	})
}

func ptr[T any](v T) *T { return &v }
