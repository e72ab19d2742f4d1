package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/interrupt"
)

func (a *app) id() *cobra.Command {
	c := a.group("id", "Read and make ids", "")
	c.AddCommand(a.idShow(), a.idNew(), a.idRange())
	return c
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
	Lane       *uint64     `json:"lane,omitempty"` // the highest bits of the sequence, in layouts with lanes
	Shard      *uint64     `json:"shard,omitempty"`
	Holder     string      `json:"holder,omitempty"` // who had the worker number then
	Problem    string      `json:"problem,omitempty"`

	parts snow.Parts
}

// lines calls do for each line that is not empty, without the spaces around it, until ctx ends. It goes on after
// lines with which something is wrong, and returns what, with the numbers of the lines. A line has at most 64 KiB.
func lines(ctx context.Context, r io.Reader, do func(line string) error) error {
	var wrong []error
	s := bufio.NewScanner(interrupt.Reader(ctx, r))
	for number := 1; s.Scan(); number++ {
		line := strings.TrimSpace(s.Text())
		if line == "" {
			continue
		}
		if err := do(line); err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %w", number, err))
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	if len(wrong) > 0 {
		return &linesError{wrong}
	}
	return nil
}

// A linesError is about lines of standard input.
type linesError struct{ all []error }

// mostShown is how many lines an error shows.
const mostShown = 20

func (e *linesError) Error() string {
	shown := []string{fmt.Sprintf("standard input: %s could not be read:", count(len(e.all), "line"))}
	for i, err := range e.all {
		if i == mostShown {
			shown = append(shown, fmt.Sprintf("and %d more", len(e.all)-i))
			break
		}
		shown = append(shown, err.Error())
	}
	return strings.Join(shown, "\n  ")
}

func (e *linesError) Unwrap() []error { return e.all }
