package rows

import (
	"math/rand/v2"
	"time"
)

// columns is how many values an order has, with its key.
const columns = 6

// items are the texts of orders; they only take space.
var items = []string{
	"bicycle bell, brass", "desk lamp with a clamp, 40 cm", "kettle, enamelled, 2 l", "linen tablecloth, 140 x 220 cm",
	"notebook, ruled, 192 pages", "rain jacket, size M, dark blue", "teapot with a strainer, glass", "wall clock",
}

// orders makes the rows, the same ones in every run of a seed: 20 for each buyer, in random order, one every 10 ms.
type orders struct {
	rand    *rand.Rand
	buyers  int64
	created time.Time
}

func newOrders(rows int, seed uint64) *orders {
	return &orders{
		rand:    rand.New(rand.NewPCG(1, seed)),
		buyers:  int64(max(1, rows/20)),
		created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

// append adds the values of the next order, all but the key.
func (o *orders) append(args []any) []any {
	o.created = o.created.Add(10 * time.Millisecond)
	return append(args, 1+o.rand.Int64N(o.buyers), o.rand.Int64N(5), o.created, 100+o.rand.Int64N(100_000),
		items[o.rand.IntN(len(items))])
}

// A reservoir keeps a random sample of the values offered to it. Each value is in the sample with the same probability.
type reservoir struct {
	rand   *rand.Rand
	seen   int
	sample []any
}

func newReservoir(size int) *reservoir {
	return &reservoir{rand: rand.New(rand.NewPCG(3, 4)), sample: make([]any, 0, size)}
}

func (r *reservoir) offer(values []any) {
	for _, v := range values {
		r.seen++
		if len(r.sample) < cap(r.sample) {
			r.sample = append(r.sample, v)
		} else if i := r.rand.IntN(r.seen); i < len(r.sample) {
			r.sample[i] = v
		}
	}
}

// shuffled returns the sample in random order.
func (r *reservoir) shuffled() []any {
	r.rand.Shuffle(len(r.sample), func(i, j int) { r.sample[i], r.sample[j] = r.sample[j], r.sample[i] })
	return r.sample
}
