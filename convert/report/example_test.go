package report_test

import (
	"fmt"

	"github.com/shardsnow/snow/convert/report"
)

// A gate says what programs must do, and how the run goes on.
func Example() {
	fmt.Println(&report.GateError{Gate: "count", Step: "count orders", What: "read ids of 64 bits"})
	fmt.Println(report.Fault{Table: "orders", Column: "user_id", What: "its type is int", Remedy: "change it to bigint"})
	// Output:
	// the conversion waits at gate "count", before step "count orders": read ids of 64 bits
	// orders.user_id: its type is int; change it to bigint
}
