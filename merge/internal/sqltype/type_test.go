package sqltype

import (
	"math"
	"slices"
	"testing"

	"github.com/shardsnow/snow/internal/sqldialect"
)

func TestShapeOf(t *testing.T) {
	integer := func(bits int, unsigned bool) Type { return Type{Kind: Integer, Bits: bits, Unsigned: unsigned} }
	characters := func(length int) Type { return Type{Kind: Text, Length: length} }
	tests := []struct {
		dialect sqldialect.Dialect
		typ     string
		want    Type
	}{
		{sqldialect.MySQL, "int(10) unsigned", integer(32, true)},
		{sqldialect.MySQL, "INT", integer(32, false)},
		{sqldialect.MySQL, "tinyint(1)", integer(8, false)},
		{sqldialect.MySQL, "bigint(20) unsigned zerofill", integer(64, true)},
		{sqldialect.MySQL, "mediumint", integer(24, false)},
		{sqldialect.MySQL, "varchar(40)", characters(40)},
		{sqldialect.MySQL, "char", characters(1)},
		{sqldialect.MySQL, "text", characters(65535)},
		{sqldialect.MySQL, "longtext", characters(0)},
		{sqldialect.MySQL, "json", Type{Kind: JSON}},
		{sqldialect.MySQL, "datetime(6)", Type{Kind: Time}},
		{sqldialect.MySQL, "time", Type{}},
		{sqldialect.MySQL, "varbinary(16)", Type{Kind: Bytes, Length: 16}},
		{sqldialect.MySQL, "binary", Type{Kind: Bytes, Length: 1}},
		{sqldialect.MySQL, "tinyblob", Type{Kind: Bytes, Length: 255}},
		{sqldialect.MySQL, "blob", Type{Kind: Bytes, Length: 65535}},
		{sqldialect.MySQL, "longblob", Type{Kind: Bytes}},
		{sqldialect.MySQL, "enum('int','text')", Type{}},
		{sqldialect.MySQL, "decimal(10,2)", Type{}},
		{sqldialect.Postgres, "integer", integer(32, false)},
		{sqldialect.Postgres, "smallint", integer(16, false)},
		{sqldialect.Postgres, "bigint[]", Type{}},
		{sqldialect.Postgres, "interval", Type{}},
		{sqldialect.Postgres, "character varying", characters(0)},
		{sqldialect.Postgres, "character varying(40)", characters(40)},
		{sqldialect.Postgres, "character(3)", characters(3)},
		{sqldialect.Postgres, "text", characters(0)},
		{sqldialect.Postgres, "jsonb", Type{Kind: JSON}},
		{sqldialect.Postgres, "timestamp(3) without time zone", Type{Kind: Time}},
		{sqldialect.Postgres, "bytea", Type{Kind: Bytes}},
		{sqldialect.SQLite, "INTEGER", integer(64, false)},
		{sqldialect.SQLite, "TINYINT", integer(64, false)},
		{sqldialect.SQLite, "VARCHAR(40)", characters(0)},
		{sqldialect.SQLite, "DATETIME", Type{Kind: Time}},
		{sqldialect.SQLite, "JSON", Type{Kind: JSON}},
		{sqldialect.SQLite, "", Type{Kind: Bytes}},
		{sqldialect.SQLite, "REAL", Type{}},
	}
	for _, test := range tests {
		if got := Of(test.dialect, test.typ); got != test.want {
			t.Errorf("%v %q: got %+v, want %+v", test.dialect, test.typ, got, test.want)
		}
	}
}

