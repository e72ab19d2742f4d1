//go:build unix

package job

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// childVariable has the dialect, the place to stop at, and the DSN, for a process that runs the job.
const childVariable = "SNOW_TEST_JOB"

func TestMain(m *testing.M) {
	if args := os.Getenv(childVariable); args != "" {
		os.Exit(child(args))
	}
	os.Exit(m.Run())
}

// child runs the fake job. It writes a line for each chunk, and the error of the run in the end. At the place to stop
// it says so, and waits for a line.
func child(args string) int {
	fields := strings.SplitN(args, " ", 3)
	d := sqldialect.Dialect(fields[0][0] - '0')
	db, err := sql.Open(map[sqldialect.Dialect]string{sqldialect.MySQL: "mysql", sqldialect.Postgres: "pgx"}[d], fields[2])
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer db.Close()
	j := fakeOf(d, db)
	j.Gates, j.Lease = []string{"count"}, time.Second
	fields[1] = strings.ReplaceAll(fields[1], "_", " ")
	stop := func(place string) {
		if fields[1] == place {
			fmt.Println("here")
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		}
	}
	j.Events = func(e report.Event) { fmt.Println(e.Kind, e.Step, e.Done) }
	do := j.Steps[1].Do
	j.Steps[1].Do = func(ctx context.Context, r *Run) error {
		store, wait := r.Store, r.Wait
		r.Store = func(ctx context.Context, tx *sql.Tx, position string) error {
			if position == "3" {
				stop("before store")
			}
			err := store(ctx, tx, position)
			if position == "3" {
				stop("after store")
			}
			return err
		}
		r.Wait = func(ctx context.Context, done, of int64) error {
			err := wait(ctx, done, of)
			if done == 2*fakeRows {
				if err := r.Check(ctx); err != nil {
					return err
				}
				stop("after check")
				if fields[1] == "after check" { // a statement that commits by itself
					_, err := r.DB.ExecContext(ctx, "CREATE TABLE astray (id INT PRIMARY KEY)")
					return err
				}
			}
			return err
		}
		return do(ctx, r)
	}
	if err := j.Run(context.Background()); err != nil {
		overtaken := new(report.OvertakenError)
		fmt.Printf("ended %t %v\n", errors.As(err, &overtaken), err)
		return 1
	}
	fmt.Println("ended well")
	return 0
}

type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t *testing.T, d sqldialect.Dialect, stop, dsn string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	p.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s", childVariable, int(d), strings.ReplaceAll(stop, " ", "_"), dsn))
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.out, p.Stderr = in, bufio.NewScanner(out), os.Stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// until reads lines to one with a prefix.
func (p *process) until(t *testing.T, prefix string) string {
	t.Helper()
	last := ""
	for p.out.Scan() {
		if last = p.out.Text(); strings.HasPrefix(last, prefix) {
			return last
		}
	}
	t.Fatalf("the process ended without %q: %s", prefix, last)
	return ""
}

// A process that is killed at any point is continued: no chunk is written twice, none is missing.
func TestKilled(t *testing.T) {
	each(t, func(t *testing.T, d sqldialect.Dialect, dsn string) {
		j := fake(t, d, dsn)
		kills := 0
		for ended := false; !ended; {
			p := start(t, d, "-", dsn)
			for range rand.IntN(12) {
				if ended = !p.out.Scan() || strings.HasPrefix(p.out.Text(), "ended"); ended {
					break
				}
			}
			if ended {
				if p.out.Text() != "ended well" {
					t.Fatalf("after %d kills: %s", kills, p.out.Text())
				}
			} else if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			kills++
			_ = p.Wait()
		}
		t.Logf("%d kills", kills-1)
		for _, step := range j.Steps {
			if err := step.Verify(t.Context(), &Run{DB: j.DB}); err != nil {
				t.Errorf("%s: %v", step.Name, err)
			}
		}
	})
}

// A process that is stopped, and wakes up after another one took over, writes nothing.
func TestStopped(t *testing.T) {
	each(t, func(t *testing.T, d sqldialect.Dialect, dsn string) {
		for _, place := range []string{"before store", "after store", "after check"} {
			j := fake(t, d, dsn)
			j.Gates, j.Lease = []string{"count"}, time.Second
			p := start(t, d, place, dsn)
			p.until(t, "here")
			if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			var status syscall.WaitStatus // all its threads have stopped
			if _, err := syscall.Wait4(p.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
				t.Fatalf("status %x, %v", status, err)
			}
			if _, err := io.WriteString(p.in, "\n"); err != nil {
				t.Fatal(err)
			}
			takeOver(t, j)
			if err := p.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			if said := p.until(t, "ended"); said == "ended well" {
				t.Errorf("%s: the process that was stopped went on", place)
			} else {
				t.Logf("%s: %s", place, said)
			}
			_ = p.Wait()
			for _, step := range j.Steps {
				if err := step.Verify(t.Context(), &Run{DB: j.DB}); err != nil {
					t.Errorf("%s: %s: %v", place, step.Name, err)
				}
			}
			if err := j.Back(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := tables(t, j); n != 0 {
				t.Errorf("%s: %d tables are left", place, n)
			}
		}
	})
}

// takeOver runs a job as soon as the process that has it is silent for long enough.
func takeOver(t *testing.T, j *Job) {
	t.Helper()
	for {
		err := j.Run(t.Context())
		var running *report.RunningError
		if err == nil {
			return
		}
		if !errors.As(err, &running) {
			t.Fatal(err)
		}
	}
}

// One run at a time: another one is told who works.
func TestRunning(t *testing.T) {
	each(t, func(t *testing.T, d sqldialect.Dialect, dsn string) {
		first, second := fake(t, d, dsn), fake(t, d, dsn)
		first.Holder = "first"
		var running *report.RunningError
		first.Steps[0].Do = func(ctx context.Context, _ *Run) error {
			if err := second.Run(ctx); !errors.As(err, &running) {
				return fmt.Errorf("the second run: %w", err)
			}
			if err := second.Back(ctx); !errors.As(err, &running) || running.Holder != "first" {
				return fmt.Errorf("the way back: %w", err)
			}
			s, err := second.Status(ctx)
			if err != nil || !s.Running || s.Holder != "first" {
				return fmt.Errorf("status: %+v, %w", s, err)
			}
			return errors.New("as it should be")
		}
		var failed *report.StepError
		if err := first.Run(t.Context()); !errors.As(err, &failed) || failed.Err.Error() != "as it should be" {
			t.Error(err)
		}
	})
}
