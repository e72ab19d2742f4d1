package edges

import (
	"encoding/json"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

type OrderV1 struct { // the answer for old clients
	Order
	ID int64 `json:"id"` // in place of Order.ID
}

// A field of the outer struct makes the id a number, and reading takes both forms.
func TestJSONNumbers(t *testing.T) {
	order := Order{ID: id}

	out, err := json.Marshal(OrderV1{order, int64(order.ID)})

	check(t, err)
	if got, want := string(out), `{"parent":null,"id":`+id.String()+`}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, text := range []string{string(out), `{"id":"` + id.String() + `"}`} {
		var back Order
		if err := json.Unmarshal([]byte(text), &back); err != nil || back.ID != id {
			t.Errorf("%s was read as %d, %v", text, back.ID, err)
		}
	}
	var rounded struct{ ID float64 } // as JavaScript reads it
	check(t, json.Unmarshal(out, &rounded))
	if snow.ID(rounded.ID) == id {
		t.Error("a float64 is exact: the page warns of nothing")
	}
}

type Item struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake" json:"id"`
}

// A model with the tag of the page gets ids, and is a number in JSON.
func TestNumberInModel(t *testing.T) {
	db := openDB(t)
	worker, err := snow.Fixed(snow.DefaultLayout(), 9)
	check(t, err)
	keys, err := snow.NewGenerator(worker, snow.Config{})
	check(t, err)
	check(t, db.Use(gormsnow.New(keys)))
	check(t, db.AutoMigrate(&Item{}))

	var item Item
	check(t, db.Create(&item).Error)
	out, err := json.Marshal(item)
	check(t, err)
	if got, want := string(out), `{"id":`+snow.ID(item.ID).String()+`}`; got != want || item.ID == 0 {
		t.Errorf("got %s, want %s", got, want)
	}
}

// An attribute that is a number is rounded by whoever reads numbers of JSON as JavaScript does.
func TestOpenTelemetry(t *testing.T) {
	order := Order{ID: id}

	attributes := []attribute.KeyValue{attribute.Stringer("order.id", order.ID)}

	if got := attributes[0].Value; got.Type() != attribute.STRING || got.AsString() != id.String() {
		t.Errorf("got %v of type %v, want the digits as a string", got.AsInterface(), got.Type())
	}
	out, err := json.Marshal(attribute.Int64("order.id", int64(id)))
	check(t, err)
	var got struct{ Value struct{ Value float64 } }
	check(t, json.Unmarshal(out, &got))
	if got.Value.Value == 0 || snow.ID(got.Value.Value) == id {
		t.Errorf("%s is read as %v: the page warns of nothing", out, got.Value.Value)
	}
}
