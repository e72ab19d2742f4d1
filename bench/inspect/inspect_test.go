package inspect

import (
	"testing"
)

// TestScore holds what merge.Inspect reaches: nothing is wrong without a question, and nearly all references are
// proposed.
func TestScore(t *testing.T) {
	for _, o := range []Options{{Rows: 200, Seed: 1}, {Rows: 60, Seed: 2}} {
		scores, err := Measure(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scores {
			t.Logf("%+v", s)
			least := map[string]float64{"shop": 0.9, "books": 0.9, "habits": 0.6}[s.Schema] // habits: what no value tells
			if least == 0 {
				least = 0.95
			}
			if s.Silent() > 0 {
				t.Errorf("%s: wrong without a question: %q", s.Schema, s.Columns)
			}
			if float64(s.Right) < least*float64(s.True) {
				t.Errorf("%s: %d of %d references are proposed right, want %.0f %%", s.Schema, s.Right, s.True, 100*least)
			}
			if most := max(10, s.Tables*25/98); s.Questions > most {
				t.Errorf("%s: %d questions about %d tables, want at most %d", s.Schema, s.Questions, s.Tables, most)
			}
		}
	}
}

// TestParse reads the schemas: what columns refer to has a key.
func TestParse(t *testing.T) {
	for name, text := range schemas {
		tables, err := parse(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		keys := map[string]bool{}
		for _, of := range tables {
			keys[of.name] = of.key() != nil
		}
		for _, of := range tables {
			for _, c := range of.columns {
				for _, parent := range c.refers {
					if parent != "" && !keys[parent] {
						t.Errorf("%s: %s.%s refers to %q, which has no key", name, of.name, c.name, parent)
					}
				}
			}
		}
	}
	if _, err := parse("a: b>"); err == nil {
		t.Error("a broken column is taken")
	}
}
