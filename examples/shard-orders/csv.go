package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Purchase is one record of the CSV file.
type Purchase struct {
	FileLine int
	Buyer    string `gorm:"size:100"`
	Item     string `gorm:"size:100"`
	Cents    int64
	Time     time.Time
}

const (
	longestText = 100             // characters, which is the size of the columns
	mostCents   = 100_000_000_000 // sums of these do not overflow
)

var columns = []string{"buyer", "item", "amount", "time"}

// readPurchases parses a CSV file with the header buyer,item,amount,time:
// the amount in cents, the time as in RFC 3339. If a line does not parse, it
// returns an error that names the file and the line, and no purchases. A byte
// order mark at the start is skipped.
func readPurchases(name string, text []byte) ([]Purchase, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.FieldsPerRecord = -1 // counted below, for a clearer message
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s:1: the file is empty, want the header %q", name, strings.Join(columns, ","))
	}
	if err != nil {
		return nil, syntaxError(name, err)
	}
	if !slices.Equal(header, columns) {
		return nil, fmt.Errorf("%s:1: header %.80q: want %q", name, strings.Join(header, ","), strings.Join(columns, ","))
	}
	var all []Purchase
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, syntaxError(name, err)
		}
		line, _ := r.FieldPos(0)
		p, err := parsePurchase(record)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		p.FileLine = line
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no orders", name)
	}
	return all, nil
}

func parsePurchase(record []string) (p Purchase, err error) {
	if len(record) != len(columns) {
		return p, fmt.Errorf("want %d columns (%s), got %d", len(columns), strings.Join(columns, ","), len(record))
	}
	if p.Buyer, err = parseText("buyer", record[0]); err != nil {
		return p, err
	}
	if p.Item, err = parseText("item", record[1]); err != nil {
		return p, err
	}
	p.Cents, err = strconv.ParseInt(record[2], 10, 64)
	if err != nil || p.Cents < 0 || p.Cents > mostCents {
		return p, fmt.Errorf("amount %.40q: want whole cents from 0 to %d", record[2], int64(mostCents))
	}
	p.Time, err = time.Parse(time.RFC3339, record[3])
	p.Time = p.Time.UTC().Truncate(time.Millisecond) // the precision of the column
	if err != nil || p.Time.Year() < 1970 || p.Time.Year() > 9999 {
		return p, fmt.Errorf("time %.40q: want a form like 2026-03-01T18:30:00Z, from 1970 to 9999", record[3])
	}
	return p, nil
}

// parseText refuses what does not fit a column or should not be sent to a terminal.
func parseText(column, s string) (string, error) {
	text := strings.TrimSpace(s)
	switch {
	case text == "":
		return "", fmt.Errorf("%s is empty", column)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return "", fmt.Errorf("%s %.40q: want printable UTF-8", column, text)
	case utf8.RuneCountInString(text) > longestText:
		return "", fmt.Errorf("%s %.40q…: want at most %d characters", column, text, longestText)
	}
	return text, nil
}

func syntaxError(name string, err error) error {
	if e := (*csv.ParseError)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s:%d: %w", name, e.Line, e.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}
