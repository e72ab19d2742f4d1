package settle

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestMisfits(t *testing.T) {
	my, pg, lite := sqlsnow.MySQL, sqlsnow.Postgres, sqlsnow.SQLite
	for _, tt := range []struct {
		d    sqlsnow.Dialect
		typ  string
		v    any
		fits bool
	}{
		{my, "int(11)", int64(1<<31 - 1), true},
		{my, "int(11)", int64(1 << 31), false},
		{my, "int(11)", int64(-1 << 31), true},
		{my, "int(11)", int64(-1<<31 - 1), false},
		{my, "int(10) unsigned", int64(1<<32 - 1), true},
		{my, "int(10) unsigned", int64(1 << 32), false},
		{my, "int(10) unsigned", int64(-1), false},
		{my, "bigint(20) unsigned", "18446744073709551615", true},
		{my, "bigint(20)", "18446744073709551615", false},
		{my, "tinyint(1)", int64(128), false},
		{pg, "smallint", int64(32768), false},
		{pg, "integer", int64(5), true},
		{pg, "integer[]", "{5000000000}", true},
		{my, "varchar(3)", "雪雪雪", true},
		{my, "varchar(3)", "abcd", false},
		{my, "tinytext", strings.Repeat("雪", 85), true},
		{my, "tinytext", strings.Repeat("雪", 86), false},
		{pg, "character varying(3)", "abcd", false},
		{pg, "text", strings.Repeat("a", 1<<17), true},
		{my, "text", strings.Repeat("a", 1<<17), false},
		{my, "varbinary(3)", []byte("abc"), true},
		{my, "varbinary(3)", []byte("雪雪"), false},
		{my, "tinyblob", make([]byte, 256), false},
		{my, "blob", make([]byte, 1<<16), false},
		{my, "longblob", make([]byte, 1<<17), true},
		{pg, "bytea", make([]byte, 1<<17), true},
		{lite, "VARCHAR(3)", "abcd", true},
		{lite, "INTEGER", "abc", true},
		{my, "decimal(5,2)", "999.99", true},
		{my, "decimal(5,2)", "-999.990", true},
		{my, "decimal(5,2)", "1000.00", false},
		{my, "decimal(5,2)", "0.001", false},
		{pg, "numeric", "1000000.001", true},
		{pg, "numeric(3)", "0999", true},
		{pg, "numeric(3)", "1999", false},
		{my, "enum('a','it''s')", "it's", true},
		{my, "enum('a','b')", "c", false},
		{my, "double", 1.5, true},
		{my, "varchar(3)", nil, false},
		{lite, "TEXT", nil, false},
	} {
		got := RoomOf(tt.d, &plan.Column{Type: tt.typ}).Misfit(tt.v)
		if (got == "") != tt.fits {
			t.Errorf("%v %s: %v: got %q, want that it fits %v", tt.d, tt.typ, tt.v, got, tt.fits)
		}
	}
	if got := RoomOf(my, &plan.Column{Type: "int", Nullable: true}).Misfit(nil); got != "" {
		t.Errorf("NULL: got %q", got)
	}
}
