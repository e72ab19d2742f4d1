package page

import (
	"strconv"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/census"
	"github.com/shardsnow/snow/internal/idtext"
	"github.com/shardsnow/snow/internal/timetext"
)

// A decoded is what an id says.
type decoded struct {
	Input, Problem, Note string
	ID, Base32, Hex      string
	Readings             []readingView
}

// A readingView is what the layout of a namespace reads from an id.
type readingView struct {
	Namespace, Database, Problem, Time, Age, Holder string
	Datacenter, Worker, Sequence, Shard             uint64
	Lane                                            *uint64 // the highest bits of the sequence, in layouts with lanes
}

// longestInput bounds what of an input is shown again.
const longestInput = 64

func decode(input string, s snapshot) *decoded {
	d := &decoded{Input: input}
	if len(input) > longestInput {
		d.Input, d.Problem = "", "the text is too long for an id"
		return d
	}
	read, err := idtext.Parse(input)
	if err != nil {
		d.Problem = err.Error()
		return d
	}
	d.ID, d.Base32, d.Hex, d.Note = read.ID.String(), read.ID.Base32(), "0x"+strconv.FormatInt(int64(read.ID), 16), read.Note
	for _, db := range s.databases {
		for _, n := range db.namespaces {
			v := readingOf(read.ID, n, db.now)
			if v.Namespace = n.Name; len(s.databases) > 1 {
				v.Database = db.called()
			}
			d.Readings = append(d.Readings, v)
		}
	}
	return d
}

func readingOf(id snow.ID, n namespace, now time.Time) (v readingView) {
	p, err := n.Layout.Decompose(id)
	if err != nil {
		v.Problem = err.Error()
		return v
	}
	if p.Time.After(now.Add(time.Minute)) {
		v.Problem = "its time would be in the future"
	}
	v.Time, v.Age = timetext.Stamp(p.Time), timetext.Distance(p.Time, now)
	v.Datacenter, v.Worker, v.Sequence, v.Shard = p.Datacenter, p.Worker, p.Sequence, p.Shard
	if bits := n.Layout.Bits(); bits.Lane > 0 {
		lane := p.Sequence >> (bits.Sequence - bits.Lane)
		v.Lane = &lane
	}
	v.Holder = census.HolderAt(n.workers, n.Layout, p.Worker, p.Time)
	return v
}
