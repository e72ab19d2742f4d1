//go:build unix

package gorm_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/gormtest"
	"github.com/shardsnow/snow/internal/testkit/testscale"
)

var (
	randomFor  = flag.Duration("random", testscale.Of(4*time.Second, time.Minute), "how long TestRandomCreates runs")
	randomSeed = flag.Uint64("seed", 0, "the only model that TestRandomCreates tries, if not 0")
)

// TestRandomCreates compares rows with structs and maps after random inserts of
// random models. It is no fuzz target, because go test -fuzz would also instrument
// the database, which is WebAssembly compiled to Go and would take minutes to start,
// and coverage does not guide seeds.
func TestRandomCreates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if *randomSeed != 0 {
		w.try(t, *randomSeed)
		return
	}
	tries := 0
	for start, seed := time.Now(), rand.Uint64(); time.Since(start) < *randomFor && !t.Failed(); seed++ {
		w.try(t, max(seed, 1))
		tries++
	}
	t.Logf("%d models: %d inserts succeeded, of which %d with a conflict; errors: %v", tries, w.succeeded, w.met, w.errors)
	if tries > 500 && (w.succeeded < tries || w.met < tries/20) {
		t.Error("too few of them are tests")
	}
}

// An Owner is the parent of random models.
type Owner struct {
	ID   snow.ID
	Name string `gorm:"uniqueIndex"`
}

type embedded struct {
	Code string `gorm:"snowflake"`
	Note string
}

type world struct {
	db             *gorm.DB
	source         *snow.Generator
	tables         int
	succeeded, met int
	errors         map[string]int
}

func newWorld(t *testing.T) *world {
	db := openSQLite(t, &gorm.Config{TranslateError: true, Logger: logger.Discard, IgnoreRelationshipsWhenMigrating: true})
	w := &world{db: db, source: gormtest.NewGenerator(t), errors: make(map[string]int)}
	if err := db.Use(gormsnow.New(w.source)); err != nil {
		t.Fatal(err)
	}
	if err := db.AutoMigrate(&Owner{}); err != nil {
		t.Fatal(err)
	}
	return w
}

// A column is a field of a random model.
type column struct {
	name string // of the field
	db   string // of the column
	key  bool
}

// A model is a random struct and its description.
type model struct {
	*rand.Rand
	t       reflect.Type
	columns []column
	table   string
	unique  [][]string // sets of fields
	parent  bool
	pk      []string // fields
}

func (m *model) chance(percent int) bool { return m.IntN(100) < percent }

func pick[T any](m *model, from ...T) T { return from[m.IntN(len(from))] }

// field adds a field.
func (m *model) field(fields *[]reflect.StructField, name, db string, t reflect.Type, tag string, key bool) {
	*fields = append(*fields, reflect.StructField{Name: name, Type: t, Tag: reflect.StructTag(tag)})
	m.columns = append(m.columns, column{name, db, key})
}

