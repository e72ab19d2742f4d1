//go:build unix && !aix

package mergecommand

import (
	"os"

	"golang.org/x/sys/unix"
)

// columnsOf returns how many columns a terminal has, or 0 if the file is none.
func columnsOf(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	switch {
	case err != nil:
		return 0
	case size.Col == 0: // a serial line does not know
		return 80
	}
	return int(size.Col)
}
