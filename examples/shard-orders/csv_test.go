package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReadPurchases(t *testing.T) {
	want := []Purchase{
		{FileLine: 2, Buyer: "anna", Item: "tea, green", Cents: 300, Time: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)},
		{FileLine: 4, Buyer: "böb", Item: "cup", Cents: 0, Time: time.Date(2026, 3, 1, 8, 30, 0, 125e6, time.UTC)},
	}
	const text = "buyer,item,amount,time\nanna,\"tea, green\",300,2026-03-01T10:00:00Z\n\n böb ,cup,0,2026-03-01T10:30:00.1259+02:00\n"
	for name, text := range map[string]string{
		"plain":           text,
		"byte order mark": "\ufeff" + text,
		"CRLF":            strings.ReplaceAll(text, "\n", "\r\n"),
		"no last newline": strings.TrimSuffix(text, "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readPurchases("f.csv", []byte(text))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		})
	}
}

func TestReadPurchasesErrors(t *testing.T) {
	const header = "buyer,item,amount,time\n"
	const good = "anna,tea,300,2026-03-01T10:00:00Z\n"
	for _, tt := range []struct {
		name, text, want string
	}{
		{"empty file", "", `f.csv:1: the file is empty, want the header "buyer,item,amount,time"`},
		{"only a byte order mark", "\ufeff", `f.csv:1: the file is empty, want the header "buyer,item,amount,time"`},
		{"other header", "id,name\n", `f.csv:1: header "id,name": want "buyer,item,amount,time"`},
		{"no header", good, `f.csv:1: header "anna,tea,300,2026-03-01T10:00:00Z": want "buyer,item,amount,time"`},
		{"UTF-16", "\xff\xfeb\x00u\x00", `f.csv:1: header "\xff\xfeb\x00u\x00": want "buyer,item,amount,time"`},
		{"no orders", header, `f.csv: no orders`},
		{"column missing", header + good + "anna,tea,300\n", `f.csv:3: want 4 columns (buyer,item,amount,time), got 3`},
		{"column too many", header + good + good + "anna,tea,300,2026-03-01T10:00:00Z,x\n", `f.csv:4: want 4 columns (buyer,item,amount,time), got 5`},
		{"no buyer", header + " ,tea,300,2026-03-01T10:00:00Z\n", `f.csv:2: buyer is empty`},
		{"no item", header + "anna,,300,2026-03-01T10:00:00Z\n", `f.csv:2: item is empty`},
		{"long buyer", header + strings.Repeat("é", 101) + ",tea,300,2026-03-01T10:00:00Z\n", `f.csv:2: buyer "` + strings.Repeat("é", 40) + `"…: want at most 100 characters`},
		{"escape sequence", header + "\x1b[31manna,tea,300,2026-03-01T10:00:00Z\n", `f.csv:2: buyer "\x1b[31manna": want printable UTF-8`},
		{"not UTF-8", header + "anna,th\xe9,300,2026-03-01T10:00:00Z\n", `f.csv:2: item "th\xe9": want printable UTF-8`},
		{"amount with a point", header + "anna,tea,3.00,2026-03-01T10:00:00Z\n", `f.csv:2: amount "3.00": want whole cents from 0 to 100000000000`},
		{"no amount", header + "anna,tea,,2026-03-01T10:00:00Z\n", `f.csv:2: amount "": want whole cents from 0 to 100000000000`},
		{"negative amount", header + "anna,tea,-1,2026-03-01T10:00:00Z\n", `f.csv:2: amount "-1": want whole cents from 0 to 100000000000`},
		{"amount too large", header + "anna,tea,100000000001,2026-03-01T10:00:00Z\n", `f.csv:2: amount "100000000001": want whole cents from 0 to 100000000000`},
		{"amount past 64 bits", header + "anna,tea,9223372036854775808,2026-03-01T10:00:00Z\n", `f.csv:2: amount "9223372036854775808": want whole cents from 0 to 100000000000`},
		{"date only", header + "anna,tea,300,2026-03-01\n", `f.csv:2: time "2026-03-01": want a form like 2026-03-01T18:30:00Z, from 1970 to 9999`},
		{"no such day", header + "anna,tea,300,2026-02-30T10:00:00Z\n", `f.csv:2: time "2026-02-30T10:00:00Z": want a form like 2026-03-01T18:30:00Z, from 1970 to 9999`},
		{"before 1970 in UTC", header + "anna,tea,300,1970-01-01T00:30:00+01:00\n", `f.csv:2: time "1970-01-01T00:30:00+01:00": want a form like 2026-03-01T18:30:00Z, from 1970 to 9999`},
		{"past 9999 in UTC", header + "anna,tea,300,9999-12-31T23:30:00-01:00\n", `f.csv:2: time "9999-12-31T23:30:00-01:00": want a form like 2026-03-01T18:30:00Z, from 1970 to 9999`},
		{"stray quote", header + good + "an\"na,tea,300,2026-03-01T10:00:00Z\n", `f.csv:3: bare " in non-quoted-field`},
		{"after a field of two lines", header + "\"an\nna\",tea,300,2026-03-01T10:00:00Z\n", `f.csv:2: buyer "an\nna": want printable UTF-8`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readPurchases("f.csv", []byte(tt.text))
			if err == nil || err.Error() != tt.want || got != nil {
				t.Errorf("got %v, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}
