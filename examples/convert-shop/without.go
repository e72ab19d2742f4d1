package main

import (
	"context"
	"database/sql"

	"github.com/shardsnow/snow"
)

// without shows what becomes of a shop whose columns are widened, and whose programs then change one by one.
func (s *shop) without(ctx context.Context, db *sql.DB) error {
	s.say("1. Without a conversion: the columns become BIGINT, and one of the programs brings snow ids.")
	for _, statement := range []string{
		"ALTER TABLE order_lines DROP FOREIGN KEY order_lines_ibfk_1, MODIFY order_id BIGINT NOT NULL",
		"ALTER TABLE orders DROP FOREIGN KEY orders_ibfk_1",
		"ALTER TABLE customers MODIFY id BIGINT NOT NULL AUTO_INCREMENT",
		"ALTER TABLE orders MODIFY id BIGINT NOT NULL AUTO_INCREMENT, MODIFY customer_id BIGINT NOT NULL, ADD FOREIGN KEY (customer_id) REFERENCES customers (id)",
		"ALTER TABLE order_lines ADD FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE",
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	source, err := newSource()
	if err != nil {
		return err
	}
	exec := db.ExecContext
	for _, program := range []struct {
		name   string
		source snow.Source
	}{{"the old program", nil}, {"the new program", source}, {"the old program", nil}} {
		id, err := insertOrder(ctx, exec, program.source, program.name)
		if err != nil {
			return err
		}
		s.say("   %s stores order %d", program.name, id)
	}
	var counter uint64
	if err := db.QueryRowContext(ctx, "SELECT MAX(id) + 1 FROM orders").Scan(&counter); err != nil {
		return err
	}
	s.say("   The snow id has lifted the counter: the old program's next order is %d, among the ids of the new one.", counter)
	s.say("   Its LAST_INSERT_ID() does not fit into 32 bits any more, and nothing brings the counter down again.\n")
	return nil
}

// newSource returns snow ids. A program leases its worker number with sqlsnow.Open instead.
func newSource() (snow.Source, error) {
	worker, err := snow.Fixed(snow.DefaultLayout(), 7)
	if err != nil {
		return nil, err
	}
	return snow.NewGenerator(worker, snow.Config{})
}
