//go:build !unix

package mergecommand

import "os"

var userSignals []os.Signal
