package mergecommand

import (
	"os"

	"golang.org/x/sys/windows"
)

// columnsOf returns how many columns a terminal has, or 0 if the file is none.
func columnsOf(f *os.File) int {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info); err != nil {
		return 0
	}
	return int(info.Window.Right-info.Window.Left) + 1
}
