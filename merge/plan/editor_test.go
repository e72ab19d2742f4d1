package plan_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

var update = flag.Bool("update", false, "write docs/plan.schema.json")

const (
	schemaFile    = "../../docs/plan.schema.json"
	referenceFile = "../../docs/plan.md"
)

// A describer makes a JSON schema of the Go types, with their comments.
type describer struct {
	comments map[string]string // Type.Field
	types    map[string]any
	keys     []string // Type.key, as docs/plan.md names them
}

func newDescriber(t *testing.T) *describer {
	t.Helper()
	d := &describer{comments: map[string]string{}, types: map[string]any{}}
	for _, name := range []string{"plan.go", "decisions.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			of, ok := spec.Type.(*ast.StructType)
			if !ok {
				return false
			}
			for _, f := range of.Fields.List {
				text := f.Doc.Text()
				if text == "" {
					text = f.Comment.Text()
				}
				for _, field := range f.Names {
					d.comments[spec.Name.Name+"."+field.Name] = plainText(text)
				}
			}
			return false
		})
	}
	return d
}

// plainText is a comment for people who do not read Go.
func plainText(comment string) string {
	comment = regexp.MustCompile(`\[[\w./]*?(\w+(?:\.\w+)?)\]`).ReplaceAllString(comment, "$1")
	return strings.TrimSpace(strings.ReplaceAll(comment, "\n", " "))
}

type object = map[string]any

// fields are what an answer about columns may change.
var fields = func() object {
	properties := object{"rule": object{"enum": []any{plan.RuleKeep, plan.RuleMatch, plan.RuleFail}}, "types": object{"$ref": "#/$defs/decisions/properties/types"}}
	for _, name := range []string{"new_ids", "created", "zone", "without_rows", "empty", "skip", "without", "primary_key"} {
		properties[name] = object{"$ref": "#/$defs/table/properties/" + name}
	}
	for _, name := range []string{"type", "nullable", "default", "collation", "generated", "options"} {
		properties[name] = object{"$ref": "#/$defs/column/properties/" + name}
	}
	return object{"type": "object", "additionalProperties": false, "properties": properties}
}()

func (d *describer) of(t reflect.Type) object {
	texts := object{"type": "string"}
	switch t {
	case reflect.TypeFor[plan.Name]():
		return texts
	case reflect.TypeOf(plan.Meaning{}.None):
		return object{"type": "array", "items": object{"type": []string{"string", "number", "boolean"}}}
	case reflect.TypeOf(plan.Meaning{}.JSON):
		return object{"type": "object", "additionalProperties": texts}
	case reflect.TypeOf(plan.Meaning{}.Kinds):
		return object{"type": "object", "additionalProperties": d.of(reflect.TypeFor[plan.Answer]())}
	case reflect.TypeOf(plan.Asked{}.Unique):
		return object{"type": "object", "additionalProperties": object{"anyOf": []any{object{"type": []string{"string", "null"}}, object{"type": "array", "items": texts}}}}
	case reflect.TypeFor[plan.Answer]():
		d.types["fields"] = fields
		return object{"anyOf": []any{object{"type": []string{"string", "null"}}, d.of(reflect.TypeFor[plan.Meaning]()), d.of(reflect.TypeFor[plan.Clash]()), object{"$ref": "#/$defs/fields"}}}
	case reflect.TypeFor[plan.Orphans]():
		return object{"enum": []any{"null", "drop", "", nil}}
	case reflect.TypeFor[plan.Combine]():
		return object{"anyOf": []any{object{"enum": []any{plan.CombineSum, plan.CombineMax, plan.CombineMin, plan.CombineFirst, plan.CombineLast, ""}}, texts}}
	case reflect.TypeFor[plan.Rule]():
		return object{"enum": []any{plan.RuleFail, plan.RuleSuffix, plan.RuleKeep, plan.RuleMatch, plan.RuleRenumber}}
	case reflect.TypeFor[plan.IDs]():
		return object{"enum": []any{plan.IDsSnow, plan.IDsOffset, plan.IDsDense}}
	case reflect.TypeFor[plan.Role]():
		return object{"enum": []any{plan.RolePlain, plan.RoleKey, plan.RoleReference, plan.RoleJSON, plan.RoleList, plan.RolePolymorphic, plan.RolePacked, plan.RoleName, plan.RoleUndecided}}
	case reflect.TypeOf(plan.Decisions{}.Tables):
		table := d.of(reflect.TypeFor[plan.Table]())
		return object{"type": "object", "additionalProperties": table}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.of(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": d.of(t.Elem())}
	case reflect.Struct:
		return d.structure(t)
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.of(t.Elem())}
	case reflect.Int, reflect.Int64, reflect.Float64:
		return object{"type": "number"}
	case reflect.Bool:
		return object{"type": "boolean"}
	}
	return texts
}

// structure describes a struct once, and refers to it.
func (d *describer) structure(t reflect.Type) object {
	name := strings.ToLower(t.Name())
	ref := object{"$ref": "#/$defs/" + name}
	if d.types[name] != nil {
		return ref
	}
	properties := object{}
	d.types[name] = object{"type": "object", "additionalProperties": false, "properties": properties}
	for i := range t.NumField() {
		f := t.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if key == "" || key == "name" && (name == "table" || name == "column") {
			continue // what is changed has its name before it
		}
		property := d.of(f.Type)
		if name == "table" && key == "columns" {
			property = object{"type": "object", "additionalProperties": d.of(reflect.TypeFor[plan.Column]())}
		}
		if text := d.comments[t.Name()+"."+f.Name]; text != "" {
			property["description"] = text
		}
		properties[key] = property
		d.keys = append(d.keys, name+"."+key)
	}
	return ref
}

// The file that editors read is made of the Go types: go test -run TestEditorSchema -update.
func TestEditorSchema(t *testing.T) {
	d := newDescriber(t)
	root := d.structure(reflect.TypeFor[plan.Decisions]())
	root["$schema"], root["$id"], root["title"], root["$defs"] = "https://json-schema.org/draft/2020-12/schema",
		"https://raw.githubusercontent.com/shardsnow/snow/main/docs/plan.schema.json", "Plan of a merge of databases, in its short form", d.types
	d.types["decisions"].(object)["required"] = []string{"version", "dialect"}
	d.types["decisions"].(object)["properties"].(object)["version"] = object{"const": plan.DecisionsVersion}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(root); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil || !bytes.Equal(got, b.Bytes()) {
		t.Errorf("%s is not that of the Go types (%v): go test -run TestEditorSchema -update", schemaFile, err)
	}
}

// docs/plan.md explains each key.
func TestReferencePage(t *testing.T) {
	d := newDescriber(t)
	d.structure(reflect.TypeFor[plan.Decisions]())
	data, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range d.keys {
		of, name, _ := strings.Cut(key, ".")
		_, section, found := strings.Cut(string(data), "<a id=\""+of+"\"></a>")
		section, _, _ = strings.Cut(section, "<a id=")
		if !found || !strings.Contains(section, "| `"+name+"` |") {
			t.Errorf("%s does not explain %s of %s", referenceFile, name, of)
		}
	}
}
