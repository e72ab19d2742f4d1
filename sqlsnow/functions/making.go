package functions

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
)

const (
	// maxSkew is how far the clock of a new primary may be behind the old primary's. A new primary makes its
	// first id that much later.
	maxSkew = time.Second

	// patience is how long snow_next_id waits for the clock. If the clock is further behind the ids, it is an error.
	patience = 10 * time.Second

	// longestTick keeps the wait of a new session, and of a server after a start, short.
	longestTick = time.Second
)

// A maker writes snow_next_id for a layout and a worker number. Beside the values of arithmetic it has positions:
// tick | count. The count has the bits of the sequence, and its lowest bits are the lane, so ids take turns over
// the lanes.
type maker struct {
	arithmetic
	datacenter, worker uint64
}

func makerOf(d sqlsnow.Dialect, l snow.Layout, datacenter, worker uint64) (maker, error) {
	a, err := arithmeticOf(d, l)
	if err != nil {
		return maker{}, err
	}
	if l.Tick() > longestTick {
		return maker{}, &snow.FieldError{Field: "tick", Value: l.Tick().String(), Bound: "to make ids in SQL it may have at most " + longestTick.String()}
	}
	if bound := uint64(1) << a.bits.Datacenter; datacenter >= bound {
		return maker{}, &snow.FieldError{Field: "Datacenter", Value: number(datacenter), Bound: "the highest of the layout is " + number(bound-1)}
	}
	return maker{a, datacenter, worker}, nil
}

// words is the name of what counts the positions of the worker. Each number has its own, so that none is ever set back.
func (m maker) words() string {
	return fmt.Sprintf("snow_id_words_%d_%d", m.datacenter, m.worker)
}

func (m maker) comment() string {
	return fmt.Sprintf("%s, worker %d of datacenter %d", m.arithmetic.comment(), m.worker, m.datacenter)
}

// id returns the id of a position.
func (m maker) id(position string) string {
	lane, shard, rest := int(m.bits.Lane), int(m.bits.Shard), m.rest()
	constant := (m.datacenter<<m.bits.Worker | m.worker) << (rest + shard)
	return or(m.join(m.tickIn(position), low(position, lane)), number(constant), left(right(m.countIn(position), lane), shard), m.shard(position))
}

// tickIn returns the tick of a position, and countIn its count.
func (m maker) tickIn(position string) string  { return right(position, int(m.bits.Sequence)) }
func (m maker) countIn(position string) string { return low(position, int(m.bits.Sequence)) }

// shard spreads the positions over the shards, as the generators of package snow do: the top bits of the multiples
// of a number near 2^31 over the golden ratio.
func (m maker) shard(position string) string {
	bits := min(int(m.bits.Shard), 31)
	if bits == 0 {
		return "0"
	}
	return low(right("("+low(position, 31)+" * 1327217885)", 31-bits), bits)
}

// fill replaces the names in braces. All texts have the first ones.
func (m maker) fill(text string, names ...string) string {
	names = append(names,
		"{comment}", m.comment(),
		"{words}", m.words(),
		"{tick of nanoseconds}", m.tickAt("nanoseconds"),
		"{tick of word}", m.tickIn("word"),
		"{count}", strconv.Itoa(int(m.bits.Sequence)),
		"{counts}", number(1<<m.bits.Sequence),
		"{skew}", m.ticksOf(maxSkew),
		"{last tick}", number(m.last),
		"{patience}", m.ticksOf(patience),
		"{seconds}", fmt.Sprintf("%d.%09d", m.tick/1e9, m.tick%1e9), // of a tick
		"{id}", m.id("word"),
	)
	return strings.NewReplacer(names...).Replace(text)
}

// ticksOf returns how many ticks d has, rounded up.
func (m maker) ticksOf(d time.Duration) string {
	return number(uint64((int64(d) + m.tick - 1) / m.tick))
}

// next returns snow_next_id, and the statements that make what it counts with, in a schema.
func (m maker) next(schema string) (counters []string, f function) {
	if m.dialect == sqldialect.MySQL {
		return m.mysql()
	}
	return m.postgres(schema)
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
