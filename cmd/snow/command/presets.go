package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow"
)

// A namedLayout is a preset, or the layout of a namespace.
type namedLayout struct {
	name   string // empty for one that was written out
	layout snow.Layout
}

func presets() []namedLayout {
	return []namedLayout{
		{"default", snow.Default()},
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
