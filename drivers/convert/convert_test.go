package convert_test

import (
	"flag"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/testscale"
)

var seed = flag.Uint64("seed", 1, "seed of the writers, and of the moments in which runs are killed")

// The whole conversion, with old and new programs at work.
func TestConvert(t *testing.T) {
	eachSchema(t, []string{"shop"}, func(_ *testing.T, w *world) { w.whole(true, 0) })
}

// By the plan as it is proposed: small tables change at once.
func TestConvertSmall(t *testing.T) {
	eachSchema(t, []string{"chinook"}, func(_ *testing.T, w *world) { w.whole(false, 0) })
}

// The same, and runs are killed at random statements, and continued.
func TestKilled(t *testing.T) {
	eachSchema(t, []string{"flarum"}, func(_ *testing.T, w *world) { w.whole(true, testscale.Of(5, 50)) })
}

// whole converts the world to the end.
func (w *world) whole(online bool, kills int) {
	w.Helper()
	w.fillBulk()
	c := w.inspect(online)
	c.kills = kills
	old := w.begin(w.writer(false), w.writer(false))
	c.more(old, 20)
	gate := c.run("")
	for gate == "widen" || gate == "count" {
		c.more(old, 20) // between the phases
		old = w.restart(old)
		c.pass(gate)
		gate = c.run("")
	}
	if gate != "finish" {
		c.Fatalf("stopped at gate %q, want finish", gate)
	}
	if c.verify(); kills == 0 {
		c.same(true)
	}
	w.share(true, 1) // rows with snow ids, to which old programs refer, too
	fresh := w.begin(w.writer(true), w.writer(true))
	c.more(old, testscale.Of(60, 600))
	c.more(fresh, testscale.Of(60, 600))
	w.end(old)
	for gate != "" { // on MySQL there is one more: no row without an id has come for a while
		c.pass(gate)
		c.more(fresh, 20)
		gate = c.run("")
	}
	c.more(fresh, testscale.Of(20, 200))
	w.end(fresh)
	c.verify()
	c.same(false)
	w.check()
	w.checkBulk()
	for column, kind := range c.widths() {
		if kind != "bigint" {
			c.Errorf("%s is %s", column, kind)
		}
	}
	if c.kills > 0 {
		c.Logf("the conversion was done before the last %d kills", c.kills)
	}
	c.Logf("%d kills; the longest statement of a writer in each step, of how long the step took, and what it said:\n%s", c.died, w.blocked.table(c.blocks))
}
