package page

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// grown returns the minutes that are known, the oldest first, as "minutes ago:growth".
func grown(points [hour]point) string {
	var all []string
	for i, p := range points {
		if p.known {
			all = append(all, fmt.Sprintf("%d:%.4g", hour-1-i, p.grown))
		}
	}
	return strings.Join(all, " ")
}

func TestMinutes(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name   string
		totals map[time.Duration]uint64
		now    time.Duration
		want   string
	}{
		{"nothing", nil, 0, ""},
		{"one total says nothing of what grew", map[time.Duration]uint64{0: 1000}, 0, "0:0"},
		{"in a minute", map[time.Duration]uint64{0: 1000, 10 * time.Second: 1005, 20 * time.Second: 1007}, 30 * time.Second, "0:7"},
		{"over the end of a minute", map[time.Duration]uint64{50 * time.Second: 0, 80 * time.Second: 30}, 80 * time.Second, "1:10 0:20"},
		{"a gap is spread evenly", map[time.Duration]uint64{0: 0, 3 * time.Minute: 180}, 3 * time.Minute, "3:60 2:60 1:60 0:0"},
		{"a total that went back", map[time.Duration]uint64{0: 500, 10 * time.Second: 3, 20 * time.Second: 5}, 20 * time.Second, "0:2"},
		{"an hour later", map[time.Duration]uint64{0: 0, 10 * time.Second: 9}, time.Hour, ""},
		{"the ring comes round", map[time.Duration]uint64{0: 0, 10 * time.Second: 9, time.Hour: 9, time.Hour + time.Second: 12}, time.Hour + time.Second, strings.TrimSpace(zeros(59)) + " 0:3"},
	} {
		var m minutes
		for second := range 3700 {
			if total, ok := tt.totals[time.Duration(second)*time.Second]; ok {
				m.observe(begin.Add(time.Duration(second)*time.Second), total)
			}
		}
		if got := grown(m.last(begin.Add(tt.now))); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	var m minutes // a clock that went back begins anew, and one that is far off ends nothing
	m.observe(begin, 10)
	m.observe(begin.Add(-time.Hour), 20)
	m.observe(begin.AddDate(5000, 0, 0), 30)
	m.observe(time.Time{}, 40)
	m.observe(time.Time{}.Add(time.Second), 50)
	m.last(begin)
}

func zeros(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf("%d:0 ", n-i)
	}
	return text
}

func TestSparks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, tt := range []struct {
		name            string
		points          map[int]float64 // by minutes ago
		path, sum, most string
	}{
		{"nothing is known", nil, "", "0", "0"},
		{"one minute", map[int]float64{0: 0}, "M59 16h.5", "0", "0"},
		{"a peak", map[int]float64{3: 100, 2: 1500, 1: 750}, "M56 14.9h.5L57 0L58 8", "2,350", "1,500 at 05:04"},
		{"a gap", map[int]float64{5: 1, 2: 1}, "M54 0h.5M57 0h.5", "2", "1 at 05:01"},
		{"the running minute is lower", map[int]float64{1: 10, 0: 4}, "M58 0h.5", "14", "10 at 05:05"},
		{"the running minute is higher", map[int]float64{1: 10, 0: 20}, "M58 8h.5L59 0", "30", "20 at 05:06"},
	} {
		var points [hour]point
		for ago, n := range tt.points {
			points[hour-1-ago] = point{n, true}
		}
		v := sparkOf("ids", false, points, now)
		if v.Path != tt.path || v.Sum != tt.sum || v.Most != tt.most {
			t.Errorf("%s: %+v", tt.name, v)
		}
	}
	for n, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567.4: "1,234,567", 3e15: "3e+15"} {
		if got := grouped(n); got != want {
			t.Errorf("%v: %q", n, got)
		}
	}
}

// Watch has the hour before the first look, and asks no database.
func TestWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var total Totals
		h := &Handler{reader: newReader(nil, Config{Totals: func() Totals {
			total.IDs += 5
			total.Refused++
			return total
		}})}
		go h.Watch(t.Context())
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		lines := h.reader.service.lines(time.Now())
		if len(lines) != 2 || lines[0].Name != "ids" || lines[0].Sum != "300" || lines[1].Sum != "60" || !lines[1].Bad {
			t.Errorf("%+v", lines)
		}
	})
	none := &Handler{reader: newReader(nil, Config{})}
	none.Watch(t.Context()) // returns
	if lines := none.reader.service.lines(time.Now()); lines != nil {
		t.Errorf("%+v", lines)
	}
}
