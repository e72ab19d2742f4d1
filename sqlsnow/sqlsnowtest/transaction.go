package sqlsnowtest

import (
	"database/sql"
	"errors"
	"sync"

	"github.com/shardsnow/snow"
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
	// this handle sees the writes of the transaction; after the transaction the lease may renew by itself
	inside.db = db
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

// segmentsLeft makes takes of numbers meet connections that are in a transaction.
func segmentsLeft(s *segmentSuite) {
	s.migrate()
	db := s.leaky()
	db.SetMaxOpenConns(2) // a handle of one is refused
	db.SetMaxIdleConns(2)
	both := func(q string) {
		s.T.Helper()
		conns := make([]*sql.Conn, 2)
		for i := range conns {
			var err error
			if conns[i], err = db.Conn(s.T.Context()); err != nil {
				s.T.Fatal(err)
			}
			if _, err := conns[i].ExecContext(s.T.Context(), q); err != nil {
				s.T.Fatalf("%s: %v", q, err)
			}
		}
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
	both("BEGIN")
	_, err := s.try([]*sql.DB{db}, segments.Config{})
	s.wantInTransaction("Open", err)
	both("ROLLBACK")
	// With one that is in no transaction there is no error, and the other one is left alone.
	hold := func() *sql.Conn {
		conn, err := db.Conn(s.T.Context())
		if err != nil {
			s.T.Fatal(err)
		}
		return conn
	}
	begun := hold()
	if _, err := begun.ExecContext(s.T.Context(), "BEGIN"); err != nil {
		s.T.Fatal(err)
	}
	got := s.start([]*sql.DB{db}, segments.Config{})
	release := func() error { return nil }
	if s.dialect == sqlsnow.SQLite { // where segments keep none
		release = hold().Close
	}
	_ = begun.Close()
	s.wantInTransaction("Raise", segments.Raise(s.T.Context(), db, s.dialect, "orders", 5000))
	_ = release()
	var all ids
	for range 100 {
		all.add(s.T, s.next(got))
	}
	after := s.start([]*sql.DB{s.open()}, segments.Config{})
	for range 50 {
		all.add(s.T, s.next(after))
	}
}

// segmentsFull takes numbers while transactions that wait for them have all other connections of the pool.
func segmentsFull(s *segmentSuite) {
	s.migrate()
	const most = 3
	db := s.open()
	if s.dialect == sqlsnow.SQLite { // none is kept, and an only connection will do
		db.SetMaxOpenConns(1)
		s.next(s.start([]*sql.DB{db}, segments.Config{}))
		return
	}
	db.SetMaxOpenConns(most)
	got := s.start([]*sql.DB{db}, segments.Config{Step: 4})
	var all ids
	waiting := 0
	for db.Stats().InUse < most {
		tx, err := db.BeginTx(s.T.Context(), nil)
		if err != nil {
			s.T.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		waiting++
	}
	var done sync.WaitGroup
	for range waiting {
		done.Go(func() {
			for range 50 {
				id, err := got.Next(s.T.Context())
				if err != nil {
					s.T.Errorf("Next in a transaction: %v", err)
					return
				}
				all.add(s.T, id)
			}
		})
	}
	done.Wait()
	if waiting != most-1 {
		s.T.Errorf("got %d transactions in a pool of %d, want one less", waiting, most)
	}
	db.SetMaxOpenConns(1)
	_, err := s.try([]*sql.DB{db}, segments.Config{})
	if refused := wantAs[*snow.FieldError](s.suite, "Open with a single connection", err); refused.Field != "dbs" {
		s.T.Errorf("got %v, want dbs refused", refused)
	}
}
