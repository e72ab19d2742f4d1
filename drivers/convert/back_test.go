package convert_test

import (
	"maps"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/testscale"
)

// From the end of each phase before Finish, the way back ends with the tables as they were, and with the
// rows of now. Old programs go on meanwhile.
func TestBack(t *testing.T) {
	eachSchema(t, []string{"chinook"}, func(_ *testing.T, w *world) {
		c := w.inspect(testscale.Long())
		before := c.widths()
		old := w.begin(w.writer(false), w.writer(false))
		for _, stop := range testscale.Of([]string{"count"}, []string{"widen", "count"}) {
			c.gates = nil
			for gate := c.run(stop); gate != ""; gate = c.run(stop) {
				c.pass(gate)
			}
			c.more(old, 20)
			if stop == "count" { // nobody has used a snow id yet
				c.verify()
			}
			c.back("")
			c.more(old, 20)
			if got := c.widths(); !maps.Equal(got, before) {
				c.Errorf("after %s and back: %v, want %v", stop, got, before)
			}
			c.same(true)
		}
		w.end(old)
		w.check()
	})
}

// Before Finish, new programs may stop and old ones come back: their numbers are small, and they go on behind the last
// ones.
func TestOldProgramsComeBack(t *testing.T) {
	eachSchema(t, []string{"chinook"}, func(_ *testing.T, w *world) {
		c := w.inspect(true)
		for gate := c.run("count"); gate != ""; gate = c.run("count") {
			c.pass(gate)
		}
		w.share(true, 1)
		fresh := w.begin(w.writer(true), w.writer(true))
		c.more(fresh, 60)
		w.end(fresh)
		old := w.begin(w.writer(false), w.writer(false))
		c.more(old, 60)
		w.end(old)
		w.check()
		c.verify()
	})
}