func TestWidest(t *testing.T) {
	tests := []struct {
		dialect    sqldialect.Dialect
		a, b, want string // none if they have nothing in common
	}{
		{sqldialect.MySQL, "int(11)", "int", "int(11)"},
		{sqldialect.MySQL, "int(11)", "bigint(20)", "bigint(20)"},
		{sqldialect.MySQL, "int unsigned", "int", "bigint"},
		{sqldialect.MySQL, "smallint unsigned", "bigint", "bigint"},
		{sqldialect.MySQL, "tinyint unsigned", "tinyint", "smallint"},
		{sqldialect.MySQL, "bigint unsigned", "bigint", "bigint"},
		{sqldialect.MySQL, "int unsigned", "bigint unsigned", "bigint unsigned"},
		{sqldialect.MySQL, "varchar(20)", "varchar(30)", "varchar(30)"},
		{sqldialect.MySQL, "varchar(20)", "text", "text"},
		{sqldialect.MySQL, "longtext", "text", "longtext"},
		{sqldialect.MySQL, "int", "varchar(20)", ""},
		{sqldialect.MySQL, "decimal(10,2)", "decimal(12,2)", ""},
		{sqldialect.Postgres, "smallint", "integer", "integer"},
		{sqldialect.Postgres, "character varying(20)", "text", "text"},
		{sqldialect.Postgres, "timestamp with time zone", "timestamp without time zone", ""},
		{sqldialect.SQLite, "INT", "BIGINT", "INT"},
		{sqldialect.SQLite, "INT", "TEXT", ""},
	}
	for _, test := range tests {
		for _, pair := range [][2]string{{test.a, test.b}, {test.b, test.a}} {
			got, ok := Widest(test.dialect, pair[0], pair[1])
			if ok != (test.want != "") || ok && Of(test.dialect, got) != Of(test.dialect, test.want) {
				t.Errorf("%v %q: got %q, %v, want %q", test.dialect, pair, got, ok, test.want)
			}
		}
	}
}

// A list of short ids becomes a list of as many long ones.
func TestWideList(t *testing.T) {
	tests := []struct {
		dialect    sqldialect.Dialect
		typ        string
		separator  int
		hasDefault bool
		want       string
	}{
		{sqldialect.MySQL, "varchar(3)", 1, true, "varchar(39)"},      // 1,2
		{sqldialect.MySQL, "varchar(4)", 2, false, "varchar(40)"},     // 1; 2
		{sqldialect.MySQL, "char(1)", 1, false, "varchar(19)"},        // 1
		{sqldialect.MySQL, "varchar(255)", 1, true, "varchar(2559)"},  // of 128
		{sqldialect.MySQL, "varchar(255)", 1, false, "text"},          // which no row is too long for
		{sqldialect.MySQL, "varchar(2000)", 1, false, "mediumtext"},   // 80,000 bytes
		{sqldialect.MySQL, "varchar(5000)", 1, true, "varchar(5000)"}, // longer than what is allowed for
		{sqldialect.MySQL, "tinytext", 1, false, "text"},
		{sqldialect.MySQL, "text", 1, false, "text"},
		{sqldialect.MySQL, "json", 1, false, "json"},
		{sqldialect.Postgres, "character varying(3)", 1, true, "character varying(39)"},
		{sqldialect.Postgres, "text", 1, true, "text"},
	}
	for _, test := range tests {
		if got := WideList(test.dialect, test.typ, test.separator, test.hasDefault); got != test.want {
			t.Errorf("%v %q: got %q, want %q", test.dialect, test.typ, got, test.want)
		}
	}
}

func TestHighest(t *testing.T) {
	for _, test := range []struct {
		dialect sqldialect.Dialect
		typ     string
		want    int64
	}{
		{sqldialect.MySQL, "smallint", 1<<15 - 1},
		{sqldialect.MySQL, "smallint(5) unsigned", 1<<16 - 1},
		{sqldialect.MySQL, "mediumint unsigned", 1<<24 - 1},
		{sqldialect.MySQL, "int unsigned", 1<<32 - 1},
		{sqldialect.MySQL, "bigint unsigned", math.MaxInt64},
		{sqldialect.Postgres, "integer", 1<<31 - 1},
		{sqldialect.Postgres, "bigint", math.MaxInt64},
		{sqldialect.SQLite, "smallint", math.MaxInt64},
	} {
		if got := Of(test.dialect, test.typ).Highest(); got != test.want {
			t.Errorf("%v, %s: got %d, want %d", test.dialect, test.typ, got, test.want)
		}
	}
}

func TestMembers(t *testing.T) {
	for _, tt := range []struct {
		typ  string
		want []string
	}{
		{"set('vip','gm')", []string{"vip", "gm"}},
		{"enum('it''s','(',',','''','') charset latin1", []string{"it's", "(", ",", "'", ""}},
		{"ENUM('A', 'a')", []string{"A", "a"}},
		{"varchar(9)", nil},
		{"set(", nil},
		{"set('", []string{""}},
		{"set('a", []string{"a"}},
	} {
		if got := Members(tt.typ); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.typ, got, tt.want)
		}
	}
}
