package merge

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	snowmerge "github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// run merges the source into a new database and verifies it.
func (s scenario) run(ctx context.Context, tb testing.TB, server *dbtest.Server, source *sql.DB) (time.Duration, []Phase, error) {
	p, err := s.plan(ctx, source)
	if err != nil {
		return 0, nil, err
	}
	target, name, err := world(ctx, tb, server, p)
	if err != nil {
		return 0, nil, err
	}
	defer target.Close()
	begin := time.Now()
	phases, err := do(ctx, target, source, p)
	if err != nil {
		return 0, nil, err
	}
	took := time.Since(begin)
	_, err = target.ExecContext(ctx, "DROP DATABASE "+name)
	return took, phases, err
}

// do runs a merge and times its phases.
func do(ctx context.Context, target, source *sql.DB, p *plan.Plan) ([]Phase, error) {
	return doAll(ctx, target, []snowmerge.Source{{Name: "s1", DB: source}}, p, job{})
}

// doAll runs a merge of several sources, or only does a dry run of it, as a job says, and times its phases.
func doAll(ctx context.Context, target *sql.DB, sources []snowmerge.Source, p *plan.Plan, j job) ([]Phase, error) {
	var phases []Phase
	var begin time.Time
	m, err := snowmerge.New(sqlsnow.MySQL, target, sources, p, snowmerge.Config{
		Namespace: "bench", WithoutForeignKeys: j.WithoutForeignKeys,
		Events: func(e report.Event) {
			now := time.Now()
			if n := len(phases); n == 0 || phases[n-1].Name != string(e.Phase) {
				if n > 0 {
					phases[n-1].Took = now.Sub(begin)
				}
				phases, begin = append(phases, Phase{Name: string(e.Phase)}), now
			}
		},
	})
	if err != nil {
		return nil, err
	}
	var found interface{ Err() error }
	if j.Dry {
		found, err = m.DryRun(ctx)
	} else {
		found, err = m.Run(ctx)
	}
	if n := len(phases); n > 0 {
		phases[n-1].Took = time.Since(begin)
	}
	if err == nil {
		err = found.Err()
	}
	return phases, err
}

// jobVariable holds the job of a process whose memory is measured.
const jobVariable = "SNOW_BENCH_MERGE"

type job struct {
	Sources map[string]string // DSNs
	Target  string            // DSN
	Plan    []byte            // JSON
	Dry     bool              // a dry run, and nothing else

	WithoutForeignKeys bool // see snowmerge.Config
}

// A doneJob is what a process says of its job.
type doneJob struct {
	Bytes     int64         // the most memory
	Processor time.Duration // time
	Phases    []Phase
}

// peak measures how much memory a process takes that merges the rows of the last
// scenario, and nothing else.
func peak(ctx context.Context, tb testing.TB, server *dbtest.Server, rows int) (p Peak, err error) {
	all := scenarios()
	s := all[len(all)-1]
	source, err := s.source(ctx, tb, server, rows)
	if err != nil {
		return p, err
	}
	defer source.Close()
	proposed, err := s.plan(ctx, source)
	if err != nil {
		return p, err
	}
	target, name, err := world(ctx, tb, server, proposed)
	if err != nil {
		return p, err
	}
	defer target.Close()
	var from string
	if err := source.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&from); err != nil {
		return p, err
	}
	begin := time.Now()
	done, err := job{Sources: map[string]string{"s1": server.DSN(from)}, Target: server.DSN(name)}.process(ctx, proposed)
	if err != nil {
		return p, err
	}
	p = Peak{Rows: rows + s.parents(rows), Took: time.Since(begin), Bytes: done.Bytes}
	for _, db := range []string{from, name} {
		if _, err := target.ExecContext(ctx, "DROP DATABASE "+db); err != nil {
			return p, err
		}
	}
	return p, nil
}

// process does a job in a process of its own.
func (j job) process(ctx context.Context, p *plan.Plan) (done doneJob, err error) {
	var text bytes.Buffer
	if err := p.WriteJSON(&text); err != nil {
		return done, err
	}
	j.Plan = text.Bytes()
	b, err := json.Marshal(j)
	if err != nil {
		return done, err
	}
	program, err := os.Executable()
	if err != nil {
		return done, err
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), jobVariable+"="+string(b), "GOGC=300") // as cmd/snow sets it
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return done, fmt.Errorf("%w: %s", err, said.Bytes())
	}
	err = json.Unmarshal(out, &done)
	done.Processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return done, err
}

// Process does the job of a process whose memory is measured, if this is one,
// and ends it. Otherwise it returns.
func Process() {
	text := os.Getenv(jobVariable)
	if text == "" {
		return
	}
	if err := process(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func process(text string) error {
	ctx := context.Background()
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	p, err := plan.Read(bytes.NewReader(j.Plan))
	if err != nil {
		return err
	}
	var sources []snowmerge.Source
	for name, dsn := range j.Sources {
		source, err := sql.Open("mysql", dsn)
		if err != nil {
			return err
		}
		defer source.Close()
		sources = append(sources, snowmerge.Source{Name: name, DB: source})
	}
	target, err := sql.Open("mysql", j.Target)
	if err != nil {
		return err
	}
	defer target.Close()
	var done doneJob
	if done.Phases, err = doAll(ctx, target, sources, p, j); err != nil {
		return err
	}
	if done.Bytes, err = residentPeak(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(done)
}

// residentPeak asks Linux for the most memory that this process had at a time.
func residentPeak() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return n << 10, err
		}
	}
	return 0, errors.New("/proc/self/status has no VmHWM")
}
