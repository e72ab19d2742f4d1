//go:build unix

package dbtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// fakers are the paths, on any architecture, of Debian's library that shifts the clock of the program that loads it.
var fakers = []string{"/usr/lib/*/faketime/libfaketimeMT.so.1"}

// SetClock shifts the server's wall clock by offset, in whole seconds, from the machine's, for all its connections,
// until the next call. The speed of its clocks does not change. The first call restarts the server, as
// [Server.Restart] does, with libfaketime loaded.
//
// Without Debian's package libfaketime the test is skipped, or fails if databases are required.
func (s *Server) SetClock(tb testing.TB, offset time.Duration) {
	tb.Helper()
	s.private(tb, "set the clock")
	faker := findFaker(tb)
	if err := s.writeClock(offset); err != nil {
		tb.Fatalf("dbtest: %s: set the clock: %v", s.engine.name(), err)
	}
	if s.environment != nil {
		return
	}
	s.environment = []string{
		"LD_PRELOAD=" + faker,
		"FAKETIME_TIMESTAMP_FILE=" + s.clock(),
		"FAKETIME_NO_CACHE=1",            // read the file at every question for the time
		"FAKETIME_DONT_FAKE_MONOTONIC=1", // timers of the server are not shifted
	}
	s.Restart(tb)
}

func (s *Server) clock() string { return filepath.Join(s.dir, "clock") }

// writeClock replaces the file in one step, because the server reads it all the time.
func (s *Server) writeClock(offset time.Duration) error {
	next := s.clock() + ".next"
	return errors.Join(
		os.WriteFile(next, fmt.Appendf(nil, "%+d\n", int64(offset/time.Second)), 0o644),
		os.Chmod(next, 0o644), // in spite of the umask: the server may run as another user
		os.Rename(next, s.clock()),
	)
}

func findFaker(tb testing.TB) string {
	tb.Helper()
	for _, pattern := range fakers {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	end := tb.Skipf
	if required() {
		end = tb.Fatalf
	}
	end("dbtest: libfaketime not found: apt-get install libfaketime")
	return ""
}

// sweepClock removes the shared memory that libfaketime leaves when its program is killed.
func sweepClock(pid int) {
	left, _ := filepath.Glob(fmt.Sprintf("/dev/shm/*faketime_*_%d", pid))
	for _, path := range left {
		_ = os.Remove(path)
	}
}
