package snow_test

import (
	"context"
	"fmt"
	"time"

	"github.com/shardsnow/snow"
)

// A backend of worker numbers of your own implements Worker with a Grant.
func ExampleNewGrant() {
	l := snow.DefaultLayout()
	grant, err := snow.NewGrant(l, time.Now()) // or the time of whoever grants the windows
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := snow.NewGenerator(leased{grant}, snow.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = gen.Next(context.Background())
	fmt.Println(err)

	tick := uint64(time.Since(l.Epoch()) / l.Tick())
	if err := grant.Open(snow.Window{Worker: 7, Floor: tick, Ceiling: tick + 60_000}); err != nil { // a minute
		fmt.Println(err)
		return
	}
	id, err := gen.Next(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := l.Decompose(id)
	fmt.Println(parts.Worker, err)
	// Output:
	// snow: next: the worker's granted ticks are used up
	// 7 <nil>
}

type leased struct{ grant *snow.Grant }

func (l leased) Grant() *snow.Grant { return l.grant }
