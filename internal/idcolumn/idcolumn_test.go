package idcolumn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/idcolumn"
)

func TestColumns(t *testing.T) {
	t.Parallel()
	mysql := func(dataType, columnType string, characters, precision, scale int64, extra string) idcolumn.Column {
		return idcolumn.MySQL("t", "c", dataType, columnType, characters, precision, scale, extra, "")
	}
	postgres := func(typ, base string, modifier int64, identity, value string) idcolumn.Column {
		return idcolumn.Postgres("t", "c", typ, base, modifier, identity, value)
	}
	for _, tt := range []struct {
		name    string
		column  idcolumn.Column
		want    idcolumn.Want
		problem string // a part of it; empty: ids fit
		auto    string
	}{
		{"bigint", mysql("bigint", "bigint(20)", 0, 19, 0, ""), idcolumn.Number, "", ""},
		{"int", mysql("int", "int(11)", 0, 10, 0, "auto_increment"), idcolumn.Number, "it is int(11), of 32 bits", "AUTO_INCREMENT"},
		{
			"nextval of MariaDB", idcolumn.MySQL("t", "c", "bigint", "bigint(20)", 0, 19, 0, "", "nextval(`d`.`s`)"), idcolumn.Number, "", "a default of nextval()",
		},
		{"decimal", mysql("decimal", "decimal(20,0)", 0, 20, 0, ""), idcolumn.Number, "", ""},
		{"short decimal", mysql("decimal", "decimal(20,4)", 0, 20, 4, ""), idcolumn.Number, "does not keep ids", ""},
		{"varchar for texts", mysql("varchar", "varchar(19)", 19, 0, 0, ""), idcolumn.Digit, "", ""},
		{"short varchar for texts", mysql("varchar", "varchar(18)", 18, 0, 0, ""), idcolumn.Digit, "up to 19 digits", ""},
		{"varchar for numbers", mysql("varchar", "varchar(20)", 20, 0, 0, ""), idcolumn.Number, "sorts and compares ids as texts", ""},
		{"double", mysql("double", "double", 0, 22, 0, ""), idcolumn.Either, "change its type", ""},
		{"int8", postgres("bigint", "int8", -1, "", ""), idcolumn.Number, "", ""},
		{"serial", postgres("integer", "int4", -1, "", "nextval('t_c_seq'::regclass)"), idcolumn.Number, "of 32 bits", "serial"},
		{"identity", postgres("bigint", "int8", -1, "d", ""), idcolumn.Number, "", "an identity column"},
		{"numeric without a precision", postgres("numeric", "numeric", -1, "", ""), idcolumn.Number, "", ""},
		{"numeric(19,1)", postgres("numeric(19,1)", "numeric", 19<<16|1+4, "", ""), idcolumn.Number, "does not keep ids", ""},
		{"varchar(10)", postgres("character varying(10)", "varchar", 14, "", ""), idcolumn.Digit, "up to 19 digits", ""},
		{"INTEGER", idcolumn.SQLite("c", "INTEGER", true), idcolumn.Number, "", "AUTOINCREMENT"},
		{"smallint, whose size SQLite ignores", idcolumn.SQLite("c", "smallint", false), idcolumn.Number, "", ""},
		{"varchar(3), whose length SQLite ignores", idcolumn.SQLite("c", "varchar(3)", false), idcolumn.Digit, "", ""},
		{"real", idcolumn.SQLite("c", "DOUBLE", false), idcolumn.Digit, "change its type to varchar(20)", ""},
		{"no type", idcolumn.SQLite("c", "", false), idcolumn.Number, "", ""},
	} {
		problem, remedy := tt.column.Refuse(tt.want)
		if !strings.Contains(problem+": "+remedy, tt.problem) || (problem == "") != (tt.problem == "") || (problem == "") != (remedy == "") {
			t.Errorf("%s: %q, %q; want %q", tt.name, problem, remedy, tt.problem)
		}
		if tt.column.Auto != tt.auto || (tt.column.Cure == "") != (tt.auto == "") {
			t.Errorf("%s: %q, %q; want %q", tt.name, tt.column.Auto, tt.column.Cure, tt.auto)
		}
	}
}

