package sqldialect

import "testing"

func TestDialects(t *testing.T) {
	for _, test := range []struct {
		dialect                  Dialect
		name, placeholder, quote string
		known                    bool
	}{
		{MySQL, "MySQL", "?", "`a``\"b`", true},
		{Postgres, "PostgreSQL", "$2", "\"a`\"\"b\"", true},
		{SQLite, "SQLite", "?2", "\"a`\"\"b\"", true},
		{0, "Dialect(0)", "?", "\"a`\"\"b\"", false},
		{4, "Dialect(4)", "?", "\"a`\"\"b\"", false},
	} {
		d := test.dialect
		if d.String() != test.name || d.Placeholder(2) != test.placeholder || d.Quote("a`\"b") != test.quote || d.IsKnown() != test.known {
			t.Errorf("%d: got %q, %s, %s, known %t", int(d), d, d.Placeholder(2), d.Quote("a`\"b"), d.IsKnown())
		}
	}
}

func TestLiteral(t *testing.T) {
	for d, want := range map[Dialect]string{MySQL: `'it''s a \\ "text"'`, Postgres: `'it''s a \ "text"'`, SQLite: `'it''s a \ "text"'`} {
		if got := d.Literal(`it's a \ "text"`); got != want {
			t.Errorf("%s: got %s, want %s", d, got, want)
		}
	}
}
