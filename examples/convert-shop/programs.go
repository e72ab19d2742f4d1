package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow"
)

// tables are the shop. Its keys are INT, as in many shops.
var tables = []string{
	"CREATE TABLE customers (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL)",
	"CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY, customer_id INT NOT NULL, note VARCHAR(40) NOT NULL, FOREIGN KEY (customer_id) REFERENCES customers (id))",
	"CREATE TABLE order_lines (order_id INT NOT NULL, line INT NOT NULL, item VARCHAR(40) NOT NULL, PRIMARY KEY (order_id, line), " +
		"FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE)",
}

// A program stores orders until it is stopped. An old one lets the database number them, and a new one brings snow ids.
type program struct {
	name   string
	db     *sql.DB
	source snow.Source // nil: an old program
	stop   context.CancelFunc
	group  sync.WaitGroup

	mu      sync.Mutex
	err     error
	last    int64
	again   int // transactions that the server took back
	orders  int
	longest time.Duration // of a statement
}

// start starts a program.
func start(ctx context.Context, name string, db *sql.DB, source snow.Source) *program {
	ctx, stop := context.WithCancel(ctx)
	p := &program{name: name, db: db, source: source, stop: stop}
	p.group.Go(func() {
		for ctx.Err() == nil {
			id, err := p.order(context.WithoutCancel(ctx))
			if !p.note(id, err) {
				return
			}
			select {
			case <-time.After(2 * time.Millisecond): // a shop that is open
			case <-ctx.Done():
			}
		}
	})
	return p
}

// note remembers what became of an order, and reports whether the program goes on. After a deadlock or a lock that took
// too long it tries again, as each program must.
func (p *program) note(id int64, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var failed *mysql.MySQLError
	switch {
	case err == nil:
		p.last, p.orders = id, p.orders+1
	case errors.As(err, &failed) && (failed.Number == 1213 || failed.Number == 1205):
		p.again++
	default:
		p.err = err
		return false
	}
	return true
}

// order stores an order with two lines, and reads it again.
func (p *program) order(ctx context.Context) (id int64, err error) {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback()
		}
	}()
	if id, err = insertOrder(ctx, p.exec(tx), p.source, p.name); err != nil {
		return 0, err
	}
	for line := range 2 {
		if _, err := p.exec(tx)(ctx, "INSERT INTO order_lines (order_id, line, item) VALUES (?, ?, ?)", id, line, p.name); err != nil {
			return 0, err
		}
	}
	var note string
	if err := tx.QueryRowContext(ctx, "SELECT note FROM orders WHERE id = ?", id).Scan(&note); err != nil || note != p.name {
		return 0, fmt.Errorf("order %d is of %q, want %q: %w", id, note, p.name, err) // LAST_INSERT_ID() was of another row
	}
	return id, tx.Commit()
}

// insertOrder is the one line that differs between the programs.
func insertOrder(ctx context.Context, exec execFunc, source snow.Source, note string) (int64, error) {
	if source == nil {
		result, err := exec(ctx, "INSERT INTO orders (customer_id, note) VALUES (1, ?)", note)
		if err != nil {
			return 0, err
		}
		return result.LastInsertId()
	}
	id, err := source.Next(ctx)
	if err != nil {
		return 0, err
	}
	_, err = exec(ctx, "INSERT INTO orders (id, customer_id, note) VALUES (?, 1, ?)", id, note)
	return int64(id), err
}

type execFunc func(ctx context.Context, query string, args ...any) (sql.Result, error)

// exec measures how long a statement takes.
func (p *program) exec(tx *sql.Tx) execFunc {
	return func(ctx context.Context, query string, args ...any) (sql.Result, error) {
		began := time.Now()
		result, err := tx.ExecContext(ctx, query, args...)
		p.mu.Lock()
		p.longest = max(p.longest, time.Since(began))
		p.mu.Unlock()
		return result, err
	}
}

// end stops a program, and returns what it met.
func (p *program) end() error {
	p.stop()
	p.group.Wait()
	if p.err != nil {
		return fmt.Errorf("%s: %w", p.name, p.err)
	}
	return nil
}

// report says what a program has done lately.
func (p *program) report() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := fmt.Sprintf("%s: %d orders, the last one %d, %d tried again, the longest statement %v", p.name, p.orders, p.last, p.again, p.longest.Round(time.Millisecond))
	p.longest = 0
	return text
}
