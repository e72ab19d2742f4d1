package report

import "fmt"

// A Fault is something that is not as the conversion should have left it.
type Fault struct {
	Table  string
	Column string // empty if it is not about one
	What   string // what is wrong
	Remedy string // what to do about it
}

// String returns the fault as one line.
func (f Fault) String() string {
	at := f.Table
	if f.Column != "" {
		at += "." + f.Column
	}
	if at == "" {
		at = "database"
	}
	return fmt.Sprintf("%s: %s; %s", at, f.What, f.Remedy)
}
