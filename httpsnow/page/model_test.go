package page

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

func today() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

// spaceOf returns a namespace whose first numbers are held, whose next ones are late, and whose other ones are free.
func spaceOf(name string, held, late, free int) namespace {
	n := namespace{Namespace: sqlsnow.Namespace{Name: name, Layout: snow.DefaultLayout(), Window: 10 * time.Minute, PinnedWindow: 30 * time.Second}}
	for i := range held + late + free {
		w := sqlsnow.WorkerInfo{Worker: uint64(i), State: sqlsnow.Free, Leasable: today().Add(-time.Hour)}
		if i < held+late {
			w = sqlsnow.WorkerInfo{
				Worker: uint64(i), State: sqlsnow.Granted, Fence: 1, Holder: fmt.Sprintf("%s-%d", name, i), Claimed: today().Add(-time.Hour),
				Renewed: today(), RenewBy: today().Add(time.Minute), Ceiling: today().Add(10 * time.Minute), Leasable: today().Add(10 * time.Minute),
			}
		}
		if i >= held && i < held+late {
			w.RenewBy, w.Ceiling = today().Add(-time.Second), today().Add(time.Minute-time.Duration(i)*time.Second)
		}
		n.workers = append(n.workers, w)
	}
	return n
}

// fencedSpace returns a namespace that was fenced now.
func fencedSpace() namespace {
	n := spaceOf("shop", 0, 0, 3)
	for i := range n.workers {
		w := &n.workers[i]
		w.Fence, w.Claimed = 1, today().Add(-time.Hour)
		w.Floor = today().Add(n.FencedFor())
		w.Ceiling, w.Leasable = w.Floor, w.Floor
	}
	return n
}

func stateOf(name string, spaces ...namespace) state {
	return state{name: name, at: today(), now: today(), namespaces: spaces}
}

func TestAlarms(t *testing.T) {
	t.Parallel()
	down, skewed, back := stateOf("b"), stateOf("b", spaceOf("shop", 1, 1, 9)), stateOf("b")
	down.failing = today()
	skewed.now = today().Add(2 * time.Second)
	back.counters = []segments.Counter{{Tag: "orders", Regressed: true}, {Tag: "users"}}
	back.unread = true
	refused := [hour]point{hour - 2: {7, true}, hour - 1: {0, true}}
	for _, tt := range []struct {
		name        string
		databases   []state
		title, said string
		notes       []string
	}{
		{"nothing", []state{stateOf("a")}, "snow", "All is well.", nil},
		{"all is well", []state{stateOf("a", spaceOf("shop", 3, 0, 9))}, "snow", "All is well.", nil},
		{"one late", []state{stateOf("a", spaceOf("shop", 3, 1, 9))}, "(1 late) snow", "1 lease is late: shop 1.", nil},
		{
			"nine late",
			[]state{stateOf("a", spaceOf("chat", 29, 3, 900), spaceOf("game", 40, 0, 900), spaceOf("orders", 34, 6, 900))},
			"(9 late) snow", "9 leases are late: chat 3, orders 6.", nil,
		},
		{
			"two databases",
			[]state{stateOf("a", spaceOf("shop", 3, 2, 9)), down},
			"(1 down, 2 late) snow", "A database does not answer: b since 2026-03-04 05:06:07 UTC. 2 leases are late: shop of a 2.", nil,
		},
		{
			"a clock",
			[]state{skewed},
			"(1 late, clock) snow", "1 lease is late: shop 1. A clock is wrong: b: 2s ahead of this process's (give or take 0ms).", nil,
		},
		{"counters", []state{back}, "(1 regressed, unread) snow", "A counter went back and gives no numbers: orders. The counters can't be read: b.", nil},
		{"full", []state{stateOf("a", spaceOf("shop", 6, 0, 0))}, "snow", "All is well.", []string{"No number is free for a new process: shop"}},
		{"fenced", []state{stateOf("a", fencedSpace())}, "snow", "All is well.", []string{"New processes wait after a fence: shop until 05:18:09 UTC"}},
		{"nearly full", []state{stateOf("a", spaceOf("shop", 97, 0, 3))}, "snow", "All is well.", []string{"Few numbers are free: shop 3 of 100"}},
	} {
		lines := []sparkView{sparkOf("refusals", true, refused, today())}
		if tt.notes == nil {
			lines = nil
		}
		v := viewOf(snapshot{at: today(), databases: tt.databases}, time.Second, filterOf("no such thing"), lines)
		if v.Title != tt.title || v.Alarm.Said() != tt.said {
			t.Errorf("%s: %q, %q", tt.name, v.Title, v.Alarm.Said())
		}
		var notes []string
		for _, n := range v.Alarm.Notes {
			for _, l := range n.Links {
				n.Text += " " + l.Text
			}
			notes = append(notes, n.Text)
		}
		if tt.notes != nil {
			tt.notes = append(tt.notes, "7 requests were refused in the last 5 minutes.")
		}
		if fmt.Sprint(notes) != fmt.Sprint(tt.notes) {
			t.Errorf("%s: notes %q", tt.name, notes)
		}
	}
}

