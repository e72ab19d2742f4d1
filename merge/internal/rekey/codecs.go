package rekey

import (
	"fmt"

	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// Codecs are what finds ids inside of values of columns of RolePacked.
type Codecs struct {
	Dialect sqlsnow.Dialect
	Hooks   map[string]packed.Hook // the program's codecs, by name
}

// Of returns the codec of a column. What is wrong with its format is a [*plan.Error].
func (c Codecs) Of(t *plan.Table, column *plan.Column) (packed.Codec, packed.Format, error) {
	format, err := packed.ParseFormat(column.Format)
	var codec packed.Codec
	switch {
	case err != nil:
	case format.Kind == packed.Hooks:
		if hook := c.Hooks[format.Codec]; hook != nil {
			codec = packed.Hooked(hook)
		} else {
			err = fmt.Errorf("no codec %q is given", format.Codec)
		}
	default:
		var places []string
		for _, r := range column.Refers {
			places = append(places, r.Path)
		}
		codec, err = format.New(places, column.Separator, c.signed(t, column, format))
	}
	if err != nil {
		return nil, format, &plan.Error{Table: t.Name, Column: column.Name, Reason: err.Error()}
	}
	return codec, format, nil
}

// signed reports whether the upper and the lower half of an id are in types that have a sign and as many bits as
// the half.
func (c Codecs) signed(t *plan.Table, column *plan.Column, format packed.Format) (signed [2]bool) {
	other := t.Column(column.By)
	if !format.Half() || other == nil {
		return signed
	}
	high, low := column, other
	if format.Kind == packed.Low {
		high, low = other, column
	}
	for i, half := range []*plan.Column{high, low} {
		s := sqltype.Of(c.Dialect, half.Type)
		signed[i] = s.Kind == sqltype.Integer && !s.Unsigned && s.Bits == [2]int{64 - format.Bits, format.Bits}[i]
	}
	return signed
}
