//go:build unix

package main

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

func TestShop(t *testing.T) {
	server := dbtest.MariaDB(t)
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-mysql", server.DSN(""), "-rows", "3000", "-pause", "300ms"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	t.Logf("%s", &out)
	for _, want := range []string{
		`the old program stores order 1\n +the new program stores order \d{18}\n +the old program stores order \d{18}\n`,
		`orders\.id is bigint.*\n\n +snow convert back`,
		`taken back: .*\n(?:.*\n)+? +orders\.id is int\b.*\n`,
		`the new program: \d+ orders, the last one \d{18},`,
		`\d+ orders: \d+ with old numbers, \d+ with snow ids\. \d+ lines, 0 of them without an order\.`,
	} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("want %s", want)
		}
	}
}
