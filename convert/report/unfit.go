package report

import "strings"

// An UnfitError says that a database can't be converted as it is: by settings of the server, by rights that the account
// lacks, or by counters that have come as far as snow ids. Each reason has the remedy.
type UnfitError struct {
	Reasons []string
}

func (e *UnfitError) Error() string {
	return "the database can't be converted as it is: " + strings.Join(e.Reasons, "; ")
}
