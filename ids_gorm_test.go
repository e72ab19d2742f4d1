package snow_test

import (
	"sync"
	"testing"

	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
)

// GORM makes a column of PostgreSQL's array type for a field that is a list of ids.
func TestGormDataTypes(t *testing.T) {
	type cart struct {
		ID    snow.ID
		Items snow.IDs
	}
	parsed, err := schema.Parse(&cart{}, new(sync.Map), schema.NamingStrategy{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]schema.DataType{"ID": "bigint", "Items": "bigint[]"} {
		if field := parsed.LookUpField(name); field == nil || field.DataType != want {
			t.Errorf("the field %s is %+v, want the type %s", name, field, want)
		}
	}
}
