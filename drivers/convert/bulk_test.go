package convert_test

import (
	"fmt"
	"strings"

	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/sqlsnow"
)

// fillBulk makes the table of visits long, if there is one. No writer touches these rows, and no model has them.
func (w *world) fillBulk() {
	w.Helper()
	if w.tables["visits"] == nil {
		return
	}
	rows := testscale.Of(3_000, 2_000_000)
	customer := w.pool.sorted("customers")[0].values["id"].String
	statement := fmt.Sprintf("INSERT INTO visits (customer_id, product_id, page) SELECT CASE WHEN n %% 3 = 0 THEN %s END, n %% 7, "+
		"CONCAT('page ', n) FROM (SELECT generate_series(1, %d) AS n) AS numbers", customer, rows)
	if w.dialect == sqlsnow.MySQL {
		digits := "(SELECT 0 AS d" + strings.Repeat(" UNION ALL SELECT %d", 9) + ")"
		digits = fmt.Sprintf(digits, 1, 2, 3, 4, 5, 6, 7, 8, 9)
		statement = fmt.Sprintf("INSERT INTO visits (customer_id, product_id, page) SELECT CASE WHEN n %% 3 = 0 THEN %s END, n %% 7, CONCAT('page ', n) "+
			"FROM (SELECT a.d + 10*b.d + 100*c.d + 1000*d.d + 10000*e.d + 100000*f.d + 1000000*g.d AS n FROM %s a, %s b, %s c, %s d, %s e, %s f, "+
			"(SELECT 0 AS d UNION ALL SELECT 1) g) AS numbers WHERE n < %d", customer, digits, digits, digits, digits, digits, digits, rows)
	}
	if _, err := w.db.ExecContext(w.Context(), statement); err != nil {
		w.Fatal(err)
	}
	var last int64
	if err := w.db.QueryRowContext(w.Context(), "SELECT MAX(id) FROM visits").Scan(&last); err != nil {
		w.Fatal(err)
	}
	if _, err := w.db.ExecContext(w.Context(), analyze(w.dialect)+" visits"); err != nil {
		w.Fatal(err)
	}
	w.bulk["visits"] = last
	w.sum = w.checksum()
}

func analyze(d sqlsnow.Dialect) string {
	if d == sqlsnow.Postgres {
		return "ANALYZE"
	}
	return "ANALYZE TABLE"
}

// checksum returns what the long table has.
func (w *world) checksum() (sum string) {
	w.Helper()
	of := "SUM(CRC32(CONCAT_WS('|', id, COALESCE(customer_id, '-'), product_id, page)))"
	if w.dialect == sqlsnow.Postgres {
		of = "SUM(hashtext(CONCAT_WS('|', id, COALESCE(customer_id::text, '-'), product_id, page))::numeric)"
	}
	err := w.db.QueryRowContext(w.Context(), fmt.Sprintf("SELECT CONCAT(COUNT(*), ' rows, ', %s) FROM visits WHERE id <= %d", of, w.bulk["visits"])).Scan(&sum)
	if err != nil {
		w.Fatal(err)
	}
	return sum
}

// checkBulk compares the long table with what it had.
func (w *world) checkBulk() {
	w.Helper()
	if w.bulk["visits"] == 0 {
		return
	}
	if got := w.checksum(); got != w.sum {
		w.Errorf("visits has %s, want %s", got, w.sum)
	}
}
