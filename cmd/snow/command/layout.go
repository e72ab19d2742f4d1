package command

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/layoutfit"
	"github.com/shardsnow/snow/internal/timetext"
)

const aboutLayout = `Show what a layout can do: years, worker numbers, ids a second.

LAYOUT is a preset, or the widths of timestamp, datacenter, worker, sequence and
shard, the tick and the epoch, such as 41+0+10+12+0/1ms@2024-01-01T00:00:00Z.
Without LAYOUT, all presets are shown; for -, layouts are read from standard
input, one in each line. "snow layout fit" finds a layout.`

func (a *app) layout() *cobra.Command {
	c := &cobra.Command{
		Use: "layout [LAYOUT…]", Short: "Show what layouts can do, and find one", Long: aboutLayout,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			all := shownLayouts{}
			add := func(text string) error {
				l, err := layoutOf(text)
				if err != nil {
					return &usageError{c.CommandPath(), err}
				}
				all = append(all, describe(l, a.now()))
				return nil
			}
			for _, arg := range args {
				var err error
				if arg == "-" {
					err = lines(c.Context(), a.In, add)
				} else {
					err = add(arg)
				}
				if err != nil {
					return err
				}
			}
			if len(args) == 0 {
				for _, l := range presets() {
					all = append(all, describe(l, a.now()))
				}
			}
			return a.print(all)
		},
	}
	c.AddCommand(a.layoutFit())
	return c
}

// A shownLayout is what a layout can do.
type shownLayout struct {
	Name        string      `json:"name,omitempty"`
	Layout      snow.Layout `json:"layout"`
	Bits        int         `json:"bits"`
	Spare       int         `json:"spare_bits"`
	End         string      `json:"end"` // the first instant that the timestamp can't hold
	YearsLeft   float64     `json:"years_left"`
	Datacenters uint64      `json:"datacenters"`
	Workers     int64       `json:"workers"` // in each datacenter
	PerSecond   float64     `json:"ids_per_second"`
	AllSecond   float64     `json:"ids_per_second_of_all_workers"`
	Shards      uint64      `json:"shards"`
	Lanes       int64       `json:"lanes"`
	SpanNS      int64       `json:"span_ns,omitempty"` // within it, ids of other lanes are unordered; 0 with one lane
	Highest     string      `json:"highest_id"`
	JavaScript  bool        `json:"fits_javascript_number"`
	Go          string      `json:"go,omitempty"` // code that returns the layout

	end time.Time // which JSON can't write after the year 9999
}

func describe(l namedLayout, now time.Time) shownLayout {
	b := l.layout.Bits()
	sum := int(b.Timestamp) + int(b.Datacenter) + int(b.Worker) + int(b.Sequence) + int(b.Shard)
	highest := new(big.Int).Lsh(big.NewInt(1), uint(sum))
	end := l.layout.End()
	return shownLayout{
		Name: l.name, Layout: l.layout, Bits: sum, Spare: 63 - sum,
		End: end.Format(time.RFC3339Nano), end: end, YearsLeft: math.Round(10*timetext.Since(now, end)/yearSeconds) / 10,
		Datacenters: 1 << b.Datacenter, Workers: l.layout.Workers(), Shards: 1 << b.Shard,
		PerSecond:  l.layout.PerSecond(),
		AllSecond:  l.layout.PerSecond() * math.Ldexp(1, int(b.Datacenter+b.Worker)),
		Highest:    highest.Sub(highest, big.NewInt(1)).String(),
		JavaScript: sum <= 53,
		Lanes:      1 << b.Lane,
		SpanNS:     spanOf(l.layout),
	}
}

// spanOf returns how long a span is, in nanoseconds, or 0 if the layout has no lanes.
func spanOf(l snow.Layout) int64 {
	b := l.Bits()
	if b.Lane == 0 {
		return 0
	}
	if hi := math.Ldexp(float64(l.Tick()), int(b.Span)); hi > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(l.Tick()) << b.Span
}

// yearSeconds are the seconds of a Gregorian year on average.
const yearSeconds = 365.2425 * 86400

// shownLayouts is the result of layout.
type shownLayouts []shownLayout

func (all shownLayouts) writeText(w io.Writer) {
	for i, l := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		l.writeText(w)
	}
}

func (l shownLayout) writeText(w io.Writer) {
	name := l.Layout.String()
	if l.Name != "" {
		name = l.Name + ", " + name
	}
	fmt.Fprintf(w, "layout\t%s\n", name)
	fmt.Fprintf(w, "bits\t%d of 63, %d to spare\n", l.Bits, l.Spare)
	if l.YearsLeft > 0 {
		fmt.Fprintf(w, "until\t%s, %.1f years\n", timetext.Stamp(l.end), l.YearsLeft)
	} else {
		fmt.Fprintf(w, "until\t%s: it reads ids, and makes no new ones\n", timetext.Stamp(l.end))
	}
	fmt.Fprintf(w, "workers\t%d", l.Workers)
	if l.Datacenters > 1 {
		fmt.Fprintf(w, " in each of %d datacenters", l.Datacenters)
	}
	fmt.Fprintf(w, "\nids a second\t%.0f of a worker, %.0f of all\n", l.PerSecond, l.AllSecond)
	if l.Shards > 1 {
		fmt.Fprintf(w, "shards\t%d\n", l.Shards)
	}
	if l.Lanes > 1 {
		fmt.Fprintf(w, "lanes\t%d, in spans of %v; %.0f ids a second of a worker if each Fill is long\n",
			l.Lanes, time.Duration(l.SpanNS).Round(time.Second), l.PerSecond/float64(l.Lanes))
	}
	javaScript := "a number of JavaScript can't hold it"
	if l.JavaScript {
		javaScript = "a number of JavaScript holds it"
	}
	fmt.Fprintf(w, "highest id\t%s, %d digits; %s\n", l.Highest, len(l.Highest), javaScript)
	if l.Go != "" {
		fmt.Fprintf(w, "in Go\t%s\n", l.Go)
	}
}

