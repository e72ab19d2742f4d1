package sqltype

import (
	"testing"

	"github.com/shardsnow/snow/sqlsnow"
)

func TestShapeOf(t *testing.T) {
	integer := func(bits int, unsigned bool) Type { return Type{Kind: Integer, Bits: bits, Unsigned: unsigned} }
	characters := func(length int) Type { return Type{Kind: Text, Length: length} }
	tests := []struct {
		dialect sqlsnow.Dialect
		typ     string
		want    Type
	}{
		{sqlsnow.MySQL, "int(10) unsigned", integer(32, true)},
		{sqlsnow.MySQL, "INT", integer(32, false)},
		{sqlsnow.MySQL, "tinyint(1)", integer(8, false)},
		{sqlsnow.MySQL, "bigint(20) unsigned zerofill", integer(64, true)},
		{sqlsnow.MySQL, "mediumint", integer(24, false)},
		{sqlsnow.MySQL, "varchar(40)", characters(40)},
		{sqlsnow.MySQL, "char", characters(1)},
		{sqlsnow.MySQL, "text", characters(65535)},
		{sqlsnow.MySQL, "longtext", characters(0)},
		{sqlsnow.MySQL, "json", Type{Kind: JSON}},
		{sqlsnow.MySQL, "datetime(6)", Type{Kind: Time}},
		{sqlsnow.MySQL, "time", Type{}},
		{sqlsnow.MySQL, "varbinary(16)", Type{Kind: Bytes}},
		{sqlsnow.MySQL, "enum('int','text')", Type{}},
		{sqlsnow.MySQL, "decimal(10,2)", Type{}},
		{sqlsnow.Postgres, "integer", integer(32, false)},
		{sqlsnow.Postgres, "smallint", integer(16, false)},
		{sqlsnow.Postgres, "bigint[]", Type{}},
		{sqlsnow.Postgres, "interval", Type{}},
		{sqlsnow.Postgres, "character varying", characters(0)},
		{sqlsnow.Postgres, "character varying(40)", characters(40)},
		{sqlsnow.Postgres, "character(3)", characters(3)},
		{sqlsnow.Postgres, "text", characters(0)},
		{sqlsnow.Postgres, "jsonb", Type{Kind: JSON}},
		{sqlsnow.Postgres, "timestamp(3) without time zone", Type{Kind: Time}},
		{sqlsnow.Postgres, "bytea", Type{Kind: Bytes}},
		{sqlsnow.SQLite, "INTEGER", integer(64, false)},
		{sqlsnow.SQLite, "TINYINT", integer(64, false)},
		{sqlsnow.SQLite, "VARCHAR(40)", characters(0)},
		{sqlsnow.SQLite, "DATETIME", Type{Kind: Time}},
		{sqlsnow.SQLite, "JSON", Type{Kind: JSON}},
		{sqlsnow.SQLite, "", Type{Kind: Bytes}},
		{sqlsnow.SQLite, "REAL", Type{}},
	}
	for _, test := range tests {
		if got := Of(test.dialect, test.typ); got != test.want {
			t.Errorf("%v %q: got %+v, want %+v", test.dialect, test.typ, got, test.want)
		}
	}
}

func TestWidest(t *testing.T) {
	tests := []struct {
		dialect    sqlsnow.Dialect
		a, b, want string // none if they have nothing in common
	}{
		{sqlsnow.MySQL, "int(11)", "int", "int(11)"},
		{sqlsnow.MySQL, "int(11)", "bigint(20)", "bigint(20)"},
		{sqlsnow.MySQL, "int unsigned", "int", "bigint"},
		{sqlsnow.MySQL, "smallint unsigned", "bigint", "bigint"},
		{sqlsnow.MySQL, "tinyint unsigned", "tinyint", "smallint"},
		{sqlsnow.MySQL, "bigint unsigned", "bigint", "bigint"},
		{sqlsnow.MySQL, "int unsigned", "bigint unsigned", "bigint unsigned"},
		{sqlsnow.MySQL, "varchar(20)", "varchar(30)", "varchar(30)"},
		{sqlsnow.MySQL, "varchar(20)", "text", "text"},
		{sqlsnow.MySQL, "longtext", "text", "longtext"},
		{sqlsnow.MySQL, "int", "varchar(20)", ""},
		{sqlsnow.MySQL, "decimal(10,2)", "decimal(12,2)", ""},
		{sqlsnow.Postgres, "smallint", "integer", "integer"},
		{sqlsnow.Postgres, "character varying(20)", "text", "text"},
		{sqlsnow.Postgres, "timestamp with time zone", "timestamp without time zone", ""},
		{sqlsnow.SQLite, "INT", "BIGINT", "INT"},
		{sqlsnow.SQLite, "INT", "TEXT", ""},
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
