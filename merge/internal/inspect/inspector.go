package inspect

import (
	"fmt"
	"slices"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/plan"
)

// A Database is a source, as Propose sees it.
type Database struct {
	Name    string // see merge.Source
	Catalog *catalog.Catalog
	Rows    Rows
}

// An inspector says what follows from the schemas and from the ranges of keys.
type inspector struct {
	*evidence
	vocabulary *vocabulary
}

// addSuspect appends a suspect that the column does not have yet.
func addSuspect(c *plan.Column, format string, args ...any) {
	if suspect := fmt.Sprintf(format, args...); !slices.Contains(c.Suspects, suspect) {
		c.Suspects = append(c.Suspects, suspect)
	}
}
