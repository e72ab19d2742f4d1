package sqlsnowtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// The list in the doc comment is the contract that Run checks.
func TestDocTellsTheContract(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	for i, clause := range contract {
		fmt.Fprintf(&list, "%d. %s ", i+1, clause.sentence)
	}
	doc := strings.Join(strings.Fields(file.Doc.Text()), " ")
	if want := strings.TrimSpace(list.String()); !strings.Contains(doc, want) {
		t.Errorf("got\n%s\nwant in it\n%s", doc, want)
	}
}
