package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// displayWidth is what MariaDB and older versions of MySQL write behind an integer type, and newer versions do not.
var displayWidth = regexp.MustCompile(`\b((?:tiny|small|medium|big)?int(?:eger)?) ?\(\d+\)`)

// digest returns eight characters that change, but for an accident of one in four billion, if a table of a plan without
// decisions does, in anything that a decision may depend on: its columns, their types, its keys, the sources that have it.
func (t *Table) digest() string {
	h := sha256.New()
	write := func(values ...any) { _, _ = fmt.Fprintf(h, "%q\n", values) }
	write(t.Name, t.Sources, t.PrimaryKey)
	for _, c := range t.Columns {
		typ := displayWidth.ReplaceAllString(strings.ToLower(c.Type), "$1")
		write(c.Name, typ, fmt.Sprint(c.Nullable), c.Generated, c.Sources)
	}
	for _, u := range t.Unique {
		write("unique", u.Columns)
	}
	for _, k := range t.ForeignKeys {
		write("foreign", k.Columns, k.Table, k.Refers)
	}
	return hex.EncodeToString(h.Sum(nil))[:8]
}
