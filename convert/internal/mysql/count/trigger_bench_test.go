package count

import (
	"fmt"
	"testing"
)

// BenchmarkInsert measures statements of a session on an idle server that syncs nothing: the cost of the triggers, and
// not of the disk.
func BenchmarkInsert(b *testing.B) {
	server := serve(b, "innodb-flush-log-at-trx-commit=0", "sync-binlog=0")
	const ten = "(1),(1),(1),(1),(1),(1),(1),(1),(1),(1)"
	snow := snowID
	tests := []struct {
		name, table string
		triggers    bool
		values      func() string
	}{
		{"native, one row", "orders", false, func() string { return "(n) VALUES (1)" }},
		{"native, ten rows", "orders", false, func() string { return "(n) VALUES " + ten }},
		{"counted, one row", "orders", true, func() string { return "(n) VALUES (1)" }},
		{"counted, ten rows", "orders", true, func() string { return "(n) VALUES " + ten }},
		{"snow id", "orders", true, func() string { snow++; return fmt.Sprintf("(id, n) VALUES (%d, 1)", snow) }},
		{"guarded, one row", "other", true, func() string { return "(n) VALUES (1)" }},
	}
	for _, test := range tests {
		b.Run(test.name, func(b *testing.B) {
			db := openDatabase(b, server, ordersTable, "CREATE TABLE other (id INT AUTO_INCREMENT PRIMARY KEY, n BIGINT)")
			if test.triggers {
				do(b, db, allSteps(planOf(counted1("orders", 1000)))[1:])
			}
			c := connect(b, db)
			for b.Loop() {
				must(b, c, "INSERT INTO "+test.table+" "+test.values())
			}
		})
	}
}