// A namedLayout is a preset, or the layout of a namespace.
type namedLayout struct {
	name   string // empty for one that was written out
	layout snow.Layout
}

func presets() []namedLayout {
	return []namedLayout{
		{"default", snow.DefaultLayout()},
		{"defaultshards", snow.DefaultShards()},
		{"twitter", snow.Twitter()},
		{"discord", snow.Discord()},
		{"instagram", snow.Instagram()},
		{"shardingsphere", snow.ShardingSphere()},
		{"uidgenerator", snow.UIDGenerator()},
		{"javascript", snow.JavaScript()},
		{"gameservers", snow.GameServers()},
		{"busygameservers", snow.BusyGameServers()},
		{"clustered", snow.Clustered()},
		{"clusteredshards", snow.ClusteredShards()},
	}
}

// layoutOf returns a preset by its name, or a layout as snow.Layout.String writes it.
func layoutOf(text string) (namedLayout, error) {
	var names []string
	for _, p := range presets() {
		if strings.EqualFold(p.name, text) {
			return p, nil
		}
		names = append(names, p.name)
	}
	l, err := snow.ParseLayout(text)
	if err != nil {
		var parse *snow.ParseError
		if errors.As(err, &parse) {
			err = parse // without what it was wrapped in
		}
		return namedLayout{}, fmt.Errorf("%w; or one of %s", err, strings.Join(names, ", "))
	}
	for _, p := range presets() {
		if p.layout == l {
			return p, nil
		}
	}
	return namedLayout{"", l}, nil
}

// layoutFlag is a flag with a layout.
type layoutFlag struct{ namedLayout }

func (f *layoutFlag) String() string {
	if f.name != "" || f.layout == (snow.Layout{}) {
		return f.name
	}
	return f.layout.String()
}

func (f *layoutFlag) Set(text string) (err error) {
	if f.namedLayout, err = layoutOf(text); err != nil {
		return &wantError{err}
	}
	return nil
}

func (f *layoutFlag) Type() string { return "layout" }

// layoutsFlag is a flag with a layout that may be given several times.
type layoutsFlag struct{ all []namedLayout }

func (f *layoutsFlag) String() string { return "" }

func (f *layoutsFlag) Set(text string) error {
	l, err := layoutOf(text)
	if err != nil {
		return &wantError{err}
	}
	f.all = append(f.all, l)
	return nil
}

func (f *layoutsFlag) Type() string { return "layout" }

const aboutFit = `Find the layout with the fewest bits for the years, workers and ids a second that
you need, and the line of Go that makes it. If there is none, the answer says how
far each of them must give way, and the exit status is 3.

Bits to spare belong to the part that is most likely to grow. A layout never
changes once ids are made with it.`

func (a *app) layoutFit() *cobra.Command {
	w := layoutfit.Wishes{}
	var epoch string
	c := &cobra.Command{
		Use: "fit", Short: "Find a layout for years, workers and ids a second", Long: aboutFit, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if w.Epoch, err = parseTime(epoch, a.now()); err != nil {
				return &usageError{c.CommandPath(), fmt.Errorf("--epoch %w", err)}
			}
			l, err := layoutfit.Fit(w, a.now())
			var field *snow.FieldError
			switch {
			case errors.As(err, &field):
				return &usageError{c.CommandPath(), fmt.Errorf("--%w", field)}
			case err != nil:
				return &refusal{fmt.Errorf("layout fit: %w", err)}
			}
			named, err := layoutOf(l.String()) // a preset, if it is one
			if err != nil {
				return fmt.Errorf("layout fit: %w", err)
			}
			shown := describe(named, a.now())
			shown.Go = layoutfit.Code(named.layout)
			return a.print(shownLayouts{shown})
		},
	}
	f := c.Flags()
	f.Float64Var(&w.Years, "years", 50, "how many `YEARS` from now on")
	f.Uint64Var(&w.Workers, "workers", 1024, "`N` worker numbers in each datacenter")
	f.Float64Var(&w.PerSecond, "rate", 100_000, "`N` ids a second of one worker, in the long run")
	f.Uint64Var(&w.Datacenters, "datacenters", 1, "`N` datacenters")
	f.Uint64Var(&w.Shards, "shards", 1, "`N` logical shards")
	f.DurationVar(&w.Tick, "tick", time.Millisecond, "how fine the time of an id is")
	f.Uint8Var(&w.Bits, "bits", 63, "`N` bits of an id; 53 for numbers of JavaScript")
	f.StringVar(&epoch, "epoch", "2024-01-01", "the `TIME` of tick 0, not in the future")
	return c
}
