//go:build unix

package merge_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// New ids have the times of their rows, whatever the dates are, and the order of the old ids.
func TestIDsOfDates(t *testing.T) {
	rows := testscale.Of(4000, 9000)
	few := map[string]bool{"DATETIME(6)": true, "DATE": true, "DATETIME(3)": true}
	for typ, date := range map[string]string{
		"DATETIME(6)":       "TIMESTAMPADD(MICROSECOND, seq * 7001 % 1000003, '2024-03-01')", // not in order
		"DATETIME":          "TIMESTAMPADD(SECOND, seq DIV 50, '2023-12-31 23:59:00')",       // from before the epoch on
		"DATE":              "TIMESTAMPADD(DAY, seq DIV 3000, '2024-03-01')",                 // more in a tick than it has ids
		"TIMESTAMP(3) NULL": "IF(seq % 3 = 0, NULL, TIMESTAMPADD(HOUR, seq, '2024-01-01'))",
		"DATETIME(3)":       "IF(seq % 3 = 0, '0000-00-00', TIMESTAMPADD(YEAR, seq, '1990-01-01'))", // up to far in the future
		"DATETIME(1)":       "'2024-03-01'",                                                         // and does not date ids
	} {
		for _, packRows := range []int{-1, rows} {
			t.Run(fmt.Sprint(typ, packRows), func(t *testing.T) {
				if !few[typ] {
					testscale.NeedLong(t)
				}
				f := newFixture(t, "", []string{"CREATE TABLE orders (id BIGINT PRIMARY KEY, created_at " + typ + ")"}, []string{
					"SET SESSION sql_mode = '', time_zone = '+00:00'",
					fmt.Sprintf("INSERT INTO orders SELECT CAST(seq AS SIGNED) * 3 - 2000, %s FROM seq_1_to_%d", date, rows),
				})
				dated := typ != "DATETIME(1)"
				if f.plan.Tables[0].Created = ""; dated {
					f.plan.Tables[0].Created = "created_at"
				}
				f.config.ChunkRows, f.config.Writers, f.config.PackRows = 1000, 3, packRows
				f.tables()
				begun := time.Now()
				report, err := f.merge().Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				layout := snow.DefaultLayout()
				const width = 1 << 12
				last, exact, late := int64(1<<18*width-1), 0, time.Duration(0) // ids are 2^40 at least
				old := strings.Split(f.rows(f.sources[0].DB, "SELECT id, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', created_at) FROM orders ORDER BY id"), "\n")
				minted := f.exported()
				f.wantPacks(packRows > 0)
				if len(minted) != rows || len(old) != rows {
					t.Fatalf("%d rows have %d ids", len(old), len(minted))
				}
				for i := range old {
					before, after := strings.Fields(old[i]), strings.Fields(minted[i])
					if before[0] != after[0] {
						t.Fatalf("row %s: got the id of %s", before[0], after[0])
					}
					n, _ := strconv.ParseInt(after[1], 10, 64)
					parts, err := layout.Decompose(snow.ID(n))
					if err != nil {
						t.Fatal(err)
					}
					if parts.Worker != uint64(*report.Tables[0].Worker) {
						t.Fatalf("row %s: got worker %d, want %d", before[0], parts.Worker, *report.Tables[0].Worker)
					}
					place, least := n>>22*width+int64(parts.Sequence), last+1
					if micros, err := strconv.ParseInt(before[1], 10, 64); err == nil && dated {
						created := time.UnixMicro(micros)
						key, _ := strconv.ParseInt(before[0], 10, 64)
						start := max(1<<18, created.Sub(layout.Epoch()).Milliseconds())*width + max(key%(width/2), -key%(width/2))
						if created.After(begun) { // its id is of today
							if least = max(least, begun.Sub(layout.Epoch()).Milliseconds()*width); time.Since(parts.Time) < 0 {
								t.Fatalf("row %s, date %s: got an id of %v", before[0], before[1], parts.Time)
							}
						} else {
							least = max(least, start)
						}
						if place == start {
							exact++
						}
						late = max(late, parts.Time.Sub(created))
					} else if place == 1<<18*width {
						exact++
					}
					if last >= place || place < least || place > least+2000+width && !parts.Time.After(begun) {
						t.Fatalf("row %s, date %s: got place %d after %d, want %d or a little more", before[0], before[1], place, last, least)
					}
					last = place
				}
				if exact == 0 {
					t.Error("no id has the first place of its tick")
				}
				if got := report.Tables[0].Displacement; got < late || got > max(0, late+layout.Tick()-1) {
					t.Errorf("got a displacement of %v, want %v", got, late)
				}
			})
		}
	}
}

