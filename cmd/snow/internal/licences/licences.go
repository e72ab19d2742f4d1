// Package licences has the licences of all that is in the command, which must go with each copy of it.
package licences

import _ "embed"

// Text has the licences of snow, of the Go library and of all modules in the command, on any system. The test
// writes it:
//
//	go test ./internal/licences -update
//
//go:embed licences.txt
var Text string
