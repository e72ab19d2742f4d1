package report_test

import (
	"errors"
	"fmt"

	"github.com/shardsnow/snow/merge/report"
)

// A program that reads what a verification found. The report comes from Merge.Run or
// Merge.Verify.
func Example() {
	r := new(report.Report)
	r.Add(report.Failure{Check: report.CheckReference, Source: "eu", Table: "mails", Column: "sender_id", Row: "7", Reason: "player 3 does not exist"})

	var failed *report.VerifyError
	if errors.As(r.Err(), &failed) {
		for _, f := range failed.Failures {
			fmt.Println(f)
		}
	}
	// Output: reference, table mails, source eu, column sender_id, row 7: player 3 does not exist
}
