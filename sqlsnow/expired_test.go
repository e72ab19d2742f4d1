package sqlsnow

import (
	"context"
	"database/sql/driver"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shardsnow/snow"
)

// leased runs a test with a lease, pinned or not, whose log goes to a journal.
func leased(t *testing.T, pinned bool, test func(t *testing.T, s *scripted, lease *Lease, keys *snow.Generator, j *lines)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{layout: longAgo(t)}
		db := s.open()
		defer db.Close()
		j := &lines{}
		cfg := LeaseConfig{Namespace: "shop", Logger: slog.New(j)}
		if seven := uint64(7); pinned {
			cfg.Worker = &seven
		}
		lease, err := Acquire(t.Context(), db, MySQL, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer lease.Close(context.Background())
		keys, err := snow.NewGenerator(lease, snow.Config{})
		if err != nil {
			t.Fatal(err)
		}
		test(t, s, lease, keys, j)
	})
}

// lines are the lines of a log, except those for debugging.
type lines struct {
	slog.Handler
	mu      sync.Mutex
	records []slog.Record
}

func (j *lines) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }
func (j *lines) WithAttrs([]slog.Attr) slog.Handler           { return j }
func (j *lines) Handle(_ context.Context, r slog.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.records = append(j.records, r)
	return nil
}

// An outage is logged once a minute, and once when it is over, and the error at the end of the window has the reason.
func TestOutageIsLogged(t *testing.T) {
	leased(t, false, func(t *testing.T, s *scripted, lease *Lease, keys *snow.Generator, j *lines) {
		down := errors.New("no route")
		time.Sleep(time.Hour)
		s.set(func() { s.down = down })
		renewed := lease.Stats().Renewed
		time.Sleep(12 * time.Minute)
		_, err := keys.Next(t.Context())
		var why interface {
			error
			Since() time.Time
		}
		if !errors.Is(err, snow.ErrLeaseExpired) || !errors.As(err, &why) || !why.Since().Equal(renewed) || !errors.Is(err, down) {
			t.Errorf("Next in an outage: %v, want why since %v", err, renewed)
		}
		var failed *DatabaseError
		if err := keys.Fill(t.Context(), make([]snow.ID, 3)); !errors.Is(err, snow.ErrLeaseExpired) || !errors.As(err, &failed) {
			t.Errorf("Fill in an outage: %v", err)
		}
		s.set(func() { s.down = nil })
		time.Sleep(10 * time.Second)
		if _, err := keys.Next(t.Context()); err != nil {
			t.Error(err)
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		var got []string
		for _, r := range j.records {
			got = append(got, r.Level.String()+" "+r.Message)
		}
		warnings := slices.Repeat([]string{"WARN worker lease not renewed"}, 12)
		if want := slices.Concat([]string{"INFO worker lease acquired"}, warnings, []string{"INFO worker lease outage over"}); !slices.Equal(got, want) {
			t.Errorf("the log says\n%s", strings.Join(got, "\n"))
		}
		j.records[len(j.records)-1].Attrs(func(a slog.Attr) bool {
			if d := a.Value; a.Key == "outage" && (d.Duration() < 11*time.Minute || d.Duration() > 13*time.Minute) {
				t.Errorf("an outage of 12 minutes took %v", d)
			}
			return true
		})
	})
}

func TestClosedLeaseSaysSo(t *testing.T) {
	leased(t, false, func(t *testing.T, _ *scripted, lease *Lease, keys *snow.Generator, _ *lines) {
		if err := lease.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := keys.Next(t.Context()); !errors.Is(err, snow.ErrLeaseExpired) || !errors.Is(err, ErrClosed) {
			t.Errorf("Next after Close: %v", err)
		}
	})
}

func TestLostLeaseSaysSo(t *testing.T) {
	for _, pinned := range []bool{false, true} {
		leased(t, pinned, func(t *testing.T, s *scripted, lease *Lease, keys *snow.Generator, _ *lines) {
			s.set(func() {
				s.refuse = true
				s.row = []driver.Value{int64(Granted), "somebody", int64(5), int64(0), int64(1 << 41), int64(0), "pod 2", time.Now().UnixMicro()}
			})
			time.Sleep(time.Minute)
			var lost *LostError
			if _, err := keys.Next(t.Context()); !errors.Is(err, snow.ErrLeaseExpired) || !errors.As(err, &lost) || lost.Holder != "pod 2" {
				t.Errorf("pinned %v: Next of a lost lease: %v", pinned, err)
			}
			if err := lease.Close(t.Context()); err != nil { // which has been reported
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// The database's clock goes ahead by less than MaxSkew, at once or in steps, for 20 s and longer, and comes back.
// Ids are back within a window, and until then there is an error.
func TestIdsAfterAnExcursion(t *testing.T) {
	for name, steps := range map[string][]time.Duration{
		"28 s":             {28 * time.Second},
		"75 s in steps":    {25 * time.Second, 50 * time.Second, 75 * time.Second},
		"10 min in steps":  {25 * time.Second, 50 * time.Second, 79 * time.Second, 100 * time.Second},
		"back by 25 s":     {-25 * time.Second},
		"back in steps":    {-25 * time.Second, -50 * time.Second, -75 * time.Second},
		"there and beyond": {28 * time.Second, -28 * time.Second, 28 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			leased(t, true, func(t *testing.T, s *scripted, lease *Lease, keys *snow.Generator, _ *lines) {
				var last snow.ID
				says := func(st LeaseStats) bool { return st.Left == 0 && errors.As(st.Err, new(*ClockError)) }
				look := func(d time.Duration) (refused time.Duration) {
					t.Helper()
					for range d / time.Second {
						time.Sleep(time.Second)
						ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
						var id [1]snow.ID
						said := says(lease.Stats()) // a renewal may end the wait during Fill
						err := keys.Fill(ctx, id[:])
						cancel()
						switch st := lease.Stats(); {
						case errors.Is(err, context.DeadlineExceeded) && !said && !says(st):
							t.Fatalf("ids wait, and Stats says that all is well: %+v", st)
						case err != nil:
							if refused += time.Second; st.Left == 0 && st.Err == nil && refused > 13*time.Second {
								t.Errorf("no id, and no error: %+v", st)
							}
						case id[0] <= last:
							t.Fatalf("id %d after %d", id, last)
						default:
							last = id[0]
						}
					}
					return refused
				}
				look(time.Minute)
				var farthest time.Duration
				for _, ahead := range steps {
					s.set(func() { s.ahead = ahead })
					farthest = max(farthest, ahead)
					look(20 * time.Second)
				}
				s.set(func() { s.ahead = 0 })
				// Ids wait for as long as they are ahead by more than the skew and half a window.
				if refused, most := look(5*time.Minute), max(0, farthest-37*time.Second)+13*time.Second; refused > most {
					t.Errorf("ids were refused for %v, want at most %v", refused, most)
				}
				if refused := look(5 * time.Minute); refused != 0 {
					t.Errorf("ids were refused for %v later on", refused)
				}
				if err := lease.Renew(t.Context()); err != nil {
					t.Errorf("Renew: %v", err)
				}
			})
		})
	}
}
