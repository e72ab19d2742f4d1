package mergecommand

import (
	"os"
	"os/signal"
)

// pauseOnSignal pauses a run at a signal of the user, and lets it go on at the
// next one, until stop is called. Where the system has no such signals, there is
// -pause-file.
func pauseOnSignal(pause func(bool)) (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	if len(userSignals) > 0 { // without signals, Notify would relay all of them
		signal.Notify(signals, userSignals...)
	}
	go func() {
		defer close(done)
		for on := true; ; on = !on {
			if _, ok := <-signals; !ok {
				return
			}
			pause(on)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-done
	}
}
