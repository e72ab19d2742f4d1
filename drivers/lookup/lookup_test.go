//go:build unix

// Package lookup_test runs the pattern of docs/lookup.md: finding a row by what does not tell its shard.
package lookup_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/gormsnow/route"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func each(t *testing.T, test func(t *testing.T, s *users)) {
	for _, product := range []string{"sqlite", "mariadb", "postgres"} {
		t.Run(product, func(t *testing.T) { test(t, newUsers(t, product)) })
	}
}

func newUsers(t *testing.T, product string) *users {
	t.Helper()
	layout, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 10, Sequence: 8, Shard: 4})
	check(t, err)
	worker, err := snow.Fixed(layout, 1)
	check(t, err)
	keys, err := snow.NewGenerator(worker, snow.Config{})
	check(t, err)
	dir := t.TempDir()
	dbs := make([]*gorm.DB, 4)
	for i := range dbs {
		var dialector gorm.Dialector
		switch product {
		case "mariadb":
			s := dbtest.MariaDB(t)
			dialector = mysql.Open(s.DSN(s.CreateDatabase(t)))
		case "postgres":
			s := dbtest.Postgres(t)
			dialector = postgres.Open(s.DSN(s.CreateDatabase(t)))
		default:
			dialector = gormlite.Open("file:" + filepath.Join(dir, fmt.Sprint(i)) + "?_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)&_pragma=synchronous(off)")
		}
		dbs[i], err = gorm.Open(dialector, &gorm.Config{Logger: logger.Discard, TranslateError: true})
		check(t, err)
		pool, err := dbs[i].DB()
		check(t, err)
		t.Cleanup(func() { pool.Close() })
		check(t, dbs[i].Use(gormsnow.New(keys)))
	}
	shards, err := snow.NewShards(layout, dbs...)
	check(t, err)
	check(t, route.MigrateAcross(t.Context(), shards, &User{}, &UserEmail{}))
	db, err := route.New(shards, route.Models(&User{}, &UserEmail{}))
	check(t, err)
	return &users{db: db, layout: layout, keys: keys, grace: time.Hour}
}

// want checks whose an address is, and how many users and claims have it.
func (s *users) want(t *testing.T, email string, id snow.ID, users, claims int64) {
	t.Helper()
	u, err := s.find(t.Context(), email)
	if id == 0 && !errors.Is(err, gorm.ErrRecordNotFound) || id != 0 && (err != nil || u.ID != id) {
		t.Errorf("%s: got %d, %v, want %d", email, u.ID, err, id)
	}
	var n, m int64
	check(t, route.Scatter(s.db).Model(&User{}).Where("email = ?", email).Count(&n).Error)
	check(t, s.db.Model(&UserEmail{}).Where("email = ?", email).Count(&m).Error)
	if n != users || m != claims {
		t.Errorf("%s: %d users and %d claims, want %d and %d", email, n, m, users, claims)
	}
}

func TestRegister(t *testing.T) {
	each(t, func(t *testing.T, s *users) {
		ctx := t.Context()
		ann := User{Team: "red", Email: "ann@example.com"}
		check(t, s.register(ctx, &ann))
		check(t, s.register(ctx, &ann)) // a repetition
		s.want(t, ann.Email, ann.ID, 1, 1)
		other := User{Team: "blue", Email: ann.Email}
		if err := s.register(ctx, &other); !errors.Is(err, errTaken) {
			t.Error(err)
		}
		s.want(t, ann.Email, ann.ID, 1, 1)
		check(t, s.remove(ctx, &ann))
		s.want(t, ann.Email, 0, 0, 0)
		check(t, s.register(ctx, &other))
		s.want(t, ann.Email, other.ID, 1, 1)
	})
}

// Of programs that want one address, one gets it.
func TestRace(t *testing.T) {
	each(t, func(t *testing.T, s *users) {
		for round := range 3 {
			email := fmt.Sprint(round, "@example.com")
			var programs sync.WaitGroup
			var mu sync.Mutex
			var winner snow.ID
			for i := range 8 {
				programs.Go(func() {
					u := User{Team: fmt.Sprint(i), Email: email}
					err := s.register(t.Context(), &u)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil && winner == 0:
						winner = u.ID
					case !errors.Is(err, errTaken):
						t.Errorf("%v after the address went to %d", err, winner)
					}
				})
			}
			programs.Wait()
			s.want(t, email, winner, 1, 1)
		}
	})
}

