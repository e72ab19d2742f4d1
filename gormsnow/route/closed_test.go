package route_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow/gormsnow/route"
)

// methods are all methods that GORM had when it was last looked at what they do with a router.
var methods = map[reflect.Type]string{
	reflect.TypeFor[*gorm.DB](): "AddError AfterInitialize Apply Assign Association Attrs AutoMigrate Begin BindVarTo Callback Clauses Commit Connection Count Create " +
		"CreateInBatches DB DataTypeOf Debug DefaultValueOf Delete Distinct Exec Explain Find FindInBatches First FirstOrCreate FirstOrInit Get Group Having Initialize " +
		"InnerJoins InstanceGet InstanceSet Joins Last Limit MapColumns Migrator Model Name Not Offset Omit Or Order Pluck Preload QuoteTo Raw Rollback RollbackTo Row " +
		"Rows Save SavePoint Scan ScanRows Scopes Select Session Set SetupJoinTable Table Take ToSQL Transaction Unscoped Update UpdateColumn UpdateColumns Updates Use " +
		"Where WithContext",
	reflect.TypeFor[*gorm.Association](): "Append Clear Count Delete Find Replace Unscoped",
	reflect.TypeFor[gorm.Migrator](): "AddColumn AlterColumn AutoMigrate ColumnTypes CreateConstraint CreateIndex CreateTable CreateView CurrentDatabase DropColumn " +
		"DropConstraint DropIndex DropTable DropView FullDataTypeOf GetIndexes GetTables GetTypeAliases HasColumn HasConstraint HasIndex HasTable MigrateColumn " +
		"MigrateColumnUnique RenameColumn RenameIndex RenameTable TableType",
}

// argument returns a value that a method accepts.
func argument(t reflect.Type, stmt *gorm.Statement) reflect.Value {
	switch t {
	case reflect.TypeFor[any]():
		return reflect.ValueOf(&Order{State: "open"})
	case reflect.TypeFor[context.Context]():
		return reflect.ValueOf(context.Background())
	case reflect.TypeFor[*schema.Field]():
		return reflect.ValueOf(stmt.Schema.LookUpField("state"))
	case reflect.TypeFor[*gorm.Session]():
		return reflect.ValueOf(&gorm.Session{})
	case reflect.TypeFor[*gorm.Statement]():
		return reflect.ValueOf(stmt)
	case reflect.TypeFor[clause.Writer]():
		return reflect.ValueOf(new(strings.Builder))
	}
	switch t.Kind() {
	case reflect.String:
		return reflect.ValueOf("State")
	case reflect.Int:
		return reflect.ValueOf(1)
	case reflect.Func:
		return reflect.MakeFunc(t, func(args []reflect.Value) (results []reflect.Value) {
			for i := range t.NumOut() {
				if out := t.Out(i); t.NumIn() > 0 && out == t.In(0) {
					results = append(results, args[0])
				} else {
					results = append(results, reflect.Zero(out))
				}
			}
			return results
		})
	}
	return reflect.Zero(t)
}

// call calls a method of v. Some panic on the arguments, as they would with any database.
func call(v reflect.Value, method reflect.Method, stmt *gorm.Statement) (results []reflect.Value) {
	f := v.MethodByName(method.Name)
	var args []reflect.Value
	for i := range f.Type().NumIn() {
		if f.Type().IsVariadic() && i == f.Type().NumIn()-1 {
			if in := f.Type().In(i).Elem(); in == reflect.TypeFor[any]() && method.Name != "Set" {
				args = append(args, argument(in, stmt))
			}
			break
		}
		args = append(args, argument(f.Type().In(i), stmt))
	}
	defer func() { _ = recover() }()
	return f.Call(args)
}

