// Command gen writes the orders that the example reads: the sales of a coffee
// shop in March 2026. The seed is fixed, so every run writes the same bytes.
package main

import (
	"bytes"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	orders = 2000
	buyers = 360
)

var (
	first = strings.Fields(`ada ali amara anna ben bo carla chen clara dario emma eva felix
		finn hana ida ines ivan jonas kai lea leo lina luca mara mia milo nina noah
		olga omar paul rosa sara sven tariq theo uma vera yuki`)
	last = strings.Fields(`adler bauer costa diallo eriksen fischer garcia haddad ito jansen
		keller lopez moreau novak okafor park rossi santos tanaka weber`)
)

// catalogue holds what is sold. A weight says how often, compared to the rest.
var catalogue = []struct {
	item   string
	cents  int
	weight int
	most   int // of it in one order
}{
	{"espresso beans 1 kg", 2190, 30, 3},
	{"filter beans 500 g", 1390, 26, 4},
	{"decaf beans 500 g", 1490, 9, 2},
	{"oat milk, 6 cartons", 1194, 18, 3},
	{"filter papers, 100", 449, 20, 5},
	{"cleaning tablets, 30", 1295, 8, 2},
	{"espresso cup", 990, 10, 6},
	{"milk jug", 2450, 5, 1},
	{"tamper 58 mm", 3990, 3, 1},
	{"hand grinder", 8900, 4, 1},
	{"kettle with thermometer", 7950, 3, 1},
	{"electric grinder", 24900, 2, 1},
	{"espresso machine", 64900, 1, 1},
}

// hours says how many orders come in at each hour of the day, compared to the rest.
var hours = [24]int{3, 1, 1, 1, 1, 2, 5, 9, 12, 12, 11, 11, 14, 12, 10, 10, 11, 13, 16, 20, 24, 22, 14, 7}

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	if len(os.Args) != 2 {
		log.Fatal("usage: gen FILE")
	}
	if err := os.WriteFile(os.Args[1], file(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// file returns the whole file. It is computed with integers only: floating
// point could round differently on another processor.
func file() []byte {
	rng := rand.New(rand.NewPCG(2026, 3))
	out := bytes.NewBufferString("buyer,item,amount,time\n")
	names, popularity := shoppers(rng)
	items := weights(len(catalogue), func(i int) int { return catalogue[i].weight })
	for _, at := range times(rng) {
		buyer := names[draw(rng, popularity)]
		c := catalogue[draw(rng, items)]
		item, n := c.item, 1+rng.IntN(c.most)
		if n > 1 {
			item = strconv.Itoa(n) + " x " + item
		}
		if strings.Contains(item, ",") {
			item = `"` + item + `"`
		}
		fmt.Fprintf(out, "%s,%s,%d,%s\n", buyer, item, n*c.cents, at.Format(time.RFC3339))
	}
	return out.Bytes()
}

// shoppers returns the buyers and how often each one buys: as in most shops, a
// few cafés and offices order all the time and most people once or twice.
func shoppers(rng *rand.Rand) (names []string, popularity []int) {
	for _, f := range first {
		for _, l := range last {
			names = append(names, f+"."+l)
		}
	}
	rng.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	return names[:buyers], weights(buyers, func(i int) int { return 100_000 / (i + 8) })
}

// times returns the instants of the orders, ascending.
func times(rng *rand.Rand) []time.Time {
	start := time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)
	hour := weights(len(hours), func(i int) int { return hours[i] })
	all := make([]time.Time, orders)
	for i := range all {
		all[i] = start.AddDate(0, 0, rng.IntN(31)).
			Add(time.Duration(draw(rng, hour)) * time.Hour).
			Add(time.Duration(rng.IntN(3600)) * time.Second)
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// weights returns the running totals of n weights, for draw.
func weights(n int, weight func(i int) int) []int {
	totals := make([]int, n)
	sum := 0
	for i := range totals {
		sum += weight(i)
		totals[i] = sum
	}
	return totals
}

// draw returns an index, each as likely as its weight.
func draw(rng *rand.Rand, totals []int) int {
	i, _ := slices.BinarySearch(totals, 1+rng.IntN(totals[len(totals)-1]))
	return i
}