// TestWide makes no column signed that is not: the other side of a foreign key would refuse it.
func TestWide(t *testing.T) {
	t.Parallel()
	for typ, want := range map[string]struct {
		most uint64
		cure string
	}{
		"tinyint":            {127, "ALTER TABLE `t` MODIFY `c` BIGINT NOT NULL"},
		"smallint unsigned":  {65535, "ALTER TABLE `t` MODIFY `c` BIGINT UNSIGNED NOT NULL"},
		"mediumint unsigned": {1<<24 - 1, "ALTER TABLE `t` MODIFY `c` BIGINT UNSIGNED NOT NULL"},
		"int":                {1<<31 - 1, "ALTER TABLE `t` MODIFY `c` BIGINT NOT NULL"},
		"bigint":             {1<<63 - 1, "ALTER TABLE `t` MODIFY `c` BIGINT NOT NULL"},
		"bigint unsigned":    {1<<64 - 1, "ALTER TABLE `t` MODIFY `c` BIGINT UNSIGNED NOT NULL"},
	} {
		data, _, _ := strings.Cut(typ, " ")
		c := idcolumn.MySQL("t", "c", data, typ, 0, 0, 0, "auto_increment", "")
		if c.Most() != want.most || c.Cure != want.cure {
			t.Errorf("%s: at most %d, %q; want %+v", typ, c.Most(), c.Cure, want)
		}
		if _, remedy := c.Refuse(idcolumn.Number); remedy != "" && remedy != "change its type to "+c.Wide() {
			t.Errorf("%s: %q", typ, remedy)
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	for create, want := range map[string]bool{
		"CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT)":                            true,
		"create table t (id integer primary key asc on conflict replace\n autoincrement)":  true,
		"CREATE TABLE t (id INTEGER PRIMARY KEY)":                                          false,
		"CREATE TABLE autoincrement (id INTEGER PRIMARY KEY, autoincrement TEXT NOT NULL)": false,
	} {
		if got := idcolumn.Counts(create); got != want {
			t.Errorf("%s: %v", create, got)
		}
	}
}

func TestFolds(t *testing.T) {
	t.Parallel()
	for fold, want := range map[string]string{
		idcolumn.MySQLFold("varchar", "utf8mb4_0900_ai_ci") + "1": "its collation is utf8mb4_0900_ai_ci1",
		idcolumn.MySQLFold("varchar", "utf8mb4_bin") + "2":        "its collation is utf8mb4_bin2",
		idcolumn.MySQLFold("varchar", "utf8mb4_0900_as_cs") + "3": "its collation is utf8mb4_0900_as_cs3",
		idcolumn.MySQLFold("text", "utf8mb4_0900_bin") + "4":      "4",
		idcolumn.MySQLFold("varchar", "latin1_nopad_bin") + "5":   "5",
		idcolumn.MySQLFold("varbinary", "") + "6":                 "6",
		idcolumn.MySQLFold("char", "utf8mb4_nopad_bin") + "7":     "its type is CHAR, which does not keep spaces at the end7",
		idcolumn.PostgresFold("text", true) + "8":                 "8",
		idcolumn.PostgresFold("citext", true) + "9":               "its type is citext9",
		idcolumn.PostgresFold("bpchar", true) + "10":              "its type is bpchar10",
		idcolumn.PostgresFold("varchar", false) + "11":            "its collation is not deterministic11",
	} {
		if fold != want {
			t.Errorf("%q, want %q", fold, want)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		smallest, largest string
		least             int64
		most              uint64
		fails             bool
	}{
		{"", "", 0, 0, false},
		{"7                   ", "18446744073709551615", 0, 1<<64 - 1, false},
		{"-9223372036854775808", "-5                  ", -1 << 63, 0, false},
		{"-x", "7", 0, 0, true},
		{"7", "x", 0, 0, true},
	} {
		least, most, err := idcolumn.ParseBounds(tt.smallest, tt.largest)
		if least != tt.least || most != tt.most || (err != nil) != tt.fails {
			t.Errorf("%q, %q: %d, %d, %v", tt.smallest, tt.largest, least, most, err)
		}
	}
	if idcolumn.Negative(0) != "" || !strings.Contains(idcolumn.Negative(-5), "-5") {
		t.Errorf("0: %q, -5: %q", idcolumn.Negative(0), idcolumn.Negative(-5))
	}
	// What docs/coming-from.md says about ids of uid-generator that are negative.
	at, l := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), snow.UIDGenerator()
	id := at.Unix() - l.Epoch().Unix()
	if id <<= 22 + 13; id >= 0 || !l.Epoch().Add(time.Duration(uint64(id)>>35)*time.Second).Equal(at) {
		t.Errorf("id %d of %v", id, at)
	}
}
