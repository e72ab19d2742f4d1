//go:build unix && !aix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Size returns how many columns and rows a terminal has, or 0, 0 if the file is none.
func Size(f *os.File) (columns, rows int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	switch {
	case err != nil:
		return 0, 0
	case size.Col == 0 || size.Row == 0: // a serial line does not know
		return 80, 24
	}
	return int(size.Col), int(size.Row)
}
