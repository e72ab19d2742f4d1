//go:build unix

package etcdtest

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/etcdsnow"
)

// Open makes the namespace, leases a number, and configures the generator.
func TestOpen(t *testing.T) {
	c, ctx := Start(t), t.Context()
	ns := etcdsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout()}
	cfg := etcdsnow.LeaseConfig{Logger: slog.New(slog.DiscardHandler), Generator: snow.Config{MaxAhead: 7 * time.Millisecond}}
	keys, lease, err := etcdsnow.Open(ctx, c.Client, "", ns, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Next(ctx); err != nil {
		t.Error(err)
	}
	var field *snow.FieldError
	if _, err := snow.NewGenerator(lease, snow.Config{}); !errors.As(err, &field) || field.Field != "MaxAhead" {
		t.Errorf("another generator with other settings: got %v, want a FieldError of MaxAhead", err)
	}
	if err := lease.Close(ctx); err != nil {
		t.Error(err)
	}
	cfg.Namespace = ns.Name
	if _, err := etcdsnow.Acquire(ctx, c.Client, "", cfg); !errors.As(err, &field) || field.Field != "Generator" {
		t.Errorf("Acquire with a generator: got %v, want a FieldError of Generator", err)
	}
}
