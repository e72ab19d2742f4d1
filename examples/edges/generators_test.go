package edges

import (
	"database/sql"
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/graphql"
	"github.com/getkin/kin-openapi/openapi3"
	_ "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/oapi-codegen/oapi-codegen/v2/pkg/codegen"
	"github.com/oapi-codegen/runtime"
	swag "github.com/swaggo/swag/gen"
	"github.com/vektah/gqlparser/v2/ast"
	"gorm.io/datatypes"
	"gorm.io/gen"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
)

func TestSwag(t *testing.T) {
	schemas := func(overrides string) (id, parent string) {
		dir := t.TempDir()
		check(t, swag.New().Build(&swag.Config{
			SearchDir: "testdata/swag", MainAPIFile: "main.go", OutputDir: dir, OutputTypes: []string{"json"},
			PropNamingStrategy: "camelcase", ParseDepth: 100, ParseDependency: 1, ParseGoList: true, OverridesFile: overrides,
		}))
		text, err := os.ReadFile(filepath.Join(dir, "swagger.json"))
		check(t, err)
		var spec struct {
			Definitions map[string]struct {
				Properties map[string]struct{ Type string }
			}
		}
		check(t, json.Unmarshal(text, &spec))
		order := spec.Definitions["main.Order"].Properties
		return order["id"].Type, order["parent"].Type
	}
	if id, parent := schemas(""); id != "string" || parent != "integer" {
		t.Errorf("the id is %q, want string; without a tag it is %q, of which the page warns", id, parent)
	}
	if id, parent := schemas("testdata/swag/.swaggo"); id != "string" || parent != "string" {
		t.Errorf("with overrides the ids are %q and %q, want string", id, parent)
	}
}

func TestOapiCodegen(t *testing.T) {
	spec, err := openapi3.NewLoader().LoadFromFile("testdata/openapi/orders.yaml")
	check(t, err)
	code, err := codegen.Generate(spec, codegen.Configuration{
		PackageName: "orders", Generate: codegen.GenerateOptions{Models: true, StdHTTPServer: true},
	}.UpdateDefaults())
	check(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), "orders.go", code, 0)
	check(t, err)
	if file.Scope.Lookup("ID") == nil || !regexp.MustCompile(`type ID = snow\.ID`).MatchString(code) || !strings.Contains(code, "runtime.BindStyledParameterWithOptions") {
		t.Errorf("the code has no ID:\n%s", code)
	}
	// The code binds the parameter of the path with this function.
	for in, want := range map[string]snow.ID{id.String(): id, "-5": 0, "+5": 0, "007": 0, "": 0} {
		var got snow.ID
		err := runtime.BindStyledParameterWithOptions("simple", "id", in, &got,
			runtime.BindStyledParameterOptions{ParamLocation: runtime.ParamLocationPath, Required: true})
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q is bound to %d, %v", in, got, err)
		}
	}
}

var (
	_ graphql.ContextMarshaler   = snow.ID(0)
	_ graphql.ContextUnmarshaler = (*snow.ID)(nil)
)

func TestGqlgen(t *testing.T) {
	cfg, err := config.LoadConfig("testdata/graph/gqlgen.yml")
	check(t, err)
	check(t, cfg.Init())
	reference, err := cfg.NewBinder().TypeReference(&ast.Type{NamedType: "SnowID", NonNull: true}, nil)
	if err != nil || reference.GO.String() != "github.com/shardsnow/snow.ID" || !reference.IsContext || !reference.IsMarshaler {
		t.Errorf("SnowID is %+v, %v", reference, err)
	}
}

// openDB returns a database with an empty table.
func openDB(t *testing.T) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(gormlite.Open("file:"+filepath.Join(t.TempDir(), "shop.db")), &gorm.Config{Logger: logger.Discard})
	check(t, err)
	pool, err := db.DB()
	check(t, err)
	t.Cleanup(func() { check(t, pool.Close()) })
	check(t, db.Exec("CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, parent_id BIGINT, lines BIGINT NOT NULL DEFAULT 1)").Error)
	return db
}

// generate returns the model that gen writes for the table orders.
func generate(t *testing.T, db *gorm.DB, configure func(*gen.Generator)) string {
	t.Helper()
	dir := t.TempDir()
	g := gen.NewGenerator(gen.Config{OutPath: filepath.Join(dir, "query"), ModelPkgPath: filepath.Join(dir, "model"), FieldNullable: true})
	g.UseDB(db)
	configure(g)
	g.GenerateModel("orders")
	g.Execute()
	text, err := os.ReadFile(filepath.Join(dir, "model", "orders.gen.go"))
	check(t, err)
	return string(text)
}

func TestGen(t *testing.T) {
	db := openDB(t)
	model := generate(t, db, func(*gen.Generator) {})
	if !regexp.MustCompile(`\sID\s+int64\s`).MatchString(model) {
		t.Errorf("the key is no int64: the page warns of nothing:\n%s", model)
	}
	model = generate(t, db, func(g *gen.Generator) {
		g.WithImportPkgPath("github.com/shardsnow/snow")
		g.WithOpts(gen.FieldType("id", "snow.ID"), gen.FieldType("parent_id", "*snow.ID"))
	})
	for _, want := range []string{`\sID\s+snow\.ID\s`, `ParentID\s+\*snow\.ID\s`, `Lines\s+int64\s`} {
		if !regexp.MustCompile(want).MatchString(model) {
			t.Errorf("the model has no %s:\n%s", want, model)
		}
	}
}

func TestDatatypesNull(t *testing.T) {
	db := openDB(t)
	type row struct {
		ID       snow.ID `gorm:"primaryKey"`
		ParentID datatypes.Null[snow.ID]
	}
	if err := db.Table("orders").Create(&row{1, datatypes.Null[snow.ID]{V: id, Valid: true}}).Error; err == nil {
		t.Error("datatypes.Null is stored: the page warns of nothing")
	}
	type right struct {
		ID       snow.ID `gorm:"primaryKey"`
		ParentID sql.Null[snow.ID]
	}
	for _, want := range []right{{2, sql.Null[snow.ID]{V: id, Valid: true}}, {3, sql.Null[snow.ID]{}}} {
		check(t, db.Table("orders").Create(&want).Error)
		var got right
		if err := db.Table("orders").Take(&got, "id = ?", want.ID).Error; got != want || err != nil {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
}
