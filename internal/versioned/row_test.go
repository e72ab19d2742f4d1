package versioned

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/protocol"
)

func params(workers int64) protocol.Params {
	p := protocol.NewParams(0, 10*time.Minute, 30*time.Second, time.Millisecond)
	p.Name, p.UUID, p.Layout, p.Workers = "shop", "u", snow.DefaultLayout(), workers
	return p
}

func TestRowsAreReadAsTheyWereWritten(t *testing.T) {
	for _, row := range []Row{
		{},
		{Row: protocol.Row{Floor: 7, Ceiling: 7}},
		{Row: protocol.Row{State: protocol.Granted, Owner: "o", Fence: 3, Floor: 5, Ceiling: 9, Claimed: 1, Holder: "host\x01 \u2028 <&>/1"}, Renewed: 2, Seq: 4},
		{Row: protocol.Row{State: protocol.Reserved, Owner: "o", Fence: 1, Holder: "merge"}},
	} {
		got, err := decodeRow(Entry{Key: "k", Value: row.encode(), Version: 1})
		if err != nil || got != row {
			t.Errorf("%s: got %+v and %v, want %+v", row.encode(), got, err, row)
		}
	}
}

func TestDamagedRows(t *testing.T) {
	good := `{"state":"granted","owner":"o","fence":1,"floor_tick":5,"ceiling_tick":9,"claimed_at_ms":1,"renewed_at_ms":1,"renew_seq":1,"holder":"h"}`
	if _, err := decodeRow(Entry{Value: []byte(good)}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{good, "", "EOF"},
		{good, "5", "cannot unmarshal"},
		{good, good + "{}", "more follows"},
		{`"holder"`, `"spare":1,"holder"`, "unknown field"},
		{"granted", "claimed", `its state is "claimed"`},
		{"granted", "free", `and its owner "o"`},
		{`"o"`, `""`, `and its owner ""`},
		{`"fence":1`, `"fence":0`, "its fence 0"},
		{`"fence":1`, `"fence":-1`, "its fence is -1"},
		{`"fence":1`, `"fence":1.5`, "cannot unmarshal"},
		{`:9`, `:4`, "its ceiling_tick 4"},
		{`:9`, `:9000000000000000000`, "its ceiling_tick is 9000000000000000000"},
		{`"h"`, "\"\xff\"", "not UTF-8"},
		{`"h"`, `"` + strings.Repeat("h", longest) + `"`, "bytes"},
	} {
		_, err := decodeRow(Entry{Key: "workers/shop/0000000001", Value: []byte(strings.Replace(good, c.old, c.new, 1))})
		damaged := new(DamagedError)
		if !errors.As(err, &damaged) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"workers/shop/0000000001"`) {
			t.Errorf("%s: the error is %v, want a DamagedError with %q", c.new, err, c.want)
		}
	}
}

func TestNamespacesAreReadAsTheyWereWritten(t *testing.T) {
	p := params(4)
	text := string(encodeNamespace(&p))
	if got, err := decodeNamespace("shop", Entry{Value: []byte(text)}); err != nil || got != p {
		t.Fatalf("%s: got %+v and %v, want %+v", text, got, err, p)
	}
	for _, c := range []struct {
		old, new string
		mismatch bool
	}{
		{`"format":1`, `"format":2`, true},
		{`"format":1`, `"format":2,"more":1`, true},
		{`"format":1,`, ``, true},
		{`"workers":4`, `"workers":0`, false},
		{`"workers":4`, `"workers":5000`, false},
		{`"workers":4`, `"spare":4`, false},
		{`"window_ms":600000`, `"window_ms":-1`, false},
		{`"window_ms":600000`, `"window_ms":9223372036854775807`, false},
		{`"registry_uuid":"u"`, `"registry_uuid":""`, false},
		{`"layout":"`, `"layout":"x`, false},
	} {
		changed := strings.Replace(text, c.old, c.new, 1)
		_, err := decodeNamespace("shop", Entry{Key: "namespaces/shop", Value: []byte(changed)})
		if damaged := errors.As(err, new(*DamagedError)); changed == text || damaged == c.mismatch || c.mismatch != errors.Is(err, dberrors.ErrNamespaceMismatch) {
			t.Errorf("%s: the error is %v", changed, err)
		}
	}
}

func TestKeys(t *testing.T) {
	for _, name := range []string{"shop", "a/b", "..", ".", "a:b", "..a"} {
		key := namespaceKey(name)
		if got, err := nameOf(key); err != nil || got != name {
			t.Errorf("%q has the key %q, whose name is %q: %v", name, key, got, err)
		}
		if rest := strings.TrimPrefix(key, namespaces); strings.Contains(rest, "/") || strings.Trim(rest, ".") == "" {
			t.Errorf("%q has the key %q", name, key)
		}
		n, err := numberOf(workersPrefix(name), workerKey(name, 12))
		if err != nil || n != 12 {
			t.Errorf("the number of %q is %d: %v", workerKey(name, 12), n, err)
		}
	}
	for _, key := range []string{"namespaces/%2", "namespaces/%41", "namespaces/a/b"} {
		if name, err := nameOf(key); err == nil {
			t.Errorf("%q is the key of %q", key, name)
		}
	}
	for _, key := range []string{"workers/shop/12", "workers/shop/00000000-1", "workers/shop/", "workers/other/0000000001"} {
		if n, err := numberOf(workersPrefix("shop"), key); err == nil {
			t.Errorf("%q is the key of %d", key, n)
		}
	}
}

// A value that is read is a value that this package writes, whatever it is.
func FuzzRow(f *testing.F) {
	f.Add([]byte(`{"state":"granted","owner":"o","fence":1,"floor_tick":5,"ceiling_tick":9,"holder":"h"}`))
	f.Add([]byte(`{"state":"free"} `))
	f.Fuzz(func(t *testing.T, text []byte) {
		row, err := decodeRow(Entry{Value: text})
		if err != nil {
			if !errors.As(err, new(*DamagedError)) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if again, err := decodeRow(Entry{Value: row.encode()}); err != nil || again != row {
			t.Fatalf("%q: read as %+v, and then as %+v: %v", text, row, again, err)
		}
	})
}

func FuzzNamespace(f *testing.F) {
	p := params(4)
	f.Add(encodeNamespace(&p))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := decodeNamespace("shop", Entry{Value: text})
		if err != nil {
			if !errors.As(err, new(*DamagedError)) && !errors.Is(err, dberrors.ErrNamespaceMismatch) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if again, err := decodeNamespace("shop", Entry{Value: encodeNamespace(&p)}); err != nil || again != p {
			t.Fatalf("%q: read as %+v, and then as %+v: %v", text, p, again, err)
		}
	})
}
