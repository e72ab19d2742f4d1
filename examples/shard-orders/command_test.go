package main

import (
	"strings"
	"testing"
)

const secret = "tops3cret"

func TestFlags(t *testing.T) {
	const a, b = "joe:" + secret + "@tcp(127.0.0.1:1)/a", "joe:" + secret + "@tcp(127.0.0.1:1)/b"
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string // first line of stderr
	}{
		{"unknown flag", []string{"-sqlite"}, 2, "shard-orders: flag provided but not defined: -sqlite"},
		{"argument", []string{"orders.csv"}, 2, "shard-orders: there are arguments after the flags"},
		{"second flag forgotten", []string{"-mysql", a, b}, 2, "shard-orders: there are arguments after the flags"},
		{"no file", []string{"-orders"}, 2, "shard-orders: flag needs an argument: -orders"},
		{"one database", []string{"-mysql", a}, 2, "shard-orders: want two -mysql flags, one for each database, got 1"},
		{"three databases", []string{"-mysql", a, "-mysql", b, "-mysql", a}, 2, "shard-orders: want two -mysql flags, one for each database, got 3"},
		{"no DSN", []string{"-mysql", a, "-mysql", ""}, 2, "shard-orders: -mysql number 2: want user:password@tcp(host:port)/database"},
		{"no @", []string{"-mysql", "joe:" + secret + "/a", "-mysql", b}, 2, "shard-orders: -mysql number 1: want user:password@tcp(host:port)/database"},
		{"a URL", []string{"-mysql", a, "-mysql", "mysql://joe:" + secret + "@127.0.0.1:1/b"}, 2, "shard-orders: -mysql number 2: want user:password@tcp(host:port)/database"},
		{"no database name", []string{"-mysql", a, "-mysql", "joe:" + secret + "@tcp(127.0.0.1:1)/"}, 2, "shard-orders: -mysql number 2: want user:password@tcp(host:port)/database"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := runProgram(t, tt.args...)
			message, help, _ := strings.Cut(got.stderr, "\n\n")
			if got.code != tt.code || message != tt.want || help != usage || got.stdout != "" {
				t.Errorf("exit status %d, stdout %q, stderr %q; want %d and %q", got.code, got.stdout, got.stderr, tt.code, tt.want)
			}
			if strings.Contains(got.stderr, secret) {
				t.Errorf("the password is shown: %q", got.stderr)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	got := runProgram(t, "-help")
	if got.code != 0 || got.stdout != usage || got.stderr != "" {
		t.Errorf("exit status %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
	}
	wantReadable(t, got.stdout)
}
