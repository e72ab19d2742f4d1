package httpsnow

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// It is what context.WithTimeout returns, whoever asks for what first.
func TestDeadline(t *testing.T) {
	for name, look := range map[string]func(context.Context){
		"nobody looks before":    func(context.Context) {},
		"somebody waits before":  func(ctx context.Context) { ctx.Done() },
		"somebody asked for Err": func(ctx context.Context) { _ = ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				type key struct{}
				parent, end := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
				defer end()
				begin := time.Now()

				d := withTimeout(parent, time.Second)
				look(d)
				if until, ok := d.Deadline(); !ok || !until.Equal(begin.Add(time.Second)) || d.Err() != nil || d.Value(key{}) != "value" {
					t.Errorf("at first: %v, %v, %v", until, ok, d.Err())
				}
				time.Sleep(2 * time.Second)
				if !errors.Is(d.Err(), context.DeadlineExceeded) {
					t.Errorf("after the time: %v", d.Err())
				}
				<-d.Done()
				d.stop()
				if !errors.Is(d.Err(), context.DeadlineExceeded) {
					t.Errorf("stopped after the time: %v", d.Err())
				}

				d = withTimeout(parent, time.Second)
				look(d)
				d.stop()
				<-d.Done()
				if !errors.Is(d.Err(), context.Canceled) {
					t.Errorf("stopped: %v", d.Err())
				}

				d = withTimeout(parent, time.Hour)
				look(d)
				end()
				<-d.Done()
				if !errors.Is(d.Err(), context.Canceled) {
					t.Errorf("the request ended: %v", d.Err())
				}
				d.stop()

				early, stop := context.WithTimeout(context.Background(), time.Millisecond)
				defer stop()
				d = withTimeout(early, time.Hour)
				look(d)
				if until, _ := d.Deadline(); !until.Equal(time.Now().Add(time.Millisecond)) {
					t.Errorf("a request that ends earlier: %v", until)
				}
				<-d.Done()
				if !errors.Is(d.Err(), context.DeadlineExceeded) {
					t.Errorf("a request that ended earlier: %v", d.Err())
				}
				d.stop()
			})
		})
	}
}
