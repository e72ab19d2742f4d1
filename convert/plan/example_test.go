package plan_test

import (
	"fmt"
	"strings"

	"github.com/shardsnow/snow/convert/plan"
)

// A plan is a file that people read and edit.
func Example() {
	p, err := plan.Read(strings.NewReader("version: 1\ndialect: MySQL\nserver: MariaDB 10.11.19\ntables: []\n"))
	fmt.Println(p.Server, err)
	// Output: MariaDB 10.11.19 <nil>
}

func ExampleRead() {
	_, err := plan.Read(strings.NewReader("verison: 1\n"))
	fmt.Println(err != nil)
	// Output: true
}

func ExampleWide() {
	fmt.Println(plan.Wide("int(11) unsigned"))
	// Output: bigint unsigned
}

func ExampleIsWide() {
	fmt.Println(plan.IsWide("bigint(20)"), plan.IsWide("int(11)"))
	// Output: true false
}
