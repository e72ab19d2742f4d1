package ids

import (
	"context"
	"time"

	"github.com/shardsnow/snow"
)

// Names of rows that targets and charts refer to.
const (
	SnowNext         = "snow Next"
	SnowFill64       = "snow Fill(64)"
	SnowFill1000     = "snow Fill(1000)"
	SnowNextWide     = "snow Next, 20 bits"
	SnowNextLanes    = "snow Next, 20 bits, 16 lanes"
	SnowNextCancel   = "snow Next, 20 bits, cancellable ctx"
	SnowFill64Wide   = "snow Fill(64), 24 bits"
	SnowFill1000Wide = "snow Fill(1000), 24 bits"
)

// snowGenerators are the generators of this project. Twenty bits of sequence do not
// limit Next, which can't make a million ids in a millisecond. They limit Fill,
// which can; twenty-four bits do not. One of the generators is called with
// cancellable, as in servers.
func snowGenerators(cancellable context.Context) []Generator {
	background := context.Background()
	def := func() (snow.Layout, error) { return snow.DefaultLayout(), nil }
	wide := func(b snow.Bits) func() (snow.Layout, error) {
		return func() (snow.Layout, error) {
			return snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, b)
		}
	}
	twenty := wide(snow.Bits{Timestamp: 41, Worker: 2, Sequence: 20})
	lanes := wide(snow.Bits{Timestamp: 41, Worker: 2, Sequence: 20, Lane: 4, Span: 20})
	twentyFour := wide(snow.Bits{Timestamp: 39, Sequence: 24})
	perSecond := snow.DefaultLayout().PerSecond()
	list := []Generator{
		{Name: SnowNext, Format: "41+10+12", PerSecond: perSecond, New: snowNext(background, def)},
		{Name: SnowFill64, Format: "41+10+12", PerSecond: perSecond, PerCall: 64, New: snowFill(def, 64)},
		{Name: SnowFill1000, Format: "41+10+12", PerSecond: perSecond, PerCall: 1000, New: snowFill(def, 1000)},
		{Name: SnowNextWide, Format: "41+2+20", New: snowNext(background, twenty)},
		{Name: SnowNextLanes, Format: "21+4+20+2+16", New: snowNext(background, lanes)},
		{Name: SnowNextCancel, Format: "41+2+20", New: snowNext(cancellable, twenty)},
		{Name: SnowFill64Wide, Format: "39+0+24", PerCall: 64, New: snowFill(twentyFour, 64)},
		{Name: SnowFill1000Wide, Format: "39+0+24", PerCall: 1000, New: snowFill(twentyFour, 1000)},
	}
	for i := range list {
		list[i].Kind, list[i].Bits = Snow, 63
	}
	return list
}

func newSnow(layout func() (snow.Layout, error)) (*snow.Generator, error) {
	l, err := layout()
	if err != nil {
		return nil, err
	}
	w, err := snow.Fixed(l, 0)
	if err != nil {
		return nil, err
	}
	return snow.NewGenerator(w, snow.Config{})
}

func snowNext(ctx context.Context, layout func() (snow.Layout, error)) func() (Start, error) {
	return func() (Start, error) {
		g, err := newSnow(layout)
		return shared(func(n int) (uint64, error) {
			var last snow.ID
			for range n {
				id, err := g.Next(ctx)
				if err != nil {
					return 0, err
				}
				last = id
			}
			return uint64(last), nil
		}), err
	}
}

func snowFill(layout func() (snow.Layout, error), perCall int) func() (Start, error) {
	return func() (Start, error) {
		g, err := newSnow(layout)
		ctx := context.Background()
		return func() Run {
			ids := make([]snow.ID, perCall)
			return func(n int) (uint64, error) {
				for range n {
					if err := g.Fill(ctx, ids); err != nil {
						return 0, err
					}
				}
				return uint64(ids[perCall-1]), nil
			}
		}, err
	}
}
