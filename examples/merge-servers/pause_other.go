//go:build !unix

package main

import "os"

var userSignals []os.Signal