// newModel returns the model of a seed.
func (w *world) newModel(seed uint64) *model {
	w.tables++
	m := &model{Rand: rand.New(rand.NewPCG(seed, 1)), table: fmt.Sprintf("t%d", w.tables), pk: []string{"ID"}}
	var fields []reflect.StructField
	id, text, number := reflect.TypeFor[snow.ID](), reflect.TypeFor[string](), reflect.TypeFor[int64]()
	shard := ""
	if m.chance(30) {
		shard = ` snow:"shard=` + pick(m, "Name", "Number", "OwnerID") + `"`
	}
	if m.chance(15) {
		m.field(&fields, "Tenant", "tenant", number, `gorm:"primaryKey;autoIncrement:false"`, false)
		m.field(&fields, "ID", "id", id, `gorm:"primaryKey;autoIncrement:false;snowflake"`+shard, true)
		m.pk = []string{"Tenant", "ID"}
	} else {
		tagged := `gorm:"primaryKey;autoIncrement:false;snowflake"` + shard
		m.field(&fields, "ID", "id", pick(m, id, id, reflect.PointerTo(id), number, reflect.TypeFor[uint64](), text, reflect.PointerTo(number)), tagged, true)
	}
	nameTag, numberTag := "", ""
	switch {
	case m.chance(40):
		nameTag = `gorm:"unique"`
		m.unique = [][]string{{"Name"}}
		if m.chance(30) {
			numberTag = `gorm:"uniqueIndex"`
			m.unique = append(m.unique, []string{"Number"})
		}
	case m.chance(50):
		nameTag, numberTag = `gorm:"uniqueIndex:both_`+m.table+`"`, `gorm:"uniqueIndex:both_`+m.table+`"`
		m.unique = [][]string{{"Name", "Number"}}
	}
	if numberTag == `gorm:"uniqueIndex"` {
		numberTag = `gorm:"uniqueIndex:number_` + m.table + `"`
	}
	m.field(&fields, "Name", "name", pick(m, text, reflect.PointerTo(text)), nameTag, false)
	m.field(&fields, "Number", "number", pick(m, number, reflect.PointerTo(number), reflect.TypeFor[int8]()), numberTag, false)
	for _, name := range []string{"Alpha", "Beta"} {
		if m.chance(30) {
			t := pick(m, id, reflect.PointerTo(id), number, reflect.TypeFor[uint64](), text, reflect.PointerTo(text))
			m.field(&fields, name, strings.ToLower(name), t, `gorm:"snowflake"`, true)
		}
	}
	if m.chance(30) {
		t := reflect.TypeFor[embedded]()
		fields = append(fields, reflect.StructField{
			Name: "Inner", Type: pick(m, t, reflect.PointerTo(t)), Tag: `gorm:"embedded;embeddedPrefix:inner_"`,
		})
		m.columns = append(m.columns, column{"Code", "inner_code", true})
	}
	m.field(&fields, "OwnerID", "owner_id", pick(m, id, reflect.PointerTo(id)), "", false)
	if m.parent = m.chance(40); m.parent {
		t := reflect.TypeFor[Owner]()
		fields = append(fields, reflect.StructField{Name: "Owner", Type: pick(m, t, reflect.PointerTo(t)), Tag: `gorm:"foreignKey:OwnerID"`})
	}
	m.t = reflect.StructOf(fields)
	return m
}

// text returns a value as the database shows it, and "" for zero and NULL.
func text(value any) string {
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if !v.IsValid() || v.IsZero() {
		return ""
	}
	return fmt.Sprint(v.Interface())
}

// A row is a struct or a map.
type row struct {
	s      *schema.Schema
	value  reflect.Value // pointer to the struct
	entry  map[string]any
	before map[string]string // keys by field
}

func (r *row) get(t *testing.T, field string) any {
	f := r.s.LookUpField(field)
	if r.entry == nil {
		v, _ := f.ValueOf(t.Context(), r.value)
		return v
	}
	for name, v := range r.entry {
		if r.s.LookUpField(name) == f {
			return v
		}
	}
	return nil
}

// set stores value, a plain one, as the type of the field; a map takes it under
// one of its names.
func (m *model) set(t *testing.T, r *row, field string, value any) {
	f := r.s.LookUpField(field)
	if r.entry != nil {
		r.entry[pick(m, f.Name, f.DBName)] = value
		return
	}
	if f.IndirectFieldType.Kind() == reflect.String {
		value = fmt.Sprint(value)
	}
	if err := f.Set(t.Context(), r.value, value); err != nil {
		t.Fatalf("set %s to %v: %v", field, value, err)
	}
}

