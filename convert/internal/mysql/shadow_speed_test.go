//go:build unix

package mysql

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// TestSpeed prints how long the server copies a table with ALTER TABLE, and how long the steps take. It runs both on
// the same rows, one after the other.
func TestSpeed(t *testing.T) {
	if os.Getenv("SNOW_MEASURE") == "" {
		t.Skip("a measurement: SNOW_MEASURE=1 makes it")
	}
	const rows = 2_000_000
	h := newHouse(t, func(bool) []string {
		return []string{"CREATE TABLE events (id INT NOT NULL AUTO_INCREMENT, user_id INT NOT NULL, at DATETIME NOT NULL, text VARCHAR(100) NOT NULL, PRIMARY KEY (id), KEY of_user (user_id)) ENGINE=InnoDB"}
	})
	h.exec("INSERT INTO events (user_id, at, text) VALUES (1, '2020-01-01', 'a'), (2, '2020-01-02', 'b')")
	for n := 2; n < rows; n *= 2 {
		h.exec(fmt.Sprintf("INSERT INTO events (user_id, at, text) SELECT FLOOR(RAND() * 100000), at + INTERVAL 1 DAY, CONCAT('some words of an event ', id) FROM events ORDER BY id LIMIT %d", min(n, rows-n)))
	}
	took := map[string]time.Duration{}
	for _, s := range h.steps() {
		if s.Name == "widen events: swap" {
			break
		}
		began := time.Now()
		h.do(s)
		took[s.Name] = time.Since(began)
	}
	h.exec("SET SESSION foreign_key_checks = 0")
	began := time.Now()
	h.exec("ALTER TABLE events MODIFY text VARCHAR(100) NOT NULL COMMENT 'copied', ALGORITHM=COPY")
	server := time.Since(began)
	copied := took["widen events: copy"]
	t.Logf("%d rows: the server copies in %v, the step in %v: %.2f x; mirror %v, compare %v", rows, server.Round(time.Millisecond), copied.Round(time.Millisecond),
		copied.Seconds()/server.Seconds(), took["widen events: mirror"].Round(time.Millisecond), took["widen events: compare"].Round(time.Millisecond))
}
