package ids

import (
	"context"
	"fmt"
	"runtime"
	"strconv"

	"github.com/shardsnow/snow"
)

// A Text is the cost of writing or reading an id as text, compared with package
// strconv.
type Text struct {
	Name     string    `json:"name"`
	Against  string    `json:"against"` // of package strconv
	NS       []float64 `json:"ns"`      // for one call, in each round
	Baseline []float64 `json:"baseline"`
	Allocs   int64     `json:"allocs"`
	Bytes    int64     `json:"bytes"`
}

// PerCall returns the median time of a call in nanoseconds.
func (t Text) PerCall() float64 { return median(t.NS) }

// Ratio returns the median time over strconv's.
func (t Text) Ratio() float64 { return median(t.NS) / median(t.Baseline) }

// Spread returns half the distance between the fastest and the slowest round,
// as a part of the median.
func (t Text) Spread() float64 { return spread(t.NS) }

// sink keeps results, so that the compiler does not drop the calls.
var sink struct {
	text   string
	bytes  []byte
	id     snow.ID
	number int64
}

const textIDs = 1 << 10

type textBench struct {
	ids             []snow.ID
	decimal, base32 []string
	text, json      [][]byte
	buffer          []byte
}

func newTextBench(ctx context.Context) (*textBench, error) {
	g, err := newSnow(func() (snow.Layout, error) { return snow.DefaultLayout(), nil })
	if err != nil {
		return nil, err
	}
	t := &textBench{ids: make([]snow.ID, textIDs), buffer: make([]byte, 0, 32)}
	if err := g.Fill(ctx, t.ids); err != nil {
		return nil, err
	}
	for _, id := range t.ids {
		j, err := id.MarshalJSON()
		if err != nil {
			return nil, err
		}
		t.decimal, t.base32 = append(t.decimal, id.String()), append(t.base32, id.Base32())
		t.text, t.json = append(t.text, j[1:len(j)-1]), append(t.json, j)
	}
	return t, nil
}

// A textCall is one row. The loop is in run, so that it calls as users do.
type textCall struct {
	name    string
	against string // another name, or nothing
	run     Run
}

func (t *textBench) calls() []textCall {
	return []textCall{
		{"strconv.FormatInt", "", func(n int) (_ uint64, err error) {
			for i := range n {
				sink.text = strconv.FormatInt(int64(t.ids[i%textIDs]), 10)
			}
			return 0, nil
		}},
		{"strconv.AppendInt", "", func(n int) (_ uint64, err error) {
			for i := range n {
				sink.bytes = strconv.AppendInt(t.buffer, int64(t.ids[i%textIDs]), 10)
			}
			return 0, nil
		}},
		{"strconv.ParseInt", "", func(n int) (_ uint64, err error) {
			for i := range n {
				if sink.number, err = strconv.ParseInt(t.decimal[i%textIDs], 10, 64); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}},
		{"ID.String", "strconv.FormatInt", func(n int) (_ uint64, err error) {
			for i := range n {
				sink.text = t.ids[i%textIDs].String()
			}
			return 0, nil
		}},
		{"ID.Base32", "strconv.FormatInt", func(n int) (_ uint64, err error) {
			for i := range n {
				sink.text = t.ids[i%textIDs].Base32()
			}
			return 0, nil
		}},
		{"ID.AppendText", "strconv.AppendInt", func(n int) (_ uint64, err error) {
			for i := range n {
				if sink.bytes, err = t.ids[i%textIDs].AppendText(t.buffer); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}},
		{"ID.MarshalText", "strconv.FormatInt", func(n int) (_ uint64, err error) {
			for i := range n {
				if sink.bytes, err = t.ids[i%textIDs].MarshalText(); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}},
		{"ID.MarshalJSON", "strconv.FormatInt", func(n int) (_ uint64, err error) {
			for i := range n {
				if sink.bytes, err = t.ids[i%textIDs].MarshalJSON(); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}},
		{"ParseID", "strconv.ParseInt", func(n int) (_ uint64, err error) {
			for i := range n {
				if sink.id, err = snow.ParseID(t.decimal[i%textIDs]); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}},
		{"ParseBase32", "strconv.ParseInt", func(n int) (_ uint64, err error) {
			for i := range n {
				if sink.id, err = snow.ParseBase32(t.base32[i%textIDs]); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}},
		{"ID.UnmarshalText", "strconv.ParseInt", func(n int) (_ uint64, err error) {
			for i := range n {
				if err = sink.id.UnmarshalText(t.text[i%textIDs]); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}},
		{"ID.UnmarshalJSON", "strconv.ParseInt", func(n int) (_ uint64, err error) {
			for i := range n {
				if err = sink.id.UnmarshalJSON(t.json[i%textIDs]); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}},
	}
}

func measureTexts(ctx context.Context, opts Options) ([]Text, error) {
	t, err := newTextBench(ctx)
	if err != nil {
		return nil, fmt.Errorf("ids: texts: %w", err)
	}
	calls := t.calls()
	ns := map[string][]float64{}
	for round := range opts.Rounds {
		opts.Progress(fmt.Sprintf("texts, round %d of %d", round+1, opts.Rounds))
		runtime.GC()
		for _, c := range calls {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			took, err := loop([]Run{c.run}, textIDs, opts.Text)
			if err != nil {
				return nil, fmt.Errorf("ids: %s: %w", c.name, err)
			}
			ns[c.name] = append(ns[c.name], float64(took.wall)/float64(took.calls))
		}
	}
	var list []Text
	for _, c := range calls {
		if c.against == "" {
			continue
		}
		allocs, bytes, err := allocations(c.run, textIDs)
		if err != nil {
			return nil, fmt.Errorf("ids: %s: %w", c.name, err)
		}
		list = append(list, Text{
			Name: c.name, Against: c.against, NS: ns[c.name], Baseline: ns[c.against], Allocs: allocs, Bytes: bytes,
		})
	}
	return list, nil
}
