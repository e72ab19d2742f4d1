package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/census"
	"github.com/shardsnow/snow/internal/idtext"
	"github.com/shardsnow/snow/internal/timetext"
	"github.com/shardsnow/snow/sqlsnow"
)

const aboutShow = `Show what ids say: when they were made, by which worker, and the other parts.

An ID is decimal, base32 of 13 characters, or hexadecimal after 0x. Without an ID,
or for -, ids are read from standard input, one in each line. After what is no id it goes
on, says at the end which lines these were, and the exit status is 2.

Each preset is shown with which the id's time is not in the future. Only the
programs that made an id know its layout: name it with --layout, or name the
namespace with --namespace and --dsn, which also tells who had the worker number
if the number was not leased again.`

// tolerance is how far the clocks of processes that make ids may be ahead of this one.
const tolerance = time.Minute

func (a *app) idShow() *cobra.Command {
	var layouts layoutsFlag
	var namespace string
	db := &databaseFlags{app: a}
	c := &cobra.Command{
		Use: "show [ID…]", Short: "Show what ids say", Long: aboutShow,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			s := &shower{app: a, layouts: layouts.all}
			if namespace != "" {
				if err := s.readNamespace(c.Context(), db, namespace); err != nil {
					return err
				}
			}
			return s.showAll(c.Context(), args)
		},
	}
	c.Flags().Var(&layouts, "layout", "a preset or a layout instead of the presets that fit; may be given several times")
	c.Flags().StringVar(&namespace, "namespace", "", "`NAME` of a namespace in the database, for its layout and its workers")
	db.add(c)
	return c
}

// A shower shows ids with the layouts and the workers that it knows.
type shower struct {
	app       *app
	layouts   []namedLayout // empty: the presets that fit
	namespace namedLayout   // of the database
	workers   []sqlsnow.WorkerInfo
}

func (s *shower) readNamespace(ctx context.Context, flags *databaseFlags, name string) error {
	db, err := flags.openNumbers(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	all, err := db.Namespaces(ctx, name)
	if err != nil {
		return explain(err)
	}
	if s.workers, err = db.Workers(ctx, name); err != nil {
		return explain(err)
	}
	s.namespace = namedLayout{name, all[0].Layout}
	s.layouts = append([]namedLayout{s.namespace}, s.layouts...)
	return nil
}

// shownIDs is the result of id show.
type shownIDs []shownID

type shownID struct {
	ID      snow.ID   `json:"id"`
	Base32  string    `json:"base32"`
	Hex     string    `json:"hex"`
	Bits    int       `json:"bits"` // without leading zeros
	Note    string    `json:"note,omitempty"`
	Layouts []reading `json:"layouts"` // empty if the time is in the future with every preset

	now time.Time
}

func (s *shower) showAll(ctx context.Context, args []string) error {
	all := shownIDs{}
	misfits := 0
	add := func(text string) error {
		id, err := idtext.Parse(text)
		if err != nil {
			return err
		}
		shown := s.show(id)
		fits := 0
		for _, r := range shown.Layouts {
			if r.Problem == "" {
				fits++
			}
		}
		if fits == 0 {
			misfits++
		}
		all = append(all, shown)
		return nil
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	var wrong []error
	for _, arg := range args {
		var err error
		if arg == "-" {
			err = lines(ctx, s.app.In, add)
		} else {
			err = add(arg)
		}
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	if len(all) > 0 || len(wrong) == 0 {
		if err := s.app.print(all); err != nil {
			return err
		}
	}
	if len(wrong) > 0 {
		return &usageError{"snow id show", errors.Join(wrong...)}
	}
	if misfits > 0 {
		return &refusal{fmt.Errorf("id show: no layout fits %d of %d ids", misfits, len(all))}
	}
	return nil
}

func (s *shower) show(id idtext.Reading) shownID {
	now := s.app.now()
	shown := shownID{
		ID: id.ID, Base32: id.ID.Base32(), Hex: "0x" + strconv.FormatInt(int64(id.ID), 16),
		Bits: bits.Len64(uint64(id.ID)), Note: id.Note, Layouts: []reading{}, now: now,
	}
	for _, l := range s.layouts {
		shown.Layouts = append(shown.Layouts, s.read(id.ID, l, now))
	}
	if len(s.layouts) == 0 {
		for _, l := range presets() {
			if r := s.read(id.ID, l, now); r.Problem == "" {
				shown.Layouts = append(shown.Layouts, r)
			}
		}
	}
	return shown
}

// read returns what a layout reads from an id. It is a problem if the id can't have been made with the layout
// before now.
func (s *shower) read(id snow.ID, l namedLayout, now time.Time) reading {
	r := reading{Name: l.name, Layout: l.layout}
	var err error
	if r.parts, err = l.layout.Decompose(id); err != nil {
		r.Problem = strings.TrimPrefix(err.Error(), "snow: decompose: ")
		return r
	}
	p := &r.parts
	r.Time, r.Datacenter, r.Worker, r.Sequence, r.Shard = p.Time.Format(time.RFC3339Nano), &p.Datacenter, &p.Worker, &p.Sequence, &p.Shard
	if b := l.layout.Bits(); b.Lane > 0 {
		lane := p.Sequence >> (b.Sequence - b.Lane)
		r.Lane = &lane
	}
	if age := timetext.Since(p.Time, now); math.Abs(age) < math.MaxInt64/1e9 {
		ns := int64(now.Sub(p.Time))
		r.AgeNS = &ns
	}
	if p.Time.After(now.Add(tolerance)) {
		r.Problem = "the time is in the future"
	}
	if l == s.namespace {
		r.Holder = census.HolderAt(s.workers, l.layout, p.Worker, p.Time)
	}
	return r
}

func (all shownIDs) writeText(w io.Writer) {
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s  base32 %s  hexadecimal %s  %d bits\n", s.ID, s.Base32, s.Hex, s.Bits)
		if s.Note != "" {
			fmt.Fprintf(w, "  %s\n", s.Note)
		}
		if len(s.Layouts) == 0 {
			fmt.Fprintln(w, "  no preset fits: with each, the time is in the future or the id has too many bits")
		}
		for _, r := range s.Layouts {
			r.writeText(w, s.now)
		}
	}
}

func (r reading) writeText(w io.Writer, now time.Time) {
	name := r.Name
	if name == "" {
		name = r.Layout.String()
	}
	if r.Time == "" {
		fmt.Fprintf(w, "  %s\t%s\n", name, r.Problem)
		return
	}
	p, b := r.parts, r.Layout.Bits()
	fmt.Fprintf(w, "  %s\t%s\t%s\tworker %d", name, timetext.Stamp(p.Time), timetext.Distance(p.Time, now), p.Worker)
	if b.Datacenter > 0 {
		fmt.Fprintf(w, ", datacenter %d", p.Datacenter)
	}
	fmt.Fprintf(w, ", sequence %d", p.Sequence)
	if r.Lane != nil {
		fmt.Fprintf(w, " (lane %d)", *r.Lane)
	}
	if b.Shard > 0 {
		fmt.Fprintf(w, ", shard %d", p.Shard)
	}
	if r.Holder != "" {
		fmt.Fprintf(w, ", holder: %s", printable(r.Holder))
	}
	if r.Problem != "" {
		fmt.Fprintf(w, "; %s", r.Problem)
	}
	fmt.Fprintln(w)
}
