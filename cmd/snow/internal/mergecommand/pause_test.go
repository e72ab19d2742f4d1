//go:build unix

package mergecommand

import (
	"slices"
	"syscall"
	"testing"
)

func TestPauseOnSignal(t *testing.T) {
	pauses := make(chan bool)
	stop := pauseOnSignal(func(on bool) { pauses <- on })
	var got []bool
	for range 3 {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		got = append(got, <-pauses)
	}
	stop()
	if want := []bool{true, false, true}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
