package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shardsnow/snow/bench/fleet"
	"github.com/shardsnow/snow/bench/gormcost"
	"github.com/shardsnow/snow/bench/ids"
	"github.com/shardsnow/snow/bench/inspect"
	"github.com/shardsnow/snow/bench/merge"
	"github.com/shardsnow/snow/bench/numbercost"
	"github.com/shardsnow/snow/bench/opaquecost"
	"github.com/shardsnow/snow/bench/routecost"
	"github.com/shardsnow/snow/bench/rows"
	"github.com/shardsnow/snow/bench/serve"
)

// results is what results.json holds and RESULTS.md shows.
type results struct {
	IDs     *section[*ids.Result]         `json:"ids,omitempty"`
	Rows    *section[[]rows.Result]       `json:"rows,omitempty"`
	Turns   *section[[]rows.Turn]         `json:"turns,omitempty"`
	GORM    *section[gormcost.Result]     `json:"gorm,omitempty"`
	Serve   *section[serve.Result]        `json:"serve,omitempty"`
	Route   *section[routecost.Result]    `json:"route,omitempty"`
	Numbers *section[[]numbercost.Result] `json:"numbers,omitempty"`
	Merge   *section[merge.Result]        `json:"merge,omitempty"`
	Ways    *section[merge.Ways]          `json:"ways,omitempty"`

	Concurrent *section[[]rows.Table]        `json:"concurrent,omitempty"`
	Servers    *section[merge.ServersResult] `json:"servers,omitempty"`

	Inspect *section[[]inspect.Score] `json:"inspect,omitempty"`

	Opaque *section[opaquecost.Result] `json:"opaque,omitempty"`

	Fleet *section[[]fleet.Result] `json:"fleet,omitempty"`
}

// A section is one part, with its machine. The parts may be from
// different days and machines.
type section[T any] struct {
	Date    time.Time         `json:"date"`
	Took    time.Duration     `json:"took"`
	Quick   bool              `json:"quick,omitempty"`
	Machine machine           `json:"machine"`
	Modules map[string]string `json:"modules"`
	Others  *float64          `json:"others,omitempty"` // cores that other processes kept busy, on average
	Result  T                 `json:"result"`
}

func measured[T any](quick bool, measure func() (T, error)) (*section[T], error) {
	begin, before := time.Now(), readLoad()
	result, err := measure()
	s := &section[T]{
		Date: begin.UTC().Truncate(time.Second), Took: time.Since(begin).Round(time.Second), Quick: quick,
		Machine: thisMachine(), Modules: modules(), Result: result,
	}
	if others, ok := before.others(); ok {
		s.Others = &others
	}
	return s, err
}

func readResults(path string) (results, error) {
	var r results
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return r, fmt.Errorf("former results: %w", err)
	}
	return r, nil
}

// write writes results.json, RESULTS.md and the charts.
func (r results) write(dir string) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "results.json"), append(b, '\n'), 0o666); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "RESULTS.md"), []byte(r.report()), 0o666); err != nil {
		return err
	}
	return r.writeCharts(filepath.Join(dir, "charts"))
}

func (r results) report() string {
	var b strings.Builder
	b.WriteString("# Results\n\n" +
		"Written by `make bench` from results.json, which has more than the tables. Times depend on the machine: compare figures\n" +
		"of one part with each other, not with figures of another run.\n\n")
	if r.IDs != nil {
		b.WriteString(idsReport(r.IDs))
	}
	if r.Rows != nil {
		b.WriteString(rowsReport(r.Rows))
	}
	if r.Turns != nil {
		b.WriteString(turnsReport(r.Turns))
	}
	if r.Concurrent != nil {
		b.WriteString(concurrentReport(r.Concurrent))
	}
	if r.GORM != nil {
		b.WriteString(gormReport(r.GORM))
	}
	if r.Numbers != nil {
		b.WriteString(numbersReport(r.Numbers))
	}
	if r.Route != nil {
		b.WriteString(routeReport(r.Route))
	}
	if r.Serve != nil {
		b.WriteString(serveReport(r.Serve))
	}
	if r.Opaque != nil {
		b.WriteString(opaqueReport(r.Opaque))
	}
	if r.Fleet != nil {
		b.WriteString(fleetReport(r.Fleet))
	}
	if r.Merge != nil {
		b.WriteString(mergeReport(r.Merge))
	}
	if r.Ways != nil {
		b.WriteString(waysReport(r.Ways))
	}
	if r.Servers != nil {
		b.WriteString(serversReport(r.Servers))
	}
	if r.Inspect != nil {
		b.WriteString(inspectReport(r.Inspect))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// about names the machine of a section, and the versions of the
// modules that are named.
func (s *section[T]) about(paths []string) string {
	var b strings.Builder
	m := s.Machine
	how := "a full run"
	if s.Quick {
		how = "**a quick run, for a first look: too short for small differences**"
	}
	fmt.Fprintf(&b, "Measured %s in %v, %s.\n\n", s.Date.Format("2006-01-02 15:04 MST"), s.Took, how)
	fmt.Fprintf(&b, "- machine: %s, %d cores, %s MB of memory\n", orUnknown(m.CPU), m.Cores, grouped(m.MemoryMB))
	fmt.Fprintf(&b, "- system: %s, %s\n", orUnknown(m.OS), m.Kernel)
	fmt.Fprintf(&b, "- Go: %s\n", m.Go)
	if s.Others != nil {
		fmt.Fprintf(&b, "- other work on the machine meanwhile: %.2f cores on average\n", *s.Others)
	}
	var list []string
	for _, path := range paths {
		if v := s.Modules[path]; v != "" {
			list = append(list, path+" "+v)
		}
	}
	if len(list) > 0 {
		b.WriteString("- modules: " + strings.Join(list, ", ") + "\n")
	}
	return b.String() + "\n"
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
