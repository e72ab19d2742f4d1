package command

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// serveSignals are signals that must not end the process before its worker number is given back.
type serveSignals struct {
	hangup chan os.Signal  // SIGHUP
	urgent context.Context // ends with the second signal that ends the service
	stop   func()
}

func catchSignals() *serveSignals {
	urgent, cancel := context.WithCancel(context.Background())
	s := &serveSignals{hangup: make(chan os.Signal, 1), urgent: urgent}
	signal.Notify(s.hangup, syscall.SIGHUP)
	ends := make(chan os.Signal, 2)
	signal.Notify(ends, os.Interrupt, syscall.SIGTERM)
	s.stop = func() {
		signal.Stop(s.hangup)
		signal.Stop(ends)
		cancel()
	}
	go func() {
		for range 2 { // the first one ends the context of the command as well
			select {
			case <-ends:
			case <-urgent.Done():
				return
			}
		}
		signal.Stop(ends) // a third one ends the process
		cancel()
	}()
	return s
}
