//go:build unix

package main

import (
	"os"
	"syscall"
)

var userSignals = []os.Signal{syscall.SIGUSR1}
