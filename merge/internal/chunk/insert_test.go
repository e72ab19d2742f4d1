package chunk

import (
	"testing"

	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A chunk whose rows all go elsewhere inserts nothing. Nobody can be blamed if the connection is lost then.
func TestWriteNothing(t *testing.T) {
	engine, err := dialect.Of(sqlsnow.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	i := NewInserter(&Session{Engine: engine}, "orders", []*plan.Column{{Name: "id", Type: "bigint"}}) // without a connection
	if err := i.Write(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