// A program may crash after each step. The address is not lost, and nobody else's.
func TestCrash(t *testing.T) {
	each(t, func(t *testing.T, s *users) {
		ctx := t.Context()
		steps := func(u *User) []func() error {
			return []func() error{
				func() error { return s.claim(ctx, u) },
				func() error { return s.db.Create(u).Error },
				func() error { return s.confirm(ctx, u) },
				func() error { return s.db.Delete(u).Error }, // of remove
			}
		}
		for crash := 1; crash <= 4; crash++ {
			email := fmt.Sprint(crash, "@example.com")
			ids := make([]snow.ID, 1)
			check(t, s.keys.Fill(ctx, ids))
			id, err := s.layout.WithShard(ids[0], snow.HashShard("red"))
			check(t, err)
			u := User{ID: id, Team: "red", Email: email}
			for _, step := range steps(&u)[:crash] {
				check(t, step())
			}
			lives := crash == 2 || crash == 3
			found := snow.ID(0)
			if lives {
				found = u.ID
			}
			// Within the grace the address is taken, also if there is no user.
			other := User{Team: "blue", Email: email}
			if err := s.register(ctx, &other); !errors.Is(err, errTaken) {
				t.Error(crash, err)
			}
			check(t, s.sweepAll(ctx))
			s.want(t, email, found, map[bool]int64{true: 1}[lives], 1)
			// After it, only a user keeps it.
			late := *s
			late.grace = 0
			if crash == 1 {
				check(t, late.sweepAll(ctx))
				s.want(t, email, 0, 0, 0)
			}
			err = late.register(ctx, &other)
			if lives && !errors.Is(err, errTaken) || !lives && err != nil {
				t.Error(crash, err)
			}
			if !lives {
				found = other.ID
			}
			s.want(t, email, found, 1, 1)
		}
	})
}

// A program that is slower than the grace loses the address, or keeps it, but two users never have it.
func TestSlow(t *testing.T) {
	each(t, func(t *testing.T, s *users) {
		ctx := t.Context()
		s.grace = 0
		for _, at := range []string{"before the user", "before the confirmation"} {
			email := at[:8] + fmt.Sprint(len(at)) + "@example.com"
			slow := s.user(t, email)
			check(t, s.claim(ctx, &slow))
			fast := s.user(t, email)
			if at == "before the confirmation" {
				check(t, s.db.Create(&slow).Error)
				if err := s.register(ctx, &fast); !errors.Is(err, errTaken) {
					t.Error(at, err)
				}
				check(t, s.confirm(ctx, &slow))
				s.want(t, email, slow.ID, 1, 1)
				continue
			}
			check(t, s.register(ctx, &fast))
			check(t, s.db.Create(&slow).Error)
			s.want(t, email, fast.ID, 2, 1) // found is the one that has the claim
			if err := s.confirm(ctx, &slow); !errors.Is(err, errTaken) {
				t.Error(at, err)
			}
			s.want(t, email, fast.ID, 1, 1)
		}
		// The sweeper has seen no user, and drops the claim after the confirmation.
		slow := s.user(t, "last@example.com")
		check(t, s.claim(ctx, &slow))
		var c UserEmail
		check(t, s.db.First(&c, "email = ?", slow.Email).Error)
		check(t, s.db.Create(&slow).Error)
		check(t, s.confirm(ctx, &slow))
		check(t, s.db.Where("id = ? AND confirmed = ?", c.ID, c.Confirmed).Delete(&UserEmail{}).Error)
		s.want(t, slow.Email, slow.ID, 1, 1)
	})
}

// user returns one with a key, as register makes it.
func (s *users) user(t *testing.T, email string) User {
	t.Helper()
	ids := make([]snow.ID, 1)
	check(t, s.keys.Fill(context.Background(), ids))
	id, err := s.layout.WithShard(ids[0], snow.HashShard("red"))
	check(t, err)
	return User{ID: id, Team: "red", Email: email}
}