// TestClosed calls all methods that GORM has. Without a shard, none of them reaches a database.
func TestClosed(t *testing.T) {
	fakes, shards := databases(t, 4)
	db, err := route.New(shards, route.Global(&Product{}))
	if err != nil {
		t.Fatal(err)
	}
	stmt := &gorm.Statement{DB: db}
	if err := stmt.Parse(&Order{}); err != nil {
		t.Fatal(err)
	}
	for typ, known := range methods {
		var names []string
		for i := range typ.NumMethod() {
			names = append(names, typ.Method(i).Name)
		}
		if got := strings.Join(names, " "); got != known {
			t.Errorf("%s has other methods than before: look at what a router does with them:\n%s", typ, got)
		}
		for i := range typ.NumMethod() {
			method := typ.Method(i)
			for _, way := range []string{"first database", "fresh", "model", "transaction", "prepared", "prepared, then a transaction", "a transaction, then prepared"} {
				tx := db.Session(&gorm.Session{NewDB: true})
				var begun *gorm.DB
				switch way {
				case "first database": // which then has prepared statements with these texts
					tx = shards.At(0).Session(&gorm.Session{PrepareStmt: true}).Model(&Order{}).Where("state = ?", "open")
				case "model":
					tx = tx.Model(&Order{}).Where("state = ?", "open")
				case "transaction":
					begun = tx.Begin()
					tx = begun.Model(&Order{}).Where("state = ?", "open")
				case "prepared":
					tx = tx.Session(&gorm.Session{PrepareStmt: true}).Model(&Order{}).Where("state = ?", "open")
				case "prepared, then a transaction":
					begun = tx.Session(&gorm.Session{PrepareStmt: true}).Begin()
					tx = begun.Model(&Order{}).Where("state = ?", "open")
				case "a transaction, then prepared":
					begun = tx.Begin()
					tx = begun.Session(&gorm.Session{PrepareStmt: true}).Model(&Order{}).Where("state = ?", "open")
				}
				var v reflect.Value
				switch typ {
				case reflect.TypeFor[*gorm.DB]():
					v = reflect.ValueOf(tx)
				case reflect.TypeFor[gorm.Migrator]():
					v = reflect.ValueOf(tx.Migrator())
				default:
					v = reflect.ValueOf(tx.Model(&User{Name: "ann"}).Association("Orders"))
				}
				results := call(v, method, stmt)
				// What builds a statement is followed to its end.
				for _, r := range results {
					if next, ok := r.Interface().(*gorm.DB); ok && next != nil && typ == reflect.TypeFor[*gorm.DB]() && method.Name != "Begin" {
						for _, finish := range []string{"Find", "Count", "Updates", "Delete", "Rows", "Row"} {
							m, _ := typ.MethodByName(finish)
							call(reflect.ValueOf(next.Session(&gorm.Session{})), m, stmt)
						}
					}
				}
				if begun != nil {
					begun.Rollback()
				}
				for i, f := range fakes {
					sent := slices.DeleteFunc(f.take(), func(s string) bool { return strings.Contains(s, "IN (NULL)") }) // matches no row anywhere
					if len(sent) > 0 && way != "first database" {
						t.Errorf("%s.%s, %s: database %d got %q", typ, method.Name, way, i, sent)
					}
				}
			}
		}
	}
	if got := fmt.Sprint(db.AutoMigrate(&Order{})); !strings.HasPrefix(got, "route: ") {
		t.Error(got)
	}
	if db.Migrator().HasTable(&Order{}) {
		t.Error("HasTable")
	}
}

// TestAssociationStaysInShard calls all methods of an association whose owner is known.
func TestAssociationStaysInShard(t *testing.T) {
	db, fakes := newRouter(t, 16)
	name := named(t, 7)
	stmt := &gorm.Statement{DB: db}
	if err := stmt.Parse(&Order{}); err != nil {
		t.Fatal(err)
	}
	typ := reflect.TypeFor[*gorm.Association]()
	for i := range typ.NumMethod() {
		a := db.Model(&User{ID: base + 7, Name: name}).Association("Orders")
		if method := typ.Method(i); method.Name != "Unscoped" {
			call(reflect.ValueOf(a), method, stmt)
			if got := take(fakes); len(got) > 0 && !slices.Equal(got, []uint64{7}) && method.Name != "Delete" { // of nothing
				t.Errorf("%s reached %v", method.Name, got)
			} else if len(got) == 0 && method.Name == "Append" {
				t.Errorf("%s reached nothing: %v", method.Name, a.Error)
			}
		}
	}
}