// A line on top names a dozen places, and counts the others.
func TestManyPlaces(t *testing.T) {
	t.Parallel()
	var all []namespace
	for i := range 15 {
		all = append(all, spaceOf(fmt.Sprint("n", i), 0, 1, 1))
	}
	v := viewOf(snapshot{databases: []state{stateOf("a", all...)}}, time.Second, filter{}, nil)
	if p := v.Alarm.Problems[0]; len(p.Links) != mostLinks || p.More != 3 || p.Links[0] != (linkView{"#n0-n0", "n0 1"}) {
		t.Errorf("%+v", p)
	}
}

// Problems come first: namespaces with late leases, late numbers in the list, and the window that ends first.
func TestOrder(t *testing.T) {
	t.Parallel()
	v := viewOf(snapshot{databases: []state{stateOf("a", spaceOf("chat", 2, 0, 3)), stateOf("b", spaceOf("game", 1, 0, 9), spaceOf("orders", 2, 2, 3))}}, time.Second, filter{}, nil)
	if v.Databases[0].Name != "b" || v.Databases[0].Namespaces[0].Name != "orders" || v.Databases[0].Namespaces[1].Name != "game" || v.Databases[1].Name != "a" {
		t.Errorf("%+v", v.Databases)
	}
	var rows []uint64
	for _, r := range v.Databases[0].Namespaces[0].Rows {
		rows = append(rows, r.Worker)
	}
	if fmt.Sprint(rows) != "[2 3 0 1]" {
		t.Errorf("rows %v", rows)
	}
	if len(v.Late) != 2 || v.Late[0].Worker != 3 || v.Late[0].Anchor != "n1-orders~3" || v.Late[0].NamespaceHref != "#n1-orders" || v.Late[1].Worker != 2 {
		t.Errorf("late %+v", v.Late)
	}
	many := spaceOf("many", 0, mostRows+30, 0)
	v = viewOf(snapshot{databases: []state{stateOf("a", spaceOf("calm", 7, 0, 0), many)}}, time.Second, filter{}, nil)
	if d := v.Databases[0]; d.Rows != mostRows || d.MoreRows != 37 || len(v.Late) != mostLate || v.MoreLate != mostRows+10 {
		t.Errorf("%d rows and %d more, %d late and %d more", d.Rows, d.MoreRows, len(v.Late), v.MoreLate)
	}
}

func TestReservedRows(t *testing.T) {
	t.Parallel()
	n := spaceOf("shop", 1, 0, 6)
	for i, holder := range []string{"", "import", "import", "other", "", "import", "import"} {
		if holder != "" {
			n.workers[i].State, n.workers[i].Holder = sqlsnow.Reserved, holder
		}
	}
	v, _ := namespaceViewOf(n, "n0-shop", today(), filter{}, mostRows)
	var rows []string
	for _, r := range v.Rows {
		rows = append(rows, fmt.Sprint(r.Worker, "-", r.Last, r.Holder))
	}
	if got := strings.Join(rows, " "); got != "0-0shop-0 1-2import 3-3other 5-6import" || v.Grid.Cells[2].Row != "n0-shop~1" {
		t.Errorf("%s, %+v", got, v.Grid.Cells[2])
	}
}

func TestGrids(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		numbers, each, cells int
	}{{0, 1, 0}, {6, 1, 6}, {1024, 1, 1024}, {1025, 2, 513}, {65_536, 64, 1024}} {
		g := gridOf(numbersOf(spaceOf("shop", 0, 0, tt.numbers)), today())
		if g.Each != tt.each || len(g.Cells) != tt.cells {
			t.Errorf("%d numbers: %d in each of %d cells", tt.numbers, g.Each, len(g.Cells))
		}
	}
	// The cell of several numbers has the state that needs attention first.
	n := spaceOf("shop", 3, 1, 2044)
	n.workers[2].Worker = 2
	g := gridOf(numbersOf(n), today())
	if c := g.Cells[0]; c.State != "held" || c.Label != "0–1: 2 held" || c.Row != "n0-shop~0" {
		t.Errorf("%+v", c)
	}
	if c := g.Cells[1]; c.State != "late" || c.Label != "2–3: 1 held, 1 late" || c.Row != "n0-shop~3" {
		t.Errorf("%+v", c)
	}
	if c := g.Cells[2]; c != (cellView{State: "free"}) {
		t.Errorf("%+v", c)
	}
}

