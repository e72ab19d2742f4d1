package packed_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/internal/packed"
)

func codecOf(t testing.TB, format, separator string, signed [2]bool, places ...string) packed.Codec {
	t.Helper()
	f, err := packed.ParseFormat(format)
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.New(places, separator, signed)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// of lists the ids of a value as place=id.
func of(c packed.Codec, value string) (string, error) {
	var found []string
	_, err := c.Replace(value, func(place, id string) (string, error) {
		found = append(found, place+"="+id)
		return id, nil
	})
	return strings.Join(found, " "), err
}

func TestReplace(t *testing.T) {
	const long = "1234567890123456789"
	signed := [2]bool{true, true}
	for _, test := range []struct {
		format, separator string
		signed            [2]bool
		places            []string
		in, ids           string // ids, or what an error must have
		want              string // with the id long in the place of 7; or what an error must have
	}{
		{"bits 32", "", [2]bool{}, []string{"1", "2"}, "8589934599", "2=7", `the id 1234567890123456789 does not fit at place "2", which takes ids up to 4294967295`},
		{"bits 61", "", [2]bool{}, []string{"0", "7"}, "7", "0=7", "1234567890123456789"},
		{"bits 61", "", [2]bool{}, []string{"0", "7"}, "16140901064495857671", "7=7", "17375468954619314453"},
		{"bits 61", "", [2]bool{}, []string{"7"}, "-2305843009213693945", "7=7", "-1071275119090237163"},
		{"bits 32", "", [2]bool{}, []string{"1"}, "7", "error: upper bits 0", ""},
		{"bits 32", "", [2]bool{}, []string{"1"}, "x", "error: no integer", ""},
		{"high 32", "", [2]bool{}, []string{"id"}, "0 7", "id=7", "287445236 2112454933"},
		{"low 32", "", signed, []string{"id"}, "1 -2147483648", "id=6442450944", "1 -2147483648"},
		{"low 32", "", signed, []string{"id"}, "0 7", "id=7", "287445236 2112454933"},
		{"low 32", "", [2]bool{}, []string{"id"}, "0 4294967296", "error: no half of 32 bits", ""},
		{"low 32", "", [2]bool{}, []string{"id"}, "2147483648 0", "error: more than 63 bits", ""},
		{"low 32", "", [2]bool{}, []string{"id"}, "0 -1", "error: no half", ""},
		{"fixed", "", [2]bool{}, []string{"1:dec4", "6:hex16"}, "P0007-00000000000000ffX", "1:dec4=7 6:hex16=255", `the id 1234567890123456789 does not fit at place "1:dec4", which takes ids up to 9999`},
		{"fixed", "", [2]bool{}, []string{"0:hex16"}, "0000000000000007é", "0:hex16=7", "112210f47de98115é"},
		{"fixed", "", [2]bool{}, []string{"0:HEX16"}, "0000000000000007", "0:HEX16=7", "112210F47DE98115"},
		{"fixed", "", [2]bool{}, []string{"0:hex8"}, "00000007", "0:hex8=7", "takes ids up to 4294967295"},
		{"fixed", "", [2]bool{}, []string{"0:dec4"}, "007", "error: ends at 4", ""},
		{"fixed", "", [2]bool{}, []string{"0:dec4"}, " 007", "error: no number of base 10 and of 4 digits", ""},
		{"fields", "", [2]bool{}, []string{"2"}, "x, 7 ,7", "2=7", "x, 1234567890123456789 ,7"},
		{"fields", " ", [2]bool{}, []string{"1+2"}, "7 1 7 2 8", "1+2=7 1+2=7 1+2=8", "1234567890123456789 1 1234567890123456789 2 8"},
		{"fields", ":", [2]bool{}, []string{"2:hex"}, "a:7:0", "2:hex=7", "a:112210f47de98115:0"},
		{"fields", ":", [2]bool{}, []string{"2"}, "a", "error: no field 2", ""},
		{"fields", "", [2]bool{}, []string{"1"}, "", "1=", ""},
		{`regexp player:(?P<who>\d+)`, "", [2]bool{}, []string{"who"}, "player:7 met player:9", "who=7 who=9", "player:1234567890123456789 met player:9"},
		{`regexp 0x(?P<who>[0-9A-F]{8})$`, "", [2]bool{}, []string{"who:HEX8"}, "0x00000007", "who:HEX8=7", "takes ids up to 4294967295"},
		{`regexp ^p(?P<who>\d{1,3})$`, "", [2]bool{}, []string{"who"}, "p7", "who=7", "not found again"},
		{`regexp player:(?P<who>\d+)`, "", [2]bool{}, []string{"who"}, "nobody", "error: does not match", ""},
		{`regexp player:(?P<who>\d+)|$`, "", [2]bool{}, []string{"who"}, "nobody", "", "nobody"},
		{`regexp ^(?:player:(?P<who>\d+))?$`, "", [2]bool{}, []string{"who"}, "player:7", "who=7", "player:" + long},
		{"php", "", [2]bool{}, []string{"$.p", "$.l[*]"}, `a:2:{s:1:"p";i:7;s:1:"l";a:2:{i:0;s:1:"7";i:5;N;}}`, "$.p=7 $.l[*]=7", `a:2:{s:1:"p";i:` + long + `;s:1:"l";a:2:{i:0;s:19:"` + long + `";i:5;N;}}`},
		{"php", "", [2]bool{}, []string{"$.*~"}, `a:2:{i:7;b:1;s:1:"8";d:0.5;}`, "$.*~=7 $.*~=8", `a:2:{i:` + long + `;b:1;s:1:"8";d:0.5;}`},
		{"php", "", [2]bool{}, []string{"$.p"}, "O:1:\"A\":2:{s:4:\"\x00A\x00p\";i:7;s:1:\"q\";r:1;}", "$.p=7", "O:1:\"A\":2:{s:4:\"\x00A\x00p\";i:" + long + ";s:1:\"q\";r:1;}"},
		{"php", "", [2]bool{}, []string{"$.p"}, `a:1:{s:1:"p";a:0:{}}`, "error: is an array or an object", ""},
		{"php", "", [2]bool{}, []string{"$.p"}, `a:1:{s:2:"p";i:7;}`, "error: no serialised value of PHP", ""},
		{"php", "", [2]bool{}, []string{"$.p"}, `a:1:{s:1:"p";i:7;}x`, "error: something follows", ""},
		{"php", "", [2]bool{}, []string{"$.p"}, `a:1:{s:1:"p";b:0;}`, "$.p=false", `a:1:{s:1:"p";b:0;}`},
		{"php", "", [2]bool{}, []string{"$.p"}, strings.Repeat("a:1:{i:0;", 600) + "i:1;" + strings.Repeat("}", 600), "error: more than 500", ""},
		{"lua", "", [2]bool{}, []string{"$.p", "$.l[*]", "$[1]"}, `return { 7, p = 7, -- it's 7
 ["l"] = { '7', 8; }, x = [[7]], ["\"}"] = nil }`, "$[1]=7 $.p=7 $.l[*]=7 $.l[*]=8", `return { ` + long + `, p = ` + long + `, -- it's 7
 ["l"] = { '` + long + `', 8; }, x = [[7]], ["\"}"] = nil }`},
		{"lua", "", [2]bool{}, []string{"$.*~"}, `{[7]=1,["8"]={7}}`, "$.*~=7 $.*~=8", `{[` + long + `]=1,["8"]={7}}`},
		{"lua", "", [2]bool{}, []string{"$.DB.owner"}, "DB = { owner = 7 }\nOther = 7\n", "$.DB.owner=7", "DB = { owner = " + long + " }\nOther = 7\n"},
		{"lua", "", [2]bool{}, []string{"$.*~"}, `{7}`, "error: has no name", ""},
		{"lua", "", [2]bool{}, []string{"$.p"}, `{p = {}}`, "error: is a table", ""},
		{"lua", "", [2]bool{}, []string{"$.p"}, `{p = f()}`, "error: want a value", ""},
		{"lua", "", [2]bool{}, []string{"$.p"}, `{p = 7`, "error: want a comma", ""},
		{"lua", "", [2]bool{}, []string{"$.p"}, `{p = 7} --[[`, "error: something follows", ""},
	} {
		c := codecOf(t, test.format, test.separator, test.signed, test.places...)
		ids, err := of(c, test.in)
		if want, fails := strings.CutPrefix(test.ids, "error: "); fails {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %q: got %q, %v; want an error with %s", test.format, test.in, ids, err, want)
			}
			continue
		}
		if err != nil || ids != test.ids {
			t.Errorf("%s of %q: got %q, %v; want %q", test.format, test.in, ids, err, test.ids)
		}
		got, err := packed.Replace(c, test.in, func(_, id string) (string, error) {
			if id == "7" {
				return long, nil
			}
			return id, nil
		})
		if err != nil && strings.Contains(test.want, "ids up to") != errors.As(err, new(*packed.WidthError)) {
			t.Errorf("%s of %q: got %T %v", test.format, test.in, err, err)
		}
		if err == nil && got != test.want || err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s of %q: got %q, %v; want %q", test.format, test.in, got, err, test.want)
		}
	}
}

