//go:build !linux

package main

// memory returns "", which is the system's folder for temporary files.
func memory() string { return "" }
