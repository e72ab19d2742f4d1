package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

func TestTokenize(t *testing.T) {
	const statement = "CREATE TABLE \"a \"\"b\" (x, -- it's (\n y TEXT DEFAULT 'it''s, (' /* ' */, [z z] INT)"
	want := []string{"CREATE", "TABLE", `"a ""b"`, "(", "x", ",", "y", "TEXT", "DEFAULT", "'it''s, ('", ",", "[z z]", "INT", ")"}
	var got []string
	for _, token := range tokenize(statement) {
		got = append(got, token.text)
		if statement[token.at:token.at+len(token.text)] != token.text {
			t.Errorf("%q is not at %d", token.text, token.at)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for token, want := range map[string]string{`"a ""b"`: `a "b`, "[z z]": "z z", "`a``b`": "a`b", "x": "x", `"`: `"`} {
		if got := unquote(token); got != want {
			t.Errorf("unquote %s: got %q, want %q", token, got, want)
		}
	}
}

// FuzzTokenize checks that tokens lie in order in the statement, with nothing
// but spaces and comments between them, and that no statement is too odd for
// what reads them.
func FuzzTokenize(f *testing.F) {
	f.Add("CREATE TABLE t (a INT CHECK (a > 0) COLLATE nocase, b AS (a || ')') STORED)")
	f.Add("CREATE TABLE t ('a' AS, CHECK")
	f.Add("'it''s /* \"x -- [")
	f.Fuzz(func(t *testing.T, statement string) {
		end := 0
		for _, token := range tokenize(statement) {
			if token.text == "" || token.at < end || statement[token.at:token.at+len(token.text)] != token.text {
				t.Fatalf("%q at %d, after %d", token.text, token.at, end)
			}
			between := strings.TrimLeft(statement[end:token.at], " \t\n\r\f")
			if between != "" && !strings.HasPrefix(between, "--") && !strings.HasPrefix(between, "/*") {
				t.Fatalf("%q is left out", between)
			}
			end = token.at + len(token.text)
		}
		table := &Table{Table: &plan.Table{Name: "t", Columns: []*plan.Column{{Name: "a", Generated: "?"}, {Name: "b"}}}}
		readStatement(table, statement)
	})
}
