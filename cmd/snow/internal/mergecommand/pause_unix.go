//go:build unix

package mergecommand

import (
	"os"
	"syscall"
)

var userSignals = []os.Signal{syscall.SIGUSR1}
