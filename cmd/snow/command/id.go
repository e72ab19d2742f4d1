package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow"
)

func (a *app) id() *cobra.Command {
	c := a.group("id", "Read and make ids", "")
	c.AddCommand(a.idShow(), a.idNew(), a.idRange())
	return c
}

// A spelling is a text that was read as an id.
type spelling struct {
	id   snow.ID
	note string // what else the text could be
}

// parseID reads an id in any of its spellings: decimal, base32 of 13
// characters, or hexadecimal after 0x.
func parseID(text string) (spelling, error) {
	if digits, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		n, err := strconv.ParseUint(digits, 16, 63)
		if err != nil {
			return spelling{}, fmt.Errorf("id %.40q: want at most 63 bits in hexadecimal", text)
		}
		return nonzero(spelling{id: snow.ID(n)})
	}
	id, err := snow.ParseID(text)
	base32, err32 := snow.ParseBase32(text)
	switch {
	case err == nil && err32 == nil:
		return nonzero(spelling{id, "read as decimal; as base32 it is " + base32.String()})
	case err == nil:
		return nonzero(spelling{id: id})
	case err32 == nil:
		return nonzero(spelling{id: base32})
	}
	return spelling{}, fmt.Errorf("id %.40q: want decimal, 13 characters of base32, or hexadecimal after 0x", text)
}

func nonzero(s spelling) (spelling, error) {
	if s.id.IsZero() {
		return spelling{}, errors.New("id 0: it means that no id was assigned")
	}
	return s, nil
}

// A reading is what a layout reads from an id.
type reading struct {
	Name       string      `json:"name,omitempty"` // of the preset or the namespace
	Layout     snow.Layout `json:"layout"`
	Time       string      `json:"time,omitempty"` // start of the tick
	AgeNS      *int64      `json:"age_ns,omitempty"`
	Datacenter *uint64     `json:"datacenter,omitempty"`
	Worker     *uint64     `json:"worker,omitempty"`
	Sequence   *uint64     `json:"sequence,omitempty"`
	Shard      *uint64     `json:"shard,omitempty"`
	Holder     string      `json:"holder,omitempty"` // who had the worker number then
	Problem    string      `json:"problem,omitempty"`

	parts snow.Parts
}

// lines calls do for each line that is not empty, without the spaces around it. A line has at most 64 KiB.
func lines(r io.Reader, do func(line string) error) error {
	s := bufio.NewScanner(r)
	for s.Scan() {
		if line := strings.TrimSpace(s.Text()); line != "" {
			if err := do(line); err != nil {
				return err
			}
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	return nil
}
