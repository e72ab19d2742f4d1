package rows

import (
	"strings"
	"testing"
)

// All rows of all connections arrive, in the tables of all keys.
func TestConcurrently(t *testing.T) {
	private(t)
	var lines []string
	got, err := Concurrently(t.Context(), ConcurrentOptions{
		Engines: []string{"mariadb", "postgresql"}, Loads: []Load{{Connections: 3, PerStatement: 7, Rows: 500}},
		Progress: func(s string) { lines = append(lines, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	innodb := []string{AutoIncrement, Snow, Clustered, OneProcess, UUIDv7, UUIDv4}
	wanted := append(innodb, AutoIncrement, Snow, Clustered, OneLane, UUIDv7, UUIDv4)
	if len(got) != len(wanted) {
		t.Fatalf("%d tables: %+v", len(got), got)
	}
	for i, r := range got {
		want := Table{
			Engine: MariaDB, Version: r.Version, Pool: 48 << 20, Connections: 3, PerStatement: 7,
			Key: wanted[i], Rows: 20 * 2 * 3 * 7, Index: r.Index, Bytes: r.Bytes,
		}
		if i >= len(innodb) {
			want.Engine = PostgreSQL
		}
		if len(r.Blocks) != 20 || r.Index <= 0 || r.Bytes <= r.Index || r.Version == "" {
			t.Errorf("%+v", r)
		}
		if r.Blocks = nil; !equal(r, want) {
			t.Errorf("%+v, want %+v", r, want)
		}
	}
	if want := "PostgreSQL, 3 connections, 7 rows a statement: 20 of 20 turns"; !strings.Contains(strings.Join(lines, "\n"), want) {
		t.Errorf("progress: %q, want %q in it", lines, want)
	}
}

func equal(a, b Table) bool {
	return a.Engine == b.Engine && a.Version == b.Version && a.Pool == b.Pool && a.Connections == b.Connections && a.PerStatement == b.PerStatement &&
		a.Key == b.Key && a.Rows == b.Rows && a.Index == b.Index && a.Bytes == b.Bytes
}

func TestConcurrentlyRefuses(t *testing.T) {
	for _, opts := range []ConcurrentOptions{
		{Engines: []string{"oracle"}},
		{Loads: []Load{{Connections: 0, PerStatement: 1, Rows: 1}}},
		{Loads: []Load{{Connections: 1, PerStatement: -1, Rows: 1}}},
		{Loads: []Load{{Connections: 1, PerStatement: 501, Rows: 1}}},
		{Loads: []Load{{Connections: 1025, PerStatement: 1, Rows: 1}}},
		{Loads: []Load{{Connections: 1, PerStatement: 1}}},
	} {
		if got, err := Concurrently(t.Context(), opts); err == nil {
			t.Errorf("%+v: %+v, nil", opts, got)
		}
	}
}
