package meter_test

import (
	"fmt"

	"github.com/shardsnow/snow/gormsnow/route/meter"
)

// A page of a service shows how many databases a query asked on average.
func Example() {
	var router interface{ Stats() meter.Stats } = source{} // of route.RouterOf
	s := router.Stats()
	fmt.Printf("%d statements were refused because their shard was unknown\n", s.Refused["unrouted"])
	fmt.Printf("%.1f databases for each query about several\n", float64(s.Asked)/float64(s.Scattered))
	// Output:
	// 3 statements were refused because their shard was unknown
	// 2.5 databases for each query about several
}

type source struct{}

func (source) Stats() meter.Stats {
	return meter.Stats{
		Databases: []meter.Database{{Statements: 10}, {Statements: 9}, {Statements: 12}, {Statements: 11}},
		Refused:   map[string]uint64{"unrouted": 3},
		Scattered: 4, Asked: 10,
	}
}
