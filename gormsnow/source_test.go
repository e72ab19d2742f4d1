package gormsnow_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// sequence is a Source that gives 1001, 1002, … and remembers its calls.
type sequence struct {
	mu    sync.Mutex
	last  snow.ID
	fills []int // ids asked for, call by call
}

func newSequence() *sequence { return &sequence{last: 1000} }

func (s *sequence) Next(ctx context.Context) (snow.ID, error) {
	var one [1]snow.ID
	err := s.Fill(ctx, one[:])
	return one[0], err
}

func (s *sequence) Fill(ctx context.Context, ids []snow.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	s.fills = append(s.fills, len(ids))
	for i := range ids {
		s.last++
		ids[i] = s.last
	}
	return nil
}

// sourceFunc is a Source that misbehaves.
type sourceFunc func(ctx context.Context, ids []snow.ID) error

func (f sourceFunc) Next(ctx context.Context) (snow.ID, error) {
	var one [1]snow.ID
	err := f.Fill(ctx, one[:])
	return one[0], err
}

func (f sourceFunc) Fill(ctx context.Context, ids []snow.ID) error { return f(ctx, ids) }

func TestSourceErrors(t *testing.T) {
	t.Parallel()
	give := func(ids ...snow.ID) sourceFunc {
		return func(_ context.Context, dst []snow.ID) error { copy(dst, ids); return nil }
	}
	down := errors.New("no worker")
	for name, tt := range map[string]struct {
		source sourceFunc
		want   error
		text   string
	}{
		"fails": {
			func(context.Context, []snow.ID) error { return down }, down,
			"gormsnow: assign 2 ids to gormsnow_test.Order: no worker",
		},
		"fails after it wrote": {
			func(_ context.Context, ids []snow.ID) error { ids[0] = 7; return down }, down,
			"gormsnow: assign 2 ids to gormsnow_test.Order: no worker",
		},
		"leaves all unset": {
			give(), gormsnow.ErrBadSource,
			"gormsnow: assign 2 ids to gormsnow_test.Order: source broke its contract: gormsnow_test.sourceFunc gave 0 after 0",
		},
		"leaves one unset": {
			give(7), gormsnow.ErrBadSource,
			"gormsnow: assign 2 ids to gormsnow_test.Order: source broke its contract: gormsnow_test.sourceFunc gave 0 after 7",
		},
		"gives one twice": {
			give(7, 7), gormsnow.ErrBadSource,
			"gormsnow: assign 2 ids to gormsnow_test.Order: source broke its contract: gormsnow_test.sourceFunc gave 7 after 7",
		},
		"gives a negative": {
			give(-7, 7), gormsnow.ErrBadSource,
			"gormsnow: assign 2 ids to gormsnow_test.Order: source broke its contract: gormsnow_test.sourceFunc gave -7 after 0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := dry(t, tt.source)
			orders := []Order{{Buyer: "ann"}, {Buyer: "bob"}}
			tx := db.Create(&orders)
			if !errors.Is(tx.Error, tt.want) || tx.Error.Error() != tt.text {
				t.Errorf("error %q, want %q", tx.Error, tt.text)
			}
			if sql := tx.Statement.SQL.String(); sql != "" {
				t.Errorf("built %q all the same", sql)
			}
			maps := []map[string]any{{"buyer": "ann"}, {"ID": nil}}
			if err := db.Model(&Order{}).Create(maps).Error; !errors.Is(err, tt.want) {
				t.Errorf("maps: error %v, want %v", err, tt.want)
			}
			if orders[0].ID != 0 || orders[1].ID != 0 || len(maps[0]) != 1 || maps[1]["ID"] != nil {
				t.Errorf("keys have changed: %v, %v", orders, maps)
			}
		})
	}
}

func TestContextReachesTheSource(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	src := newSequence()
	order := Order{}
	err := dry(t, src).WithContext(ctx).Create(&order).Error
	if !errors.Is(err, context.Canceled) || order.ID != 0 {
		t.Errorf("Create: id %d, %v; want context.Canceled", order.ID, err)
	}
}
