//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

// inStore opens a store, and closes it after do.
func inStore(t *testing.T, dir string, databases int, do func(s *store)) {
	t.Helper()
	s, err := openStore(t.Context(), dir, databases)
	if err != nil {
		t.Fatal(err)
	}
	do(s)
	if err := s.close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// The steps of docs/sharding.md: two databases become four, and no key changes.
func TestDoubling(t *testing.T) {
	const orders, buyers = 300, 40
	ctx, dir := t.Context(), t.TempDir()
	stored := make(map[snow.ID]Order)
	inStore(t, dir, 2, func(s *store) {
		for i := range orders {
			o := Order{Buyer: fmt.Sprint("buyer ", i%buyers), Request: strconv.Itoa(i), Item: "tea"}
			if created, err := s.create(ctx, &o); err != nil || !created {
				t.Fatalf("order %d: %t, %v", i, created, err)
			}
			stored[o.ID] = o
		}
	})
	for from, to := range map[string]string{"orders_0.db": "orders_2.db", "orders_1.db": "orders_3.db"} {
		file, err := os.ReadFile(filepath.Join(dir, from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile("../../docs/sharding.md")
	if err != nil {
		t.Fatal(err)
	}
	deletions := regexp.MustCompile(`(?m)^(DELETE FROM orders WHERE id % 4 = \d); -- in (\w)`).FindAllSubmatch(page, -1)
	if len(deletions) != 4 {
		t.Fatalf("the page has %d deletions, want 4", len(deletions))
	}
	inStore(t, dir, 4, func(s *store) {
		for _, d := range deletions {
			err := s.orders.At(uint64(d[2][0] - 'a')).Exec(string(d[1])).Error
			if err != nil {
				t.Fatal(err)
			}
		}
		all, err := s.page(ctx, "", 0, 2*orders)
		if err != nil || len(all) != orders || !slices.IsSortedFunc(all, func(a, b Order) int { return int(a.ID - b.ID) }) {
			t.Errorf("the page has %d orders, %v, want %d", len(all), err, orders)
		}
		for id, want := range stored {
			if o, err := s.find(ctx, id); err != nil || o.Buyer != want.Buyer || o.Request != want.Request {
				t.Errorf("order %d is %+v, %v", id, o, err)
			}
		}
		n := 0
		for i := range buyers {
			of, err := s.page(ctx, fmt.Sprint("buyer ", i), 0, orders)
			if err != nil {
				t.Fatal(err)
			}
			n += len(of)
		}
		if n != orders {
			t.Errorf("the buyers have %d orders, want %d", n, orders)
		}
	})
}

// The program has the times and paths of docs/kubernetes.md.
func TestKubernetesPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	grace := regexp.MustCompile(`terminationGracePeriodSeconds: (\d+)`).FindSubmatch(page)
	if grace == nil {
		t.Fatal("the page has no grace period")
	}
	if s, err := strconv.Atoi(string(grace[1])); err != nil || time.Duration(s)*time.Second <= drain+shutdown+release {
		t.Errorf("a grace period of %s s is not enough for %v", grace[1], drain+shutdown+release)
	}
	if want := fmt.Sprintf("waits %d s until", drain/time.Second); !regexp.MustCompile(want).Match(page) {
		t.Errorf("the page does not say %q", want)
	}
	a := newAPI(t)
	paths := regexp.MustCompile(`path: (/\w+)`).FindAllSubmatch(page, -1)
	if len(paths) != 3 {
		t.Errorf("the page has %d probes, want 3", len(paths))
	}
	for _, path := range paths {
		if w := a.send(t, "GET", string(path[1]), "", ""); w.Code != 200 {
			t.Errorf("%s answers %d", path[1], w.Code)
		}
	}
}