// exported returns the old and the new ids of the map.
func (f *fixture) exported() []string {
	f.Helper()
	var text strings.Builder
	if err := merge.Export(f.Context(), sqlsnow.MySQL, f.target, &text); err != nil {
		f.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")[1:]
	for i, line := range lines {
		fields := strings.Split(line, ",")
		lines[i] = fields[2] + " " + fields[3]
	}
	return lines
}

// wantPacks fails unless the map has packs and no rows, or rows and no packs.
func (f *fixture) wantPacks(want bool) {
	f.Helper()
	got := f.rows(f.target, "SELECT EXISTS (SELECT 1 FROM snow_merge_packs), EXISTS (SELECT 1 FROM snow_merge_map)")
	if got != "1 0" && want || got != "0 1" && !want {
		f.Errorf("packs and rows of the map: got %s, want packs: %t", got, want)
	}
}

// A source whose rows go while their new ids are made is read on, and ids ascend.
func TestIDsOfChangingSource(t *testing.T) {
	for _, packRows := range []int{-1, 1} {
		t.Run(strconv.Itoa(packRows), func(t *testing.T) { idsOfChangingSource(t, packRows) })
	}
}

func idsOfChangingSource(t *testing.T, packRows int) {
	f := newFixture(t, "", []string{"CREATE TABLE orders (id INT PRIMARY KEY, created_at DATETIME(3))"}, []string{
		"INSERT INTO orders SELECT seq, TIMESTAMPADD(SECOND, seq, '2024-05-01') FROM seq_1_to_20000",
	})
	f.plan.Tables[0].Created = "created_at"
	f.config.ChunkRows, f.config.PackRows = 500, packRows
	f.tables()
	var once atomic.Bool
	f.config.Events = func(e report.Event) {
		if e.Kind == report.EventChunk && e.Phase == "mint" && e.Rows > 3000 && once.CompareAndSwap(false, true) {
			f.exec(f.sources[0].DB, "DELETE FROM orders WHERE id BETWEEN 3100 AND 19000 AND id % 7 = 0")
		}
	}
	err := f.run() // what was minted for rows that are gone now is found when they are copied
	var changed *report.ChangedError
	if err != nil && !errors.As(err, &changed) {
		t.Fatal(err)
	}
	last := int64(0)
	for _, line := range f.exported() {
		_, text, _ := strings.Cut(line, " ")
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= last {
			t.Fatalf("%s: got %v, and the id before is %d", line, err, last)
		}
		last = id
	}
	holes := `SELECT COUNT(*), MAX(seq), SUM(rows_read) = (SELECT COUNT(*) FROM snow_merge_map) + (SELECT COALESCE(SUM(size), 0) FROM snow_merge_packs),
		(SELECT COUNT(*) FROM snow_merge_chunks AS a LEFT JOIN snow_merge_chunks AS b ON b.phase = 'mint' AND b.seq = a.seq - 1 WHERE a.phase = 'mint' AND NOT (a.lo <=> b.hi))
		FROM snow_merge_chunks WHERE phase = 'mint'`
	if got := strings.Fields(f.rows(f.target, holes)); got[0] != got[1] || got[2] != "1" || got[3] != "0" {
		t.Errorf("the ranges do not follow on each other: %s", got)
	}
}
