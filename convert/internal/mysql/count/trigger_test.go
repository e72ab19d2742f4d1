package count

import (
	"testing"

	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/testkit/golden"
)

func TestTriggerTexts(t *testing.T) {
	c := newCounter(&plan.Table{Name: "orders", Key: "id", Block: 100})
	golden.Check(t, "testdata/before.sql", c.createBefore("")+"\n")
	golden.Check(t, "testdata/after.sql", c.createAfter("PRECEDES `theirs` ")+"\n")
	golden.Check(t, "testdata/guard.sql", createGuard("shop", "other.lines")+"\n")
	golden.Check(t, "testdata/taken.sql", c.createTaken()+"\n")
	c.scatter = true
	golden.Check(t, "testdata/before-scatter.sql", c.createBefore("")+"\n")
}