func (w *world) next(t *testing.T) snow.ID {
	id, err := w.source.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// newRow returns a random row. Some of its keys are set.
func (w *world) newRow(t *testing.T, m *model, s *schema.Schema, isMap bool) *row {
	r := &row{s: s, before: make(map[string]string)}
	if isMap {
		r.entry = make(map[string]any)
	} else {
		r.value = reflect.New(m.t)
	}
	for _, c := range m.columns {
		switch {
		case c.key && m.chance(10):
			m.set(t, r, c.name, int64(w.next(t)))
		case c.key && isMap && m.chance(20):
			m.set(t, r, c.name, pick[any](m, nil, 0, "", new(snow.ID)))
		case c.key:
		case c.name == "Name" && m.chance(90):
			m.set(t, r, c.name, pick(m, "a", "b", "c", "d", w.next(t).String()))
		case c.name == "Number" && m.chance(90), c.name == "Tenant":
			m.set(t, r, c.name, int64(m.IntN(4)))
		case c.name == "OwnerID" && m.chance(30):
			m.set(t, r, c.name, int64(1+m.IntN(100)))
		}
	}
	if m.parent && !isMap && m.chance(70) {
		parent := r.value.Elem().FieldByName("Owner")
		if parent.Kind() == reflect.Pointer {
			parent.Set(reflect.New(parent.Type().Elem()))
		}
		reflect.Indirect(parent).FieldByName("Name").SetString(pick(m, "x", "y", "z", w.next(t).String()))
	}
	for _, c := range m.columns {
		if c.key {
			r.before[c.name] = text(r.get(t, c.name))
		}
	}
	return r
}

// create inserts rows in a random way and says which.
func (m *model) create(db *gorm.DB, rows []*row, batches bool) (tx *gorm.DB, how string) {
	one := reflect.New(m.t).Interface()
	if rows[0].entry != nil {
		maps := make([]map[string]any, len(rows))
		for i, r := range rows {
			maps[i] = r.entry
		}
		db = db.Model(one)
		switch {
		case len(rows) == 1 && m.chance(50):
			return db.Create(rows[0].entry), "a map"
		case len(rows) == 1:
			return db.Create(&rows[0].entry), "a pointer to a map"
		case m.chance(50):
			return db.Create(maps), "maps"
		case m.chance(50) || !batches:
			return db.Create(&maps), "a pointer to maps"
		}
		return db.CreateInBatches(&maps, 2), "batches of maps"
	}
	structs, pointers := reflect.MakeSlice(reflect.SliceOf(m.t), 0, len(rows)), reflect.MakeSlice(reflect.SliceOf(reflect.PointerTo(m.t)), 0, len(rows))
	array := reflect.New(reflect.ArrayOf(len(rows), m.t))
	for i, r := range rows {
		structs, pointers = reflect.Append(structs, r.value.Elem()), reflect.Append(pointers, r.value)
		array.Elem().Index(i).Set(r.value.Elem())
	}
	switch {
	case len(rows) == 1 && m.chance(40):
		return db.Create(rows[0].value.Interface()), "a struct"
	case len(rows) == 1 && m.chance(40):
		pointer := reflect.New(rows[0].value.Type())
		pointer.Elem().Set(rows[0].value)
		return db.Create(pointer.Interface()), "a pointer to a pointer"
	case m.chance(30):
		return db.Create(pointers.Interface()), "pointers"
	case m.chance(30) && batches:
		return db.CreateInBatches(pointers.Interface(), 2), "batches of pointers"
	case m.chance(30):
		for i, r := range rows {
			r.value = array.Elem().Index(i).Addr()
		}
		return db.Create(array.Interface()), "an array"
	}
	for i, r := range rows {
		r.value = structs.Index(i).Addr()
	}
	return db.Create(structs.Interface()), "structs"
}

// conflict returns a clause, or nil, and what it is. None of them removes or
// changes the keys of rows that an earlier INSERT has stored.
func (m *model) conflict() (c clause.Expression, what string, overwrites bool) {
	set := func(target []string) (c clause.OnConflict) {
		for _, name := range target {
			for _, f := range m.columns {
				if f.name == name {
					c.Columns = append(c.Columns, clause.Column{Name: f.db})
				}
			}
		}
		return c
	}
	if m.chance(40) {
		return nil, "plain", false
	}
	on := set(pick(m, append(slices.Clone(m.unique), m.pk)...))
	switch m.IntN(6) {
	case 0:
		on.Columns, on.DoNothing = nil, true
	case 1:
		on.DoNothing = true
	case 2:
		on.UpdateAll, overwrites = true, true
	case 3:
		on.DoUpdates = clause.AssignmentColumns([]string{pick(m, "owner_id", "number")})
	case 4:
		on.DoUpdates, overwrites = clause.AssignmentColumns([]string{"id"}), true
	case 5:
		modifier := pick(m, "OR IGNORE", "OR REPLACE")
		return clause.Insert{Modifier: modifier}, modifier, modifier == "OR REPLACE"
	}
	return on, fmt.Sprintf("%+v", on), overwrites
}

// try inserts random rows of the model of a seed.
func (w *world) try(t *testing.T, seed uint64) {
	m := w.newModel(seed)
	one := reflect.New(m.t).Interface()
	if err := w.db.Table(m.table).AutoMigrate(one); err != nil {
		t.Fatalf("seed %d: migrate %s: %v", seed, m.t, err)
	}
	defer w.db.Exec("DROP TABLE " + m.table)
	stmt := &gorm.Statement{DB: w.db}
	if err := stmt.Parse(one); err != nil && stmt.Schema == nil {
		t.Fatalf("seed %d: parse %s: %v", seed, m.t, err)
	}
	for range 4 {
		isMap := m.chance(30)
		rows := make([]*row, 1+m.IntN(4))
		for i := range rows {
			rows[i] = w.newRow(t, m, stmt.Schema, isMap)
		}
		db := w.db.Session(&gorm.Session{
			PrepareStmt: m.chance(10), SkipDefaultTransaction: m.chance(20), SkipHooks: m.chance(20), FullSaveAssociations: m.chance(10),
		}).Table(m.table)
		partial := ""
		switch m.IntN(10) {
		case 0:
			partial = "select"
			db = db.Select("Name", "Tenant", "Owner")
		case 1:
			partial = "omit"
			db = db.Omit("Number")
		}
		c, name, overwrites := m.conflict()
		if c != nil {
			db = db.Clauses(c)
		}
		tx, how := m.create(db, rows, !overwrites)
		w.check(t, m, rows, tx, c != nil, partial != "", fmt.Sprintf("seed %d: %s %s, %s, into %s", seed, partial, how, name, m.t))
		if t.Failed() {
			return
		}
	}
}

// check compares rows with the table.
func (w *world) check(t *testing.T, m *model, rows []*row, tx *gorm.DB, mayMeet, partial bool, what string) {
	var field *gormsnow.FieldError
	switch err := tx.Error; {
	case err == nil:
		w.succeeded++
	case errors.Is(err, gorm.ErrDuplicatedKey):
		w.errors["duplicate"]++
		return
	case errors.As(err, &field):
		w.errors[field.Reason]++
		return
	default:
		t.Errorf("%s: %v", what, err)
		return
	}
	for i, r := range rows {
		for _, c := range m.columns {
			if !c.key {
				continue
			}
			now, was := text(r.get(t, c.name)), r.before[c.name]
			switch {
			case was != "" && now != was:
				t.Errorf("%s: row %d: %s was %s, is %s", what, i, c.name, was, now)
				continue
			case now == "" && mayMeet && (len(m.unique) > 1 || len(m.pk) > 1 || partial):
				// it may have met two, or one of another tenant, or one by a column that was not sent
				w.errors["unknown"]++
				continue
			case now == "":
				t.Errorf("%s: row %d: %s is not set", what, i, c.name)
				continue
			case was != "":
				continue
			}
			w.compare(t, m, r, c, now, mayMeet, partial, fmt.Sprintf("%s: row %d: %s is %s", what, i, c.name, now))
		}
		if m.parent && r.entry == nil {
			parent := reflect.Indirect(r.value.Elem().FieldByName("Owner"))
			id := text(r.get(t, "OwnerID"))
			var n int
			err := w.db.Raw("SELECT COUNT(*) FROM owners WHERE id = ?", id).Scan(&n).Error
			if parent.IsValid() && !parent.IsZero() && (err != nil || n != 1) && !partial {
				t.Errorf("%s: row %d: %d owners have the id %q (%v)", what, i, n, id, err)
			}
		}
	}
}

// compare looks for the row that has key as the value of c.
func (w *world) compare(t *testing.T, m *model, r *row, c column, key string, mayMeet, partial bool, what string) {
	var found []struct {
		Name   *string
		Number *int64
	}
	err := w.db.Raw("SELECT name, number FROM "+m.table+" WHERE "+c.db+" = ?", key).Scan(&found).Error
	if err != nil || len(found) != 1 {
		t.Errorf("%s, which %d rows have (%v)", what, len(found), err)
		return
	}
	same := map[string]bool{
		"Name":   text(found[0].Name) == text(r.get(t, "Name")),
		"Number": text(found[0].Number) == text(r.get(t, "Number")),
	}
	switch {
	case partial || same["Name"] && same["Number"]:
	case !mayMeet:
		t.Errorf("%s, which is that of another row", what)
	default:
		w.met++
		// It is a row that this one has met.
		for _, unique := range m.unique {
			if !slices.ContainsFunc(unique, func(name string) bool { return !same[name] }) {
				return
			}
		}
		t.Errorf("%s, which is that of a row without anything in common", what)
	}
}
