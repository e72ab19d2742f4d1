// Package merge measures package merge on MariaDB: rows a second beside the
// floor, which is INSERT … SELECT of the same rows between the same databases,
// and memory beside the number of rows.
package merge

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver
	"github.com/shardsnow/snow/bench/rows"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// Options say how much to measure.
type Options struct {
	Rows     int   // of each table in the measurement of speed
	Rounds   int   // the middle one counts
	Memory   []int // rows of the table in each measurement of memory
	Progress func(string)
}

// Result is what was measured.
type Result struct {
	Version string       `json:"version"` // of MariaDB
	Cases   []CaseResult `json:"cases"`
	Memory  []Peak       `json:"memory"`
}

// A CaseResult compares a merge of one table with the floor.
type CaseResult struct {
	Name   string        `json:"name"`
	Rows   int           `json:"rows"`
	Floor  time.Duration `json:"floor"`  // INSERT … SELECT
	Run    time.Duration `json:"run"`    // all of it, verification included
	Phases []Phase       `json:"phases"` // of the run
	Spread float64       `json:"spread"` // half the distance between the fastest and the slowest run, as a share of Run
	Target float64       `json:"target"` // the wanted ratio of rows/s without verification to the floor's rows/s
}

// A Phase is a part of a run.
type Phase struct {
	Name string        `json:"name"`
	Took time.Duration `json:"took"`
}

// Copying is the time without verification.
func (c CaseResult) Copying() time.Duration {
	total := time.Duration(0)
	for _, p := range c.Phases {
		if p.Name != "verify" {
			total += p.Took
		}
	}
	return total
}

// Ratio is the run's rows/s over the floor's.
func (c CaseResult) Ratio() float64 { return c.Floor.Seconds() / c.Run.Seconds() }

// A Peak is the largest memory of a process that merged so many rows.
type Peak struct {
	Rows  int           `json:"rows"`
	Bytes int64         `json:"bytes"` // resident, at most
	Took  time.Duration `json:"took"`
}

// Measure measures. It starts the server.
func Measure(ctx context.Context, o Options) (result Result, err error) {
	err = rows.Hosted(func(tb testing.TB) error {
		server := dbtest.MariaDB(tb, "innodb-buffer-pool-size=512M", "innodb-log-file-size=256M")
		if err := version(ctx, server, &result); err != nil {
			return err
		}
		for _, s := range scenarios() {
			r, err := s.measure(ctx, tb, server, o)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			result.Cases = append(result.Cases, r)
		}
		for _, n := range o.Memory {
			o.Progress(fmt.Sprintf("memory of %d rows", n))
			p, err := peak(ctx, tb, server, n)
			if err != nil {
				return fmt.Errorf("memory of %d rows: %w", n, err)
			}
			result.Memory = append(result.Memory, p)
		}
		return nil
	})
	return result, err
}

func version(ctx context.Context, server *dbtest.Server, result *Result) error {
	db, err := sql.Open("mysql", server.DSN(""))
	if err != nil {
		return err
	}
	defer db.Close()
	return db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&result.Version)
}

// measure does the rounds of a case, each with a floor and a run of its own.
func (s scenario) measure(ctx context.Context, tb testing.TB, server *dbtest.Server, o Options) (CaseResult, error) {
	source, err := s.source(ctx, tb, server, o.Rows)
	if err != nil {
		return CaseResult{}, err
	}
	defer source.Close()
	var rounds []CaseResult
	var floors []time.Duration
	for i := range o.Rounds {
		o.Progress(fmt.Sprintf("%s, round %d of %d", s.name, i+1, o.Rounds))
		floor, err := s.floor(ctx, tb, server, source)
		if err != nil {
			return CaseResult{}, fmt.Errorf("floor: %w", err)
		}
		run, phases, err := s.run(ctx, tb, server, source)
		if err != nil {
			return CaseResult{}, err
		}
		floors = append(floors, floor)
		rounds = append(rounds, CaseResult{Name: s.name, Rows: o.Rows + s.parents(o.Rows), Run: run, Phases: phases, Target: s.target})
	}
	slices.Sort(floors)
	slices.SortFunc(rounds, func(a, b CaseResult) int { return int(a.Run - b.Run) })
	r := rounds[len(rounds)/2]
	r.Floor = floors[len(floors)/2]
	r.Spread = float64(rounds[len(rounds)-1].Run-rounds[0].Run) / 2 / float64(r.Run)
	return r, nil
}
