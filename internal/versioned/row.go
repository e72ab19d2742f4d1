package versioned

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
	"unicode/utf8"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/protocol"
)

// longest is the longest value that decode accepts, in bytes.
const longest = 8 << 10

// A Row is the value of a worker number. Times are milliseconds since 1970, and 0 if there is none.
type Row struct {
	protocol.Row
	Renewed int64
	Seq     int64 // how often the row was written, so that no two values of a row are equal
}

// record is the JSON of a Row, with the columns of snow_workers.
type record struct {
	State   string `json:"state"`
	Owner   string `json:"owner,omitempty"`
	Fence   int64  `json:"fence"`
	Floor   int64  `json:"floor_tick"`
	Ceiling int64  `json:"ceiling_tick"`
	Claimed int64  `json:"claimed_at_ms"`
	Renewed int64  `json:"renewed_at_ms"`
	Seq     int64  `json:"renew_seq"`
	Holder  string `json:"holder"`
}

var stateNames = map[protocol.State]string{protocol.Free: "free", protocol.Granted: "granted", protocol.Reserved: "reserved"}

// encode returns the value of a row.
func (r *Row) encode() []byte {
	text, _ := json.Marshal(record{ // never fails: the fields are numbers and texts
		State: stateNames[r.State], Owner: r.Owner, Fence: r.Fence, Floor: r.Floor, Ceiling: r.Ceiling,
		Claimed: r.Claimed, Renewed: r.Renewed, Seq: r.Seq, Holder: r.Holder,
	})
	return text
}

// decodeRow returns the row of an entry, or a *DamagedError if this package does not write such a value.
func decodeRow(e Entry) (Row, error) {
	var c record
	if err := decode(e.Value, &c); err != nil {
		return Row{}, &DamagedError{Key: e.Key, Err: err}
	}
	r := Row{
		Row: protocol.Row{
			State: -1, Owner: c.Owner, Fence: c.Fence, Floor: c.Floor, Ceiling: c.Ceiling, Claimed: c.Claimed, Holder: c.Holder,
		},
		Renewed: c.Renewed, Seq: c.Seq,
	}
	for state, name := range stateNames {
		if name == c.State {
			r.State = state
		}
	}
	if err := r.check(c.State); err != nil {
		return Row{}, &DamagedError{Key: e.Key, Err: err}
	}
	return r, nil
}

// check refuses rows that no request makes.
func (r *Row) check(state string) error {
	const most = math.MaxInt64 / 4 // sums with it do not overflow
	for _, c := range []struct {
		name  string
		value int64
	}{
		{"fence", r.Fence},
		{"floor_tick", r.Floor},
		{"ceiling_tick", r.Ceiling},
		{"claimed_at_ms", r.Claimed},
		{"renewed_at_ms", r.Renewed},
		{"renew_seq", r.Seq},
	} {
		if c.value < 0 || c.value > most {
			return fmt.Errorf("its %s is %d", c.name, c.value)
		}
	}
	switch owned := r.Owner != ""; {
	case r.State < 0:
		return fmt.Errorf("its state is %q", state)
	case r.Floor > r.Ceiling:
		return fmt.Errorf("its floor_tick is %d, and its ceiling_tick %d", r.Floor, r.Ceiling)
	case owned == (r.State == protocol.Free):
		return fmt.Errorf("its state is %q, and its owner %q", state, r.Owner)
	case owned && r.Fence == 0:
		return fmt.Errorf("its state is %q, and its fence 0", state)
	}
	return nil
}

// constants is the JSON of a namespace, with columns of snow_namespaces. The other columns follow from these.
type constants struct {
	Format  int    `json:"format"`
	Layout  string `json:"layout"`
	UUID    string `json:"registry_uuid"`
	Workers int64  `json:"workers"`
	Window  int64  `json:"window_ms"`
	Pinned  int64  `json:"pinned_ms"`
}

// format is the version of the values. Another one is refused.
const format = 1

func encodeNamespace(p *protocol.Params) []byte {
	text, _ := json.Marshal(constants{ // never fails: the fields are numbers and texts
		Format: format, Layout: p.Layout.String(), UUID: p.UUID, Workers: p.Workers, Window: p.Window.Milliseconds(), Pinned: p.Pinned.Milliseconds(),
	})
	return text
}

// decodeNamespace returns the constants of an entry, a *DamagedError if this package does not write such a value, or
// ErrNamespaceMismatch for a value of another version of this package.
func decodeNamespace(name string, e Entry) (protocol.Params, error) {
	var c constants
	if err := decode(e.Value, &c); err != nil {
		var known struct {
			Format int `json:"format"`
		}
		if json.Unmarshal(e.Value, &known) == nil && known.Format > format {
			return protocol.Params{}, fmt.Errorf("%w: its format is %d, and this version knows %d", dberrors.ErrNamespaceMismatch, known.Format, format)
		}
		return protocol.Params{}, &DamagedError{Key: e.Key, Err: err}
	}
	damaged := func(err error) (protocol.Params, error) {
		return protocol.Params{}, &DamagedError{Key: e.Key, Err: err}
	}
	if c.Format != format {
		return protocol.Params{}, fmt.Errorf("%w: its format is %d, and this version knows %d", dberrors.ErrNamespaceMismatch, c.Format, format)
	}
	layout, err := snow.ParseLayout(c.Layout)
	if err != nil {
		return damaged(err)
	}
	const most = math.MaxInt64 / int64(time.Millisecond) / 2
	if c.UUID == "" || c.Window <= 0 || c.Window > most || c.Pinned <= 0 || c.Pinned > most {
		return damaged(errors.New("a constant is missing or out of bounds"))
	}
	p := protocol.NewParams(0, time.Duration(c.Window)*time.Millisecond, time.Duration(c.Pinned)*time.Millisecond, layout.Tick())
	p.Name, p.Layout, p.UUID, p.Workers = name, layout, c.UUID, c.Workers
	if p.Check() != nil {
		return damaged(errors.New("a constant is out of bounds"))
	}
	return p, nil
}

// decode reads one JSON object with no other fields than target's.
func decode(text []byte, target any) error {
	if len(text) > longest {
		return fmt.Errorf("it has %d bytes", len(text))
	}
	if !utf8.Valid(text) {
		return errors.New("it is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(target); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more follows after the JSON object")
	}
	return nil
}
