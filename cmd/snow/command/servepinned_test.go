package command

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// A second service with the number of one that runs waits for it. When it is told to end, it says who has the number.
func TestServePinnedTwice(t *testing.T) {
	newRegistry(t)
	first := serve(t, "-namespace", "shop", "-worker", "3")
	for wait := time.Second; ; wait *= 2 { // on a busy machine it may not even have asked
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		var stdout, stderr bytes.Buffer
		a := &app{Streams: Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr}, now: time.Now}
		status := run(ctx, []string{"serve", "-listen", "127.0.0.1:0", "-namespace", "shop", "-worker", "3"}, a)
		cancel()
		if status == 0 || stdout.Len() > 0 {
			t.Fatalf("exit status %d: %s", status, stdout.String())
		}
		if strings.Contains(stderr.String(), "worker 3 is held by ") {
			break
		}
	}
	if status, _ := first.ask(t, "POST", "/v1/ids", ""); status != 200 {
		t.Errorf("the first one answers %d", status)
	}
	first.stop()
	if status := <-first.end; status != 0 {
		t.Errorf("exit status %d: %s", status, first.log())
	}
	// The window of the first one is 30 s, and its number is free at once.
	second := serve(t, "-namespace", "shop", "-worker", "3")
	if status, body := second.ask(t, "POST", "/v1/ids", ""); status != 200 {
		t.Errorf("the next one answers %d: %s", status, body)
	}
}
