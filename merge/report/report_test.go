package report

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func sampleReport() *Report {
	worker := uint64(1023)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &Report{
		Run: "4be5", Sources: []string{"old", "new"}, Started: at, Finished: at.Add(1500 * time.Millisecond),
		Tables: []Table{
			{Table: "players", Source: "old", Worker: &worker, Rows: 10, Copied: 9, Rekeyed: 9, Merged: 1, Displacement: 2 * time.Second, Hash: "aa", Found: "aa"},
			{Table: "players", Source: "new", Rows: 5, Copied: 5, Hash: "bb", Found: "bb"},
		},
		Targets:    []Target{{Table: "players", Before: 1, Copied: 14, Rows: 15}},
		References: []Reference{{Table: "mails", Column: "body", Path: "$.to", Refers: "players", Checked: 3, Witnessed: 2, Undetermined: 1}},
		Assertions: []Assertion{{Name: "gold", Sources: map[string]string{"old": "1", "new": "2"}, Before: "0", Want: "3", Got: "3"}},
		Open:       []Open{{Kind: OpenUndecided, Source: "old", Table: "mails", Column: "from_id", Reason: "looks like ids"}},
	}
}

func TestReportAsText(t *testing.T) {
	var b strings.Builder
	if err := sampleReport().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	const want = `Merge of old, new, run 4be5
Verified 2026-01-02 03:04:05 UTC in 1.5s.

Table    Source  Rows  Copied  Re-keyed  Merged  Dropped  Renamed  Moved  Hash
players  old     10    9       9         1       0        0        2s     aa
players  new     5     5       0         0       0        0               bb

Table    Rows before  Copied  Later  Rows now
players  1            14      0      15

Reference        To       Checked  Orphans  Witnessed  Undetermined
mails.body $.to  players  3        0        2          1

Assertion  Want  Got
gold       3     3

OPEN: undecided, mails.from_id, source old: looks like ids
If none of the undecided columns has ids or such names, add this to the plan: plain: [mails.from_id]
Nothing was found wrong, but 1 thing was left open. Decide or look at it before you use the target.
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestReportFails(t *testing.T) {
	r := sampleReport()
	var open *OpenError
	if err := r.Err(); !errors.As(err, &open) || len(open.Open) != 1 {
		t.Errorf("got %v, want an *OpenError of 1", err)
	}
	decided := *r
	decided.Open = nil
	var whole strings.Builder
	if err := decided.WriteText(&whole); err != nil || decided.Err() != nil || !strings.HasSuffix(whole.String(), "\nEverything is as it should be.\n") {
		t.Errorf("with nothing open: got %v, %v and\n%s", err, decided.Err(), whole.String())
	}
	r.Add(Failure{Check: CheckReference, Source: "old", Table: "mails", Column: "body", Row: "7", Reason: "player 3 does not exist"})
	for range 30 {
		r.Add(Failure{Check: CheckRows, Table: "players", Reason: "missing"})
	}
	var failed *VerifyError
	if err := r.Err(); !errors.As(err, &failed) || failed.Failed != 31 || len(failed.Failures) != 1+MaxFailures {
		t.Fatalf("got %v, want 31 failures, %d of them listed", err, 1+MaxFailures)
	}
	const want = "merge: verify: 31 found wrong; reference, table mails, source old, column body, row 7: player 3 does not exist; "
	if !strings.HasPrefix(failed.Error(), want) {
		t.Errorf("got %q, want it to begin with %q", failed, want)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil || !strings.Contains(b.String(), "WRONG: reference, table mails, source old, column body, row 7") {
		t.Errorf("got %v and\n%s", err, b.String())
	}
}

func TestReportAsJSON(t *testing.T) {
	want := sampleReport()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(&got, want) {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
}
