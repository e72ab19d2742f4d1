// Command busy runs another command while other processes keep the machine busy: several use the processor, and one
// writes to the disk and syncs. Its exit code is the command's.
//
//	go run ./internal/tools/busy -n 16 make test
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
)

const (
	variable = "SNOW_BUSY" // the job of a process of the load
	written  = 64 << 20    // bytes between two syncs
)

func main() {
	switch os.Getenv(variable) {
	case "spin":
		go whileParentLives()
		for n := 0; ; n++ {
		}
	case "write":
		go whileParentLives()
		fmt.Fprintln(os.Stderr, "busy: write:", write())
		os.Exit(1)
	}
	n := flag.Int("n", 16, "processes that use the processor; 0 is no load at all")
	flag.Parse()
	code, err := run(*n, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "busy:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(n int, command []string) (code int, err error) {
	if len(command) == 0 {
		return 0, errors.New("no command")
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	for i := range n + min(n, 1) {
		job := "spin"
		if i == n {
			job = "write"
		}
		load := exec.Command(self)
		load.Env = append(os.Environ(), variable+"="+job, "GOMAXPROCS=2") // the second for whileParentLives
		load.Stderr = os.Stderr
		if _, err := load.StdinPipe(); err != nil { // the system closes it when this process ends, for whatever reason
			return 0, err
		}
		if err := load.Start(); err != nil {
			return 0, err
		}
		defer func() { _ = load.Process.Kill(); _ = load.Wait() }()
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// whileParentLives ends the process when its standard input ends.
func whileParentLives() {
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

// write writes and syncs a file again and again, until an error.
func write() error {
	f, err := os.CreateTemp("", "busy-")
	if err != nil {
		return err
	}
	if err := os.Remove(f.Name()); err != nil { // the file disappears with the process
		return err
	}
	block := make([]byte, 1<<20)
	for {
		for at := int64(0); at < written; at += int64(len(block)) {
			if _, err := f.WriteAt(block, at); err != nil {
				return err
			}
		}
		if err := f.Sync(); err != nil {
			return err
		}
	}
}
