package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow"
)

// introduce says which databases and orders there are.
func (s *story) introduce() {
	buyers := make(map[string]bool)
	for _, p := range slices.Concat(s.purchases[:]...) {
		buyers[p.Buyer] = true
	}
	s.title("Two databases, one shop: which key does an order get?")
	s.say("%s orders of %s buyers are split by buyer over two databases. Each order needs a key: the number by "+
		"which its order lines, an invoice or a customer refer to it. The databases work on their own, and neither "+
		"knows which keys the other one has given away.",
		count(len(s.purchases[0])+len(s.purchases[1])), count(len(buyers)))
	for i, d := range s.dbs {
		s.row("database "+d.location.Name, "%s orders (%s)", count(len(s.purchases[i])), d.shown)
	}
}

// anatomy draws the bits of a key and says what each part means.
func (s *story) anatomy(id snow.ID, p snow.Parts) {
	bits := s.layout.Bits()
	parts := []struct {
		name  string
		width uint8
		style style
		means string
	}{
		{"time", bits.Timestamp, blue, p.Time.Format("2006-01-02 15:04:05.000") + " UTC, ms since " + s.layout.Epoch().Format(time.DateOnly)},
		{"worker", bits.Worker, magenta, fmt.Sprintf("%d, the program that made the key", p.Worker)},
		{"sequence", bits.Sequence, yellow, fmt.Sprintf("%d, sets it apart from others of that millisecond", p.Sequence)},
		{"shard", bits.Shard, cyan, fmt.Sprintf("%d, from the buyer's name", p.Shard)},
	}
	rest := fmt.Sprintf("%063b", int64(id))
	digits, names := "0", " "
	for _, part := range parts {
		digits += " " + s.paint(part.style, rest[:part.width])
		names += " " + s.paint(part.style, fmt.Sprintf("%-*s", part.width, "└ "+part.name))
		rest = rest[part.width:]
	}
	s.draw(s.paint(bold, id.String()))
	s.draw(digits, strings.TrimRight(names, " "))
	for _, part := range parts {
		s.row(part.name, "%s", part.means)
	}
}