// Names that become equal are an error, and so is what by refuses.
func TestReplaceRefused(t *testing.T) {
	same := func(_, _ string) (string, error) { return "5", nil }
	for format, value := range map[string]string{"php": `a:2:{i:7;i:1;i:8;i:2;}`, "lua": `{[7]=1,[8]=2}`} {
		if got, err := packed.Replace(codecOf(t, format, "", [2]bool{}, "$.*~"), value, same); err == nil || !strings.Contains(err.Error(), "two members") {
			t.Errorf("%s: got %q, %v; want an error", format, got, err)
		}
	}
	refused := errors.New("refused")
	if _, err := packed.Replace(codecOf(t, "fields", "", [2]bool{}, "1"), "7", func(_, _ string) (string, error) { return "", refused }); !errors.Is(err, refused) {
		t.Errorf("got %v, want the error of by", err)
	}
}

func TestFormats(t *testing.T) {
	for _, test := range []struct {
		format, separator string
		places            []string
		want              string
	}{
		{"", "", nil, "want bits"},
		{"bits", "", nil, "how many bits"},
		{"bits 64", "", nil, "1 to 63"},
		{"bits 032", "", nil, "1 to 63"},
		{"bits 32", "", []string{"4294967296"}, "the upper 32 bits"},
		{"bits 32", "", []string{"01"}, "the upper 32 bits"},
		{"high 32", "", []string{"7"}, "one place"},
		{"fixed 3", "", nil, "nothing follows"},
		{"fixed", "", []string{"3"}, "how many digits"},
		{"fixed", "", []string{"3:oct4"}, "how many digits"},
		{"fixed", "", []string{"0:dec4", "3:hex8"}, "overlap"},
		{"fixed", ";", []string{"0:dec4"}, "separator is for fields"},
		{"fields", "", []string{"0"}, "a field from 1 on"},
		{"fields", "", []string{"2+0"}, "a field from 1 on"},
		{"fields", "", []string{"2+3", "4+2"}, "the same field"},
		{"fields", "", []string{"2", "2:hex"}, "the same field"},
		{"fields", "", []string{"1+2", "2+2", "3"}, "the same field"},
		{"regexp", "", nil, "want a regular expression"},
		{"regexp (", "", nil, "missing closing"},
		{"regexp (?P<a>x)", "", []string{"b"}, "want a group"},
		{"regexp (?P<a>x)", "", []string{"a", "a:hex"}, "there twice"},
		{`regexp ^(?:player:(?P<who>[0-9]+),?)+$`, "", []string{"who"}, "in a repetition"},
		{`regexp (x(?P<a>\d))*`, "", []string{"a"}, "in a repetition"},
		{`regexp (?:x(?P<a>\d)?){0,2}`, "", []string{"a"}, "in a repetition"},
		{`regexp (?:(?P<a>\d)|y(?P<b>\d)z*?)+?`, "", []string{"b"}, "in a repetition"},
		{"php", "", []string{"x"}, "begin with $"},
		{"codec", "", nil, "want the name"},
	} {
		f, err := packed.ParseFormat(test.format)
		if err == nil {
			_, err = f.New(test.places, test.separator, [2]bool{})
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q %q: got %v, want an error with %s", test.format, test.places, err, test.want)
		}
	}
}
