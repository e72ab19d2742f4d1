package sqlsnowtest

import (
	"database/sql"
	"errors"

	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// left returns a handle of one connection, which somebody left in a transaction, and the end of that transaction.
func (s *suite) left() (db *sql.DB, end func()) {
	s.Helper()
	db = s.leaky()
	s.execOn(db, "BEGIN")
	return db, func() {
		s.Helper()
		s.execOn(db, "ROLLBACK")
	}
}

func (s *suite) execOn(db *sql.DB, q string) {
	s.Helper()
	if _, err := db.ExecContext(s.Context(), q); err != nil {
		s.Fatalf("%s: %v", q, err)
	}
}

// wantInTransaction reports an error that does not say that the connection was left in a transaction.
func (s *suite) wantInTransaction(call string, err error) {
	s.Helper()
	var failed *sqlsnow.DatabaseError
	if !errors.As(err, &failed) || !failed.InTransaction {
		s.Errorf("%s: got %v, want a DatabaseError with InTransaction", call, err)
	}
}

// leftInTransaction makes every write meet a connection that is in a transaction.
func leftInTransaction(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	db, end := s.left()
	before := sp.rows()
	quiet := sqlsnow.LeaseConfig{Namespace: sp.ns.Name, Logger: silent}
	lease, err := sqlsnow.Acquire(s.Context(), db, s.dialect, quiet)
	if lease != nil {
		s.Errorf("Acquire: got a lease, want none")
		_ = lease.Close(s.Context())
	}
	_, reserveErr := sqlsnow.Reserve(s.Context(), db, s.dialect, sp.ns.Name, "merge")
	other := sp.ns
	other.Name = "other"
	for call, err := range map[string]error{
		"Acquire": err,
		"Reserve": reserveErr,
		"Fence":   sqlsnow.Fence(s.Context(), db, s.dialect, sp.ns.Name),
		"Init":    sqlsnow.Init(s.Context(), db, s.dialect, other),
	} {
		s.wantInTransaction(call, err)
	}
	s.execOn(db, "COMMIT") // if there is something to commit
	sp.same("rows", sp.rows(), before)
	s.execOn(db, "BEGIN")
	end()

	// A renewal, and a release, on a connection that was left so meanwhile.
	h := sp.acquireOn(db, sqlsnow.LeaseConfig{Logger: silent})
	held := h.held()
	s.execOn(db, "BEGIN")
	s.wantInTransaction("Renew", h.Renew(s.Context()))
	inside := *sp
	inside.db = db // this handle sees the writes of the transaction; after the transaction the lease may renew by itself
	sp.same("row", inside.row(h.worker()), held)
	end()
	h.within()
	h.await("renewal", func() bool { return h.Renew(s.Context()) == nil })
	h.within()
	s.execOn(db, "BEGIN")
	s.wantInTransaction("Close", h.Close(s.Context()))
	end()
	if got := h.held(); got.state != granted {
		s.Errorf("row after a Close that failed: got %+v, want it granted", got)
	}

	// With another connection there is no error, and the write stays even if the first transaction is rolled back.
	db = s.leaky()
	db.SetMaxOpenConns(2)
	s.execOn(db, "BEGIN")
	h = sp.acquireOn(db, sqlsnow.LeaseConfig{Logger: silent})
	h.renew()
	if got := h.held(); got.state != granted || got.renewals < 2 {
		s.Errorf("row: got %+v, want it granted and renewed", got)
	}
	h.within()
}

// migrateLeft makes Migrate meet a connection that is in a transaction.
func migrateLeft(s *suite) {
	db, end := s.left()
	s.wantInTransaction("Migrate", sqlsnow.Migrate(s.Context(), db, s.dialect))
	end()
	if err := sqlsnow.Migrate(s.Context(), db, s.dialect); err != nil {
		s.Fatalf("Migrate: %v", err)
	}
	s.execOn(db, "BEGIN") // fails, or warns, if Migrate left a transaction open
	end()
	db = s.open()
	if err := sqlsnow.Init(s.Context(), db, s.dialect, s.space(sqlsnow.Namespace{}).ns); err != nil {
		s.Errorf("Init: %v", err)
	}
}

// segmentsLeft makes takes of numbers meet a connection that is in a transaction.
func segmentsLeft(s *segmentSuite) {
	s.migrate()
	db, end := s.left()
	_, err := s.try([]*sql.DB{db}, segments.Config{})
	s.wantInTransaction("Open", err)
	end()
	var all ids
	got := s.start([]*sql.DB{db}, segments.Config{})
	all.add(s.T, s.next(got))
	s.execOn(db, "BEGIN")
	s.wantInTransaction("Raise", segments.Raise(s.T.Context(), db, s.dialect, "orders", 5000))
	for range 100 {
		id, err := got.Next(s.T.Context())
		if err != nil {
			s.wantIs("Next", err, segments.ErrEmpty)
			s.wantInTransaction("Next", err)
			break
		}
		all.add(s.T, id)
	}
	end()
	for range 50 {
		s.await("ids", func() bool {
			id, err := got.Next(s.T.Context())
			if err == nil {
				all.add(s.T, id)
			}
			return err == nil
		})
	}
	after := s.start([]*sql.DB{s.open()}, segments.Config{})
	for range 50 {
		all.add(s.T, s.next(after))
	}
}
