//go:build unix

package merge_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// The server makes numbers as this process does, also after an interruption, and verifies them.
func TestServerNumbers(t *testing.T) {
	const rows = 3000
	for _, kind := range []plan.IDs{plan.IDsDense, plan.IDsOffset} {
		for _, packRows := range []int{-1, rows} {
			for _, phase := range []string{"", "mint", "copy"} {
				t.Run(fmt.Sprint(kind, packRows, phase), func(t *testing.T) {
					insert := fmt.Sprintf("INSERT INTO orders SELECT seq * 3, '2024-05-01' FROM seq_1_to_%d", rows)
					f := newFixture(t, "", []string{"CREATE TABLE orders (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, created_at DATETIME)"}, []string{insert}, []string{insert})
					orders := f.plan.Table("orders")
					orders.IDs, orders.Created, orders.Leave = kind, "created_at", 500
					f.config.Namespace, f.config.Registry, f.config.PackRows = "", nil, packRows
					f.tables()
					if phase != "" {
						f.interrupt(phase, rows/2)
					}
					if err := f.run(); err != nil {
						t.Fatal(err)
					}
					f.wantPacks(packRows > 0)
					direct, read := f.byServer()
					if !strings.Contains(direct, "orders") || read != "" {
						t.Errorf("the server copied %q, and %q were read", direct, read)
					}
					lines := f.exported()
					if len(lines) != 2*rows {
						t.Fatalf("%d ids are exported", len(lines))
					}
					for i, line := range lines {
						old, id := 3*(i%rows+1), i+1
						if kind == plan.IDsOffset {
							if id = old; i >= rows {
								id += 9000 // the highest old id is 9000, and the lowest 3
							}
						}
						if want := strconv.Itoa(old) + " " + strconv.Itoa(id); line != want {
							t.Fatalf("line %d: got %s, want %s", i, line, want)
						}
					}
					highest := 2 * rows
					if kind == plan.IDsOffset {
						highest = 18_000
					}
					f.exec(f.target, "INSERT INTO orders (created_at) VALUES (NULL)")
					if got := f.rows(f.target, "SELECT MAX(id) FROM orders"); got != strconv.Itoa(highest+501) {
						t.Errorf("the next row has the id %s, want %d", got, highest+501)
					}
				})
			}
		}
	}
}

// A number that is not the row's own is found, also where it is free and in its place.
func TestServerVerifiesNumbers(t *testing.T) {
	for kind, to := range map[plan.IDs]string{plan.IDsDense: "5000", plan.IDsOffset: "301"} {
		f := newFixture(t, "", []string{"CREATE TABLE orders (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY)"}, []string{"INSERT INTO orders SELECT seq * 3 FROM seq_1_to_1000"})
		f.plan.Table("orders").IDs = kind
		f.tables()
		if err := f.run(); err != nil {
			t.Fatal(err)
		}
		f.exec(f.target, "UPDATE orders, snow_merge_map SET orders.id = "+to+", new_id = "+to+" WHERE old_id = 300 AND orders.id = new_id")
		found, err := f.merge().Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(found.Failures, func(got report.Failure) bool {
			return got.Check == report.CheckMap && got.Row == "[300]" && got.Target == "["+to+"]" && strings.Contains(got.Reason, "not one of those that were reserved")
		}) {
			t.Errorf("%s: got %v", kind, found.Failures)
		}
	}
}
