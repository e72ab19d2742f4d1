package lease

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

func TestNamespaceParams(t *testing.T) {
	hours, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Hour, snow.Bits{Timestamp: 30, Worker: 12, Sequence: 20})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		ns    Namespace
		field string
	}{
		"defaults":            {Namespace{Name: "a", Layout: snow.DefaultLayout()}, ""},
		"long ticks":          {Namespace{Name: "a", Layout: hours, Workers: 7}, ""},
		"every character":     {Namespace{Name: "Ab9._-:/", Layout: snow.DefaultLayout(), Workers: 1024}, ""},
		"short windows":       {Namespace{Name: "a", Layout: snow.DefaultLayout(), Window: 3 * time.Millisecond, PinnedWindow: 3 * time.Millisecond}, ""},
		"no name":             {Namespace{Layout: snow.DefaultLayout()}, "namespace"},
		"long name":           {Namespace{Name: strings.Repeat("n", 65), Layout: snow.DefaultLayout()}, "namespace"},
		"space":               {Namespace{Name: "a ", Layout: snow.DefaultLayout()}, "namespace"},
		"not ASCII":           {Namespace{Name: "ä", Layout: snow.DefaultLayout()}, "namespace"},
		"no layout":           {Namespace{Name: "a"}, "Layout"},
		"negative workers":    {Namespace{Name: "a", Layout: snow.DefaultLayout(), Workers: -1}, "Workers"},
		"too many workers":    {Namespace{Name: "a", Layout: snow.DefaultLayout(), Workers: 1025}, "Workers"},
		"no number of many":   {Namespace{Name: "a", Layout: snow.GameServers()}, "Workers"},
		"some of many":        {Namespace{Name: "a", Layout: snow.GameServers(), Workers: 2000}, ""},
		"negative loss":       {Namespace{Name: "a", Layout: snow.DefaultLayout(), LossWindow: -1}, "LossWindow"},
		"long loss":           {Namespace{Name: "a", Layout: snow.DefaultLayout(), LossWindow: time.Hour}, "LossWindow"},
		"part of a ms":        {Namespace{Name: "a", Layout: snow.DefaultLayout(), Window: time.Second + 1}, "Window"},
		"window of 2 ticks":   {Namespace{Name: "a", Layout: hours, Workers: 7, Window: 2 * time.Hour}, "Window"},
		"long window":         {Namespace{Name: "a", Layout: snow.DefaultLayout(), Window: 25 * time.Hour}, "Window"},
		"short with loss":     {Namespace{Name: "a", Layout: snow.DefaultLayout(), LossWindow: time.Second, Window: 10 * time.Second}, "Window"},
		"pinned with loss":    {Namespace{Name: "a", Layout: snow.DefaultLayout(), LossWindow: time.Second, PinnedWindow: time.Second}, "PinnedWindow"},
		"loss and long ticks": {Namespace{Name: "a", Layout: hours, Workers: 7, LossWindow: time.Second}, "LossWindow"},
	} {
		got, err := test.ns.Params()
		var field *snow.FieldError
		switch {
		case test.field == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.field == "" && got.Check() != nil:
			t.Errorf("%s: %v", name, got.Check())
		case test.field != "" && (!errors.As(err, &field) || field.Field != test.field):
			t.Errorf("%s: got %v, want a FieldError of %s", name, err, test.field)
		}
	}
	if got, err := (Namespace{Name: "a", Layout: snow.DefaultLayout()}).Params(); err != nil || got.Workers != 1024 || got.Window != 10*time.Minute || got.Pinned != 30*time.Second {
		t.Errorf("defaults: %+v, %v", got, err)
	}
	if got, err := (Namespace{Name: "a", Layout: hours, Workers: 7}).Params(); err != nil || got.Window != 3*time.Hour || got.Pinned != 3*time.Hour {
		t.Errorf("defaults with ticks of an hour: %+v, %v", got, err)
	}
}
