package count

import (
	"errors"
	"strings"
	"testing"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/report"
)

// TestThereAndBack goes through both phases, back to the first row, and through both again.
func TestThereAndBack(t *testing.T) {
	db := openDatabase(t, serve(t),
		"CREATE TABLE orders (id BIGINT NOT NULL AUTO_INCREMENT COMMENT 'counts, AUTO_INCREMENT', v INT, PRIMARY KEY (id))",
		"CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY, order_id BIGINT, FOREIGN KEY (order_id) REFERENCES orders (id))",
		"INSERT INTO orders (id, v) VALUES (7, 1), (2345, 2)", "DELETE FROM orders WHERE id = 2345",
	)
	p := planOf(counted1("orders", 100))
	p.Guards = []string{"items"}
	steps, finish := allSteps(p), FinishSteps(p)
	do(t, db, steps)

	s := connect(t, db)
	if id := insert(t, s, "INSERT INTO orders (v) VALUES (3)"); id != 2400 {
		t.Errorf("the first number is %d", id)
	}
	undo(t, db, steps)
	if left := joined(t, db, "SHOW TABLES LIKE 'snow_convert%'"); left != "" {
		t.Errorf("left: %s", left)
	}
	if id := insert(t, s, "INSERT INTO orders (v) VALUES (4)"); id != 2401 {
		t.Errorf("after the way back, the number is %d", id)
	}

	do(t, db, steps)
	insert(t, s, "INSERT INTO orders (id, v) VALUES (380000000000000000, 5)")
	if id := insert(t, s, "INSERT INTO orders (v) VALUES (6)"); id != 2500 {
		t.Errorf("beside a snow id, the number is %d", id)
	}
	var snow *report.SnowIDsError
	if err := steps[2].Undo(t.Context(), &job.Run{DB: db}); !errors.As(err, &snow) || snow.ID != snowID || snow.Table != "orders" {
		t.Errorf("undo with a snow id: %v", err)
	}
	must(t, db, "DELETE FROM orders WHERE id = 380000000000000000")
	undo(t, db, steps)
	if id := insert(t, s, "INSERT INTO orders (v) VALUES (7)"); id != 2600 {
		t.Errorf("after the way back from a snow id that was deleted, the number is %d", id)
	}

	do(t, db, steps)
	insert(t, s, "INSERT INTO orders (id, v) VALUES (380000000000000000, 8)")
	insert(t, s, "INSERT INTO orders (v) VALUES (9)")
	do(t, db, finish[:1])
	insert(t, s, "INSERT INTO orders (v) VALUES (10)")
	var still *report.StillCountedError
	if err := finish[1].Do(t.Context(), &job.Run{DB: db}); !errors.As(err, &still) || still.Table != "orders" || !strings.HasPrefix(still.Who, "snow@") {
		t.Errorf("finish with an old program: %v", err)
	}
	do(t, db, finish[1:])
	if left := joined(t, db, "SHOW TABLES LIKE 'snow_convert%'"); left != "" {
		t.Errorf("left: %s", left)
	}
	undo(t, db, finish)
	if id := insert(t, s, "INSERT INTO orders (v) VALUES (11)"); id >= snowID {
		t.Errorf("after the way back from the end, the number is %d", id)
	}
	if err := steps[2].Verify(t.Context(), &job.Run{DB: db}); err != nil {
		t.Error(err)
	}
	if text := joined(t, db, "SELECT COLUMN_COMMENT FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'orders' AND COLUMN_NAME = 'id'"); text != "counts, AUTO_INCREMENT" {
		t.Errorf("the comment is %q", text)
	}
}
