package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// snow returns the command line, which is killed after ten minutes.
func snow(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(os.Environ(), asCommand+"=yes")
	return c
}

// output runs a command and returns all that it prints.
func output(t *testing.T, args ...string) string {
	t.Helper()
	out, err := snow(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("snow %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// terminal returns the ends of a new pseudo terminal.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals: ", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// Ctrl-C at a question ends the command at once, and whoever types yes then does not fence.
func TestCtrlCAtQuestion(t *testing.T) {
	dsn := "--dsn=" + filepath.Join(t.TempDir(), "registry.db")
	output(t, "migrate", dsn)
	output(t, "init", dsn, "--namespace=shop", "--workers=2")
	for _, keys := range []string{"\x03", "y\x03"} {
		person, program := terminal(t)
		c := snow(t, "fence", dsn, "--namespace=shop")
		c.Stdin, c.Stdout, c.Stderr = program, program, program
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_ = program.Close()
		screen := bufio.NewReader(person)
		if _, err := screen.ReadString(']'); err != nil { // [y/N]
			t.Fatal(err)
		}
		if _, err := io.WriteString(person, keys); err != nil {
			t.Fatal(err)
		}
		shown, _ := io.ReadAll(screen) // until the command ends and its terminal with it
		err := c.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 4 || !strings.Contains(string(shown), "interrupted: not confirmed, and nothing was changed") {
			t.Errorf("%q: %v: %s", keys, err, shown)
		}
		if got := output(t, "workers", dsn, "--namespace=shop"); !strings.Contains(got, "2 free") {
			t.Errorf("%q: %s", keys, got)
		}
	}
}

// On a terminal, --watch always draws in the same place, in lines that fit.
func TestWatchOnTerminal(t *testing.T) {
	dsn := "--dsn=" + filepath.Join(t.TempDir(), "registry.db")
	output(t, "migrate", dsn)
	output(t, "init", dsn, "--namespace=shop", "--workers=200")
	person, program := terminal(t)
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 60, Row: 5}); err != nil {
		t.Fatal(err)
	}
	c := snow(t, "workers", dsn, "--namespace=shop", "--all", "--watch", "--every=1ms")
	c.Env = append(c.Env, "TERM=xterm")
	c.Stdin, c.Stdout, c.Stderr = program, program, program
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close()
	screen := bufio.NewReader(person)
	var drawn string
	for range 2 {
		text, err := screen.ReadString('J') // the end of a drawing
		if err != nil {
			t.Fatal(err)
		}
		drawn = text
	}
	if _, err := io.WriteString(person, "\x03"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, screen)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	lines := strings.Split(drawn, "\x1b[K\r\r\n") // the terminal writes a \r of its own
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "\x1b[Hshop at ") || !strings.HasPrefix(lines[2], "0–199 ") || lines[3] != "\x1b[J" {
		t.Errorf("%q", lines)
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(strings.TrimPrefix(line, "\x1b[H")); n > 60 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// A signal ends a command that waits for its standard input.
func TestSignalWhileReading(t *testing.T) {
	for _, args := range [][]string{{"id", "show"}, {"layout", "-"}} {
		in, keep, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer keep.Close()
		c := snow(t, args...)
		var out strings.Builder
		c.Stdin, c.Stderr = in, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_ = in.Close()
		// More than a pipe holds: the command reads.
		if _, err := io.WriteString(keep, strings.Repeat("\n", 1<<18)); err != nil {
			t.Fatal(err)
		}
		_ = c.Process.Signal(syscall.SIGTERM)
		err = c.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(out.String(), "interrupted") {
			t.Errorf("%v: %v: %s", args, err, out.String())
		}
	}
}
