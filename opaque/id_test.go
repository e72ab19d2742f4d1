package opaque_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/opaque"
)

var (
	_ encoding.TextMarshaler   = opaque.ID{}
	_ encoding.TextAppender    = opaque.ID{}
	_ encoding.TextUnmarshaler = (*opaque.ID)(nil)
	_ json.Marshaler           = opaque.ID{}
	_ json.Unmarshaler         = (*opaque.ID)(nil)
	_ fmt.Formatter            = opaque.ID{}
	_ slog.LogValuer           = opaque.ID{}
)

// database/sql and GORM look for a Value and a Scan, and pgx also for a String.
func TestIDIsNoDatabaseValue(t *testing.T) {
	for _, v := range []any{opaque.ID{}, new(opaque.ID)} {
		for _, is := range []reflect.Type{reflect.TypeFor[driver.Valuer](), reflect.TypeFor[sql.Scanner](), reflect.TypeFor[fmt.Stringer]()} {
			if reflect.TypeOf(v).Implements(is) {
				t.Errorf("%T is a %v", v, is)
			}
		}
		if got, err := driver.DefaultParameterConverter.ConvertValue(v); err == nil && v != nil && got != nil {
			t.Errorf("database/sql takes a %T as %v", v, got)
		}
	}
	for kind := reflect.TypeFor[opaque.ID]().Kind(); kind != reflect.Struct; {
		t.Fatalf("an ID is a %v: drivers store what is no struct", kind)
	}
}

func TestFormsOfAnID(t *testing.T) {
	codec := newType(t, "ord", newKey(t, 1, 16, 1))
	id := codec.Encode(286467607756828714)
	text := id.Text()
	type body struct {
		ID     opaque.ID            `json:"id" xml:"id"`
		Parent *opaque.ID           `json:"parent" xml:"parent"`
		Next   opaque.ID            `json:"next,omitzero" xml:"-"`
		Names  map[opaque.ID]string `json:"names" xml:"-"`
	}
	in := body{ID: id, Names: map[opaque.ID]string{id: "tea"}}
	encoded, err := json.Marshal(in)
	if want := `{"id":"` + text + `","parent":null,"names":{"` + text + `":"tea"}}`; err != nil || string(encoded) != want {
		t.Errorf("JSON is %s, %v, want %s", encoded, err, want)
	}
	var out body
	if err := json.Unmarshal(encoded, &out); err != nil || out.ID != id || out.Names[id] != "tea" || out.Parent != nil {
		t.Errorf("JSON is read as %+v, %v", out, err)
	}
	if encoded, err = xml.Marshal(in); err != nil || !strings.Contains(string(encoded), "<id>"+text+"</id>") {
		t.Errorf("XML is %s, %v", encoded, err)
	}
	if got := fmt.Sprintf("%v %s %q %+v %#v %20s|", id, id, id, id, id, id); got != fmt.Sprintf("%v %s %q %+v %#v %20s|", text, text, text, text, text, text) {
		t.Errorf("fmt prints %s", got)
	}
	if url.PathEscape(text) != text || url.QueryEscape(text) != text {
		t.Errorf("%s is escaped in URLs", text)
	}
	var log, page bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("order", "id", id)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("order", "id", id)
	if !strings.Contains(log.String(), "id="+text) || !strings.Contains(log.String(), `"id":"`+text+`"`) {
		t.Errorf("the log is %s", log.String())
	}
	if err := template.Must(template.New("").Parse(`<a href="/orders/{{.}}">{{.}}</a>`)).Execute(&page, id); err != nil || page.String() != `<a href="/orders/`+text+`">`+text+`</a>` {
		t.Errorf("the page is %s, %v", page.String(), err)
	}
}

func TestReadingAnID(t *testing.T) {
	want := newType(t, "ord", newKey(t, 1, 16, 1)).Encode(5)
	text := want.Text()
	for in, good := range map[string]bool{
		`"` + text + `"`:                      true,
		`"` + strings.ToUpper(text) + `"`:     true,
		`"\u006f` + text[1:] + `"`:            true,
		`null`:                                true,
		`""`:                                  false,
		`5`:                                   false,
		`"5"`:                                 false,
		`{}`:                                  false,
		`["` + text + `"]`:                    false,
		`"` + text[:6] + "0" + text[7:] + `"`: false,
	} {
		var id opaque.ID
		err := json.Unmarshal([]byte(in), &id)
		var e *snow.ParseError
		switch {
		case in == "null" && (err != nil || !id.IsZero()):
			t.Errorf("null is read as %q, %v", id.Text(), err)
		case in != "null" && good && (err != nil || id != want):
			t.Errorf("%s is read as %q, %v", in, id.Text(), err)
		case !good && (!errors.As(err, &e) || !id.IsZero()):
			t.Errorf("%s is read as %q, %v", in, id.Text(), err)
		}
	}
	id := want
	for _, err := range []error{id.UnmarshalText([]byte("x")), id.UnmarshalParam("x"), id.UnmarshalJSON([]byte(`"x"`)), id.UnmarshalJSON(nil), id.UnmarshalJSON([]byte("null")), id.UnmarshalParam(strings.ToUpper(text))} {
		_ = err
		if id != want {
			t.Errorf("an error changed the ID to %q", id.Text())
		}
	}
	upper, err := opaque.ParseID(strings.ToUpper(text))
	if err != nil || upper != want {
		t.Errorf("upper case is %q, %v", upper.Text(), err)
	}
}

func TestZeroID(t *testing.T) {
	var id opaque.ID
	if b, err := json.Marshal(id); err != nil || string(b) != "null" {
		t.Errorf("JSON is %s, %v", b, err)
	}
	if _, err := id.MarshalText(); !errors.Is(err, opaque.ErrZero) {
		t.Errorf("the text is %v", err)
	}
	if !id.IsZero() || id.Text() != "" || fmt.Sprint(id) != "" || id.LogValue().String() != "" {
		t.Errorf("the zero ID is %q", id)
	}
}
