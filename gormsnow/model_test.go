package gormsnow_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

type (
	Ticket struct {
		gormsnow.Model
		Seat string
	}
	ticketByPointer struct {
		*gormsnow.Model
		Seat string
	}
	softTicket struct {
		gormsnow.SoftModel
		Seat string
	}
	softTicketByPointer struct {
		*gormsnow.SoftModel
		Seat string
	}
	ticketWithHook struct {
		gormsnow.Model
	}
	stamped struct{ Note string }
	// Two promoted hooks of the same depth hide each other.
	ticketWithTwoHooks struct {
		gormsnow.Model
		stamped
	}
)

func (*ticketWithHook) BeforeCreate(*gorm.DB) error { return nil }
func (*stamped) BeforeCreate(*gorm.DB) error        { return nil }

func TestModelWithPlugin(t *testing.T) {
	t.Parallel()
	db := dry(t, newSequence())
	for name, create := range map[string]func() (snow.ID, error){
		"row":       func() (snow.ID, error) { r := Ticket{}; err := db.Create(&r).Error; return r.ID, err },
		"soft":      func() (snow.ID, error) { r := softTicket{}; err := db.Create(&r).Error; return r.ID, err },
		"nil soft":  func() (snow.ID, error) { r := softTicketByPointer{}; err := db.Create(&r).Error; return r.ID, err },
		"nil Model": func() (snow.ID, error) { r := ticketByPointer{}; err := db.Create(&r).Error; return r.ID, err },
		"own hook":  func() (snow.ID, error) { r := ticketWithHook{}; err := db.Create(&r).Error; return r.ID, err },
		"two hooks": func() (snow.ID, error) { r := ticketWithTwoHooks{}; err := db.Create(&r).Error; return r.ID, err },
		"map": func() (snow.ID, error) {
			r := map[string]any{}
			err := db.Model(&Ticket{}).Create(r).Error
			id, _ := r["id"].(snow.ID)
			return id, err
		},
		"without hooks": func() (snow.ID, error) {
			r := Ticket{}
			err := db.Session(&gorm.Session{SkipHooks: true}).Create(&r).Error
			return r.ID, err
		},
	} {
		if id, err := create(); err != nil || id <= 1000 {
			t.Errorf("%s: id %d, %v; want an id", name, id, err)
		}
	}
}

func TestModelWithoutPlugin(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]any{
		"row":              &Ticket{},
		"slice":            []*Ticket{{}, {}},
		"one of two rows":  []Ticket{{Model: gormsnow.Model{ID: 5}}, {}},
		"nil Model":        &ticketByPointer{},
		"nil Model, slice": []ticketByPointer{{}},
		"soft":             &softTicket{},
		"nil soft, slice":  []softTicketByPointer{{}},
	} {
		tx := bare(t).Create(rows)
		if want := "gormsnow: plugin not registered: call db.Use(gormsnow.New(source)) after gorm.Open"; !errors.Is(tx.Error, gormsnow.ErrNoPlugin) || !strings.HasPrefix(tx.Error.Error(), want) {
			t.Errorf("%s: error %q, want %q", name, tx.Error, want)
		}
		if sql := tx.Statement.SQL.String(); sql != "" {
			t.Errorf("%s: built %q all the same", name, sql)
		}
	}
	if err := bare(t).Create(&Ticket{Model: gormsnow.Model{ID: 5}}).Error; err != nil {
		t.Errorf("row with its own id: %v", err)
	}
	if err := bare(t).Create(&softTicket{SoftModel: gormsnow.SoftModel{ID: 5}}).Error; err != nil {
		t.Errorf("soft row with its own id: %v", err)
	}
	db := dry(t, newSequence())
	if err := db.Callback().Create().Remove("gormsnow:assign"); err != nil {
		t.Fatal(err)
	}
	if err := db.Create(&Ticket{}).Error; !errors.Is(err, gormsnow.ErrNoPlugin) {
		t.Errorf("callback removed: error %v, want ErrNoPlugin", err)
	}
}

// BeforeCreate, called by the program, assigns an id before the insert.
func TestModelOutsideOfCreate(t *testing.T) {
	t.Parallel()
	src := newSequence()
	db := dry(t, src)
	row := Ticket{}
	if err := row.BeforeCreate(db); err != nil || row.ID != 1001 {
		t.Errorf("id %d, %v; want 1001", row.ID, err)
	}
	if err := db.Create(&row).Error; err != nil || row.ID != 1001 {
		t.Errorf("after Create: id %d, %v; want 1001", row.ID, err)
	}
	if err := row.BeforeCreate(db); err != nil || row.ID != 1001 {
		t.Errorf("again: id %d, %v; want 1001", row.ID, err)
	}
	soft := softTicket{}
	if err := soft.BeforeCreate(db); err != nil || soft.ID != 1002 {
		t.Errorf("soft: id %d, %v; want 1002", soft.ID, err)
	}
	if err := new(Ticket).BeforeCreate(bare(t)); !errors.Is(err, gormsnow.ErrNoPlugin) {
		t.Errorf("without the plugin: %v, want ErrNoPlugin", err)
	}
	down := errors.New("no worker")
	broken := dry(t, sourceFunc(func(context.Context, []snow.ID) error { return down }))
	if err := new(Ticket).BeforeCreate(broken); !errors.Is(err, down) {
		t.Errorf("error %v, want %v", err, down)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := new(Ticket).BeforeCreate(db.WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// The JSON of a SoftModel has the fields of gorm.Model, in their order, with a string for the id.
func TestSoftModelInJSON(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 26, 20, 0, 0, 0, time.UTC)
	for _, deleted := range []gorm.DeletedAt{{}, {Time: at, Valid: true}} {
		before, err := json.Marshal(gorm.Model{ID: 7, CreatedAt: at, DeletedAt: deleted})
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Replace(string(before), `"ID":7`, `"ID":"7"`, 1)
		got, err := json.Marshal(gormsnow.SoftModel{ID: 7, CreatedAt: at, DeletedAt: deleted})
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
		hidden, err := json.Marshal(gormsnow.Model{ID: 7, CreatedAt: at, DeletedAt: deleted})
		if err != nil || strings.Contains(string(hidden), "DeletedAt") {
			t.Errorf("a Model is %s, %v; want no DeletedAt", hidden, err)
		}
	}
}