func numbersOf(n namespace) []number {
	all := make([]number, len(n.workers))
	for i, w := range n.workers {
		all[i] = number{WorkerInfo: w, state: "free", chosen: true}
		if w.State == sqlsnow.Granted {
			all[i].state, all[i].row = "held", rowAnchor("n0-"+n.Name, w.Worker)
			if w.RenewBy.Before(today()) {
				all[i].state = "late"
			}
		}
	}
	return all
}

func TestShortened(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 250) + "-the-end"
	if got := shortened(long); utf8.RuneCountInString(got) != longestHolder || !strings.HasSuffix(got, "ä-the-end") || !strings.Contains(got, "…") {
		t.Errorf("%q", got)
	}
	if got := shortened(long[:60]); got != long[:60] {
		t.Errorf("%q", got)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"", true},
		{"  ", true},
		{"ORD", true},
		{"orders 17", true},
		{"17 late pod", true},
		{"1", false},
		{"held", false},
		{"la", false},
		{"orders 18", false},
	} {
		if got := filterOf(tt.text).number("orders", "late", "Pod-x", 17); got != tt.want {
			t.Errorf("%q: %v", tt.text, got)
		}
	}
	if f := filterOf("use rs"); !f.tag("Users") || f.tag("orders") {
		t.Errorf("tags: %+v", f)
	}
	v := viewOf(snapshot{databases: []state{stateOf("a", spaceOf("chat", 2, 0, 3), spaceOf("orders", 2, 0, 3))}}, time.Second, filterOf("chat-1"), nil)
	if got := v.href("n0-orders"); got != "./#n0-orders" {
		t.Errorf("a link to what the filter leaves out: %s", got)
	}
	d := v.Databases[0]
	if len(d.Namespaces) != 1 || d.Hidden != 1 || d.Rows != 1 || d.Namespaces[0].Rows[0].Worker != 1 {
		t.Errorf("%+v", d)
	}
	if cells := d.Namespaces[0].Grid.Cells; !cells[0].Dim || cells[1].Dim || !cells[4].Dim {
		t.Errorf("%+v", cells)
	}
}

func FuzzFilter(f *testing.F) {
	f.Add("orders LATE 17", "Orders-ä")
	f.Add("\xff\xfe", "\x00")
	f.Add(strings.Repeat("ß", 200), "SS")
	f.Fuzz(func(t *testing.T, text, holder string) {
		one := filterOf(text)
		if again := filterOf(one.text); again.text != one.text || len(again.words) != len(one.words) {
			t.Errorf("%q is read again as %q", one.text, again.text)
		}
		if !utf8.ValidString(one.text) || len(one.text) > longestQuery {
			t.Errorf("%q", one.text)
		}
		one.number("shop", "held", holder, 1)
		one.tag(holder)
		if !filterOf("").number("shop", "held", holder, 1) {
			t.Error("no words choose everything")
		}
	})
}

func TestProducts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		dialect       sqlsnow.Dialect
		version, want string
	}{
		{sqlsnow.MySQL, "9.7.0", "MySQL 9.7.0"},
		{sqlsnow.MySQL, "8.0.36-0ubuntu0.22.04.1", "MySQL 8.0.36"},
		{sqlsnow.MySQL, "10.11.19-MariaDB-0+deb12u1", "MariaDB 10.11.19"},
		{sqlsnow.MySQL, "5.5.5-10.4.8-MariaDB-log", "MariaDB 10.4.8"},
		{sqlsnow.MySQL, "8.0.11-TiDB-v7.5.0", "TiDB 8.0.11"},
		{sqlsnow.Postgres, "PostgreSQL 17.6 (Debian 17.6-1) on x86_64-pc-linux-gnu, compiled by gcc", "PostgreSQL 17.6"},
		{sqlsnow.Postgres, "CockroachDB CCL v23.1.0 (x86_64)", "CockroachDB CCL v23.1.0"},
		{sqlsnow.Postgres, "", "PostgreSQL"},
		{sqlsnow.SQLite, "3.50.4", "SQLite 3.50.4"},
	} {
		if got := productOf(tt.dialect, tt.version); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.version, got, tt.want)
		}
	}
}

func FuzzProduct(f *testing.F) {
	f.Add("PostgreSQL 17.6 (Debian)")
	f.Add("5.5.5-10.4.8-MariaDB\xff" + strings.Repeat("x", 100))
	f.Fuzz(func(t *testing.T, version string) {
		for _, d := range []sqlsnow.Dialect{sqlsnow.MySQL, sqlsnow.Postgres, sqlsnow.SQLite} {
			if got := productOf(d, version); !utf8.ValidString(got) || len(got) > longestProduct+10 || got == "" {
				t.Errorf("%v, %q: %q", d, version, got)
			}
		}
	})
}
