package preflight

import (
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A worker number must have an id at a time for each table that gets new ones, and the layout must have the datacenter.
func TestCheckRoom(t *testing.T) {
	layout, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 50, Datacenter: 1, Worker: 10, Sequence: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name       string
		tables     int
		datacenter uint64
		want       bool
	}{
		{"one table", 1, 0, true},
		{"as many as there are ids at a time", 4, 1, true},
		{"one more", 5, 0, false},
		{"the highest datacenter", 1, 1, true},
		{"a higher one", 1, 2, false},
	} {
		j := &work.Job{Plan: &plan.Plan{Sources: []string{"a", "b"}}, Datacenter: test.datacenter}
		for i := range test.tables {
			j.Plan.Tables = append(j.Plan.Tables, &plan.Table{Name: string(rune('a' + i)), NewIDs: []string{"a"}, Columns: []*plan.Column{{Name: "id", Role: plan.RoleKey}}})
		}
		// these need no id of the worker number
		j.Plan.Tables = append(j.Plan.Tables, &plan.Table{Name: "numbered", NewIDs: []string{"a"}, IDs: plan.IDsDense}, &plan.Table{Name: "kept", NewIDs: []string{"b"}}, &plan.Table{Name: "skipped", NewIDs: []string{"a"}, Skip: true})
		if err := CheckRoom(j, "a", sqlsnow.Reservation{Worker: 7, Layout: layout}); (err == nil) != test.want {
			t.Errorf("%s: got %v", test.name, err)
		}
	}
}
