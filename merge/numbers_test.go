//go:build unix

package merge_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// New ids are numbers in the order of the old ids, also after an interruption, and are verified.
func TestNumbers(t *testing.T) {
	const rows = 600
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
					lines := f.exported()
					if len(lines) != 2*rows {
						t.Fatalf("%d ids are exported", len(lines))
					}
					for i, line := range lines {
						old, id := 3*(i%rows+1), i+1
						if kind == plan.IDsOffset {
							if id = old; i >= rows {
								id += 3 * rows // the highest old id; the lowest is 3
							}
						}
						if want := strconv.Itoa(old) + " " + strconv.Itoa(id); line != want {
							t.Fatalf("line %d: got %s, want %s", i, line, want)
						}
					}
					highest := 2 * rows
					if kind == plan.IDsOffset {
						highest = 6 * rows
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
