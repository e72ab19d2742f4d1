package chunk

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// MostTries is how often a transaction is tried that others are in the way of.
const MostTries = 20

var errRollBack = errors.New("roll back")

// Transaction does something in one transaction, and again if another one was
// in the way. lock, if not nil, is held for as long as a transaction goes on.
func (s *Session) Transaction(ctx context.Context, lock sync.Locker, do func() error) error {
	for tries := 1; ; tries++ {
		err := s.Try(ctx, lock, do)
		if err == nil || tries == MostTries || !s.Engine.IsBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(rand.N(time.Duration(tries) * 20 * time.Millisecond)):
		}
	}
}

// Try is transaction without another try.
func (s *Session) Try(ctx context.Context, lock sync.Locker, do func() error) error {
	if lock != nil {
		lock.Lock()
		defer lock.Unlock()
	}
	if _, err := s.ExecContext(ctx, s.Engine.Begin); err != nil {
		return err
	}
	err := do()
	if err == nil {
		if _, err = s.ExecContext(ctx, "COMMIT"); err == nil {
			return nil
		}
	}
	// Even if ctx has ended: the connection goes on, or is broken and rolls back itself.
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, _ = s.ExecContext(undo, "ROLLBACK")
	return err
}
