//go:build unix

package merge_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// state is all that the databases have.
func (f *fixture) state() string {
	f.Helper()
	var b strings.Builder
	dbs := append(f.sources[:len(f.sources):len(f.sources)], f.sources[0])
	dbs[len(f.sources)].DB = f.target
	for _, s := range dbs {
		tables := strings.Fields(f.rows(s.DB, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1"))
		b.WriteString(f.rows(s.DB, "CHECKSUM TABLE "+strings.Join(tables, ", ")+" EXTENDED") + "\n")
	}
	return b.String()
}

// A dry run with a throttle reads no faster, has no transaction open between two reads, writes nothing, and tells
// what the run then does.
func TestThrottle(t *testing.T) {
	for name, tt := range map[string]struct {
		f        func(*testing.T) *fixture
		throttle int
		most     int // rows of a read
	}{
		"guilds": {func(t *testing.T) *fixture {
			f := newFixture(t, "", guildServer, guildRows("eu"), guildRows("us"))
			f.decideGuilds(plan.IDsDense, 1)
			return f
		}, 4000, 1000},
		"leaving": {leaving, 40, 10},
	} {
		t.Run(name, func(t *testing.T) {
			f := tt.f(t)
			before := f.state()
			free, err := f.merge().DryRun(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			f.config.Throttle = tt.throttle
			var rows int64
			f.config.Events = func(e report.Event) {
				if e.Kind != report.EventChunk {
					return
				}
				rows += int64(e.Chunk)
				if e.Chunk > tt.most && e.Table != "visits" { // which has no key
					t.Errorf("%d rows of %s were read at once", e.Chunk, e.Table)
				}
				const open = "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id <> CONNECTION_ID()"
				if got := f.rows(f.config.Registry, open); got != "0" {
					t.Errorf("after a chunk of %s, %s transactions are open", e.Table, got)
				}
			}
			begun := time.Now()
			forecast, err := f.merge().DryRun(t.Context())
			took := time.Since(begun)
			if err == nil {
				err = forecast.Err()
			}
			if err != nil {
				t.Fatal(err)
			}
			f.config.Events = nil
			if least := time.Duration(rows) * time.Second / time.Duration(tt.throttle); took < least || forecast.Waited <= 0 || forecast.Waited >= forecast.Took {
				t.Errorf("%d rows took %v, want at least %v; the forecast says %v, of which %v were waited", rows, took, least, forecast.Took, forecast.Waited)
			}
			if forecast.Estimate != 7*(forecast.Took-forecast.Waited) {
				t.Errorf("the run is estimated at %v: %v, of which %v were waited", forecast.Estimate, forecast.Took, forecast.Waited)
			}
			if after := f.state(); after != before {
				t.Errorf("something was written: got\n%s\nwant\n%s", after, before)
			}
			forecast.Took, forecast.Waited, forecast.Estimate, free.Took, free.Estimate = 0, 0, 0, 0, 0
			if !reflect.DeepEqual(forecast, free) {
				t.Errorf("with a throttle the forecast is\n%+v\nwithout one\n%+v", forecast, free)
			}
			found, err := f.merge().Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			done := map[[2]string]report.Table{}
			for _, table := range found.Tables {
				done[[2]string{table.Table, table.Source}] = table
			}
			for _, want := range forecast.Tables {
				got := done[[2]string{want.Table, want.Source}]
				if got.Rows != want.Rows || got.Rekeyed != want.Rekeyed || got.Merged != want.Merged || got.Dropped != want.Dropped || got.Renamed != want.Renamed {
					t.Errorf("the run did\n%+v\nand the forecast was\n%+v", got, want)
				}
			}
		})
	}
}

// Rows that only a temporary table can judge are left open: the transaction would be a long one.
func TestThrottleWithoutTrials(t *testing.T) {
	f := newFixture(t, "", []string{"CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n INT, twice INT AS (n * 2) STORED)"}, []string{"INSERT INTO t (n) VALUES (1), (2)"})
	f.tables()
	f.config.Throttle = 1000
	forecast, err := f.merge().DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, open := range forecast.Open {
		if open.Table == "t" && strings.Contains(open.Reason, "with a throttle that would be a long transaction") {
			return
		}
	}
	t.Errorf("got %+v", forecast.Open)
}
