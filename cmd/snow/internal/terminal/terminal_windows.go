package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// Size returns how many columns and rows a terminal has, or 0, 0 if the file is none or takes no escape sequences.
func Size(f *os.File) (columns, rows int) {
	console := windows.Handle(f.Fd())
	var info windows.ConsoleScreenBufferInfo
	var mode uint32
	if windows.GetConsoleScreenBufferInfo(console, &info) != nil || windows.GetConsoleMode(console, &mode) != nil ||
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) != nil {
		return 0, 0
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1
}
