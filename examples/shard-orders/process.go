package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A process is another process of the operating system, which does a job.
type process struct {
	cmd    *exec.Cmd
	job    job
	in     *json.Encoder
	stdin  io.Closer
	out    *json.Decoder
	stderr bytes.Buffer
	worker uint64 // the number that it has leased
}

// startProcess returns when the process has its number and waits for begin. It is
// killed when ctx ends; the caller calls kill in any case.
func startProcess(ctx context.Context, j job) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, program, workerFlag), job: j}
	p.cmd.Stderr, p.cmd.WaitDelay = &p.stderr, time.Second
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.stdin, p.in, p.out = stdin, json.NewEncoder(stdin), json.NewDecoder(stdout)
	ready, err := news{}, p.in.Encode(j)
	if err == nil {
		ready, err = p.next()
	}
	if err != nil {
		return nil, errors.Join(err, p.kill())
	}
	p.worker = ready.Worker
	return p, nil
}

// next returns the next message of the process.
func (p *process) next() (n news, err error) {
	if err := p.out.Decode(&n); err != nil {
		return n, p.failed()
	}
	return n, nil
}

// failed waits until a process that sends nothing more has ended, and returns the reason.
func (p *process) failed() error {
	_ = p.stdin.Close()
	err := p.cmd.Wait()
	if text := strings.TrimSpace(p.stderr.String()); text != "" {
		err = errors.New(strings.TrimPrefix(text, "shard-orders: "))
	}
	return fmt.Errorf("the process of database %s: %w", p.job.Database.Name, err)
}

// begin tells the process to start.
func (p *process) begin() error {
	if err := p.in.Encode("start"); err != nil {
		return p.failed()
	}
	return nil
}

// finish returns when the job is done and the process has ended.
func (p *process) finish() (stored int, err error) {
	n, err := p.next()
	if err != nil {
		return 0, err
	}
	if err := p.cmd.Wait(); err != nil || !n.Done {
		return n.Stored, fmt.Errorf("the process of database %s: %w", p.job.Database.Name, errors.Join(err, errUnfinished))
	}
	return n.Stored, nil
}

var errUnfinished = errors.New("it ended before its job was done")

// kill ends the process at once, if it has not ended, and waits until it is gone.
func (p *process) kill() error {
	if p == nil || p.cmd.ProcessState != nil {
		return nil
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_ = p.cmd.Wait() // says that it was killed
	return nil
}
