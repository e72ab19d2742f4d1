//go:build unix

package dbtest

import (
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"testing"
)

// recorder is a test that keeps the line that ended it.
type recorder struct {
	testing.TB
	end string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatal(args ...any) { r.stop("fatal: " + fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.stop("fatal: " + fmt.Sprintf(format, args...))
}

func (r *recorder) Skipf(format string, args ...any) { r.stop("skip: " + fmt.Sprintf(format, args...)) }

func (r *recorder) stop(line string) {
	r.end = line
	runtime.Goexit()
}

// record returns how a function ended its test; nothing if it did not.
func record(t *testing.T, f func(tb testing.TB)) string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r.end
}

func setShort(t *testing.T, short bool) {
	t.Helper()
	if err := flag.Set("test.short", strconv.FormatBool(short)); err != nil {
		t.Fatal(err)
	}
}
