//go:build unix

package merge_test

import (
	"strings"
	"testing"
)

// Verify finds values of all types that differ, however alike they look.
func TestVerifyValues(t *testing.T) {
	f := newFixture(t, "", []string{
		`CREATE TABLE kinds (id INT AUTO_INCREMENT PRIMARY KEY, created_at DATETIME NOT NULL DEFAULT '2024-05-01', n INT, z INT(5) ZEROFILL NOT NULL DEFAULT 7,
		a VARCHAR(40), b VARCHAR(40) NOT NULL DEFAULT '', la VARCHAR(20) CHARACTER SET latin1, vb VARBINARY(20), bl BLOB NOT NULL DEFAULT (''), de DECIMAL(20,4), bi BIT(20) NOT NULL DEFAULT 44,
		yr YEAR, da DATE, ts TIMESTAMP(3) NULL, tm TIME(2), ch CHAR(5), tx TEXT, en ENUM('x', '-', 'it''s'), st SET('a','b'), js TEXT) CHARACTER SET utf8mb4`,
	}, []string{
		"SET SESSION sql_mode = ''",
		`INSERT INTO kinds (n, a, b, la, vb, bl, de, yr, da, ts, tm, ch, tx, en, st, js) VALUES
		(1, 'x', 'y', 'é', x'00ff2c', ';', 1.5, 0, '0000-00-00', '2024-05-01 10:00:00.123', '-10:00:00.25', 'a', '1:x,1:y', 'it''s', 'a,b', '{"a": [1, 2]}'),
		(2, NULL, '-', NULL, NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
		(NULL, '-', '', '-', '-', '-', -0.0001, 2024, '2024-02-29', NULL, '00:00:00', '', '-', '-', '', '[]'),
		(-1, '', ',-,1:x', '', '', '/', 0, 1901, '2024-02-29', NULL, '838:59:59', '-', ';1;/2/', 'x', 'a', 'null')`,
		"INSERT INTO kinds (n, a) SELECT seq, REPEAT('ü', seq) FROM seq_1_to_40",
	})
	f.plan.Tables[0].Created, f.config.PackRows = "created_at", 1
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	f.wantPacks(true)
	ids := strings.Fields(f.rows(f.target, "SELECT id FROM kinds ORDER BY id LIMIT 2"))
	f.exec(f.target, "SET SESSION sql_mode = ''", "CREATE TABLE was AS SELECT * FROM kinds")
	var same []string
	for _, name := range strings.Fields("created_at n z a b la vb bl de bi yr da ts tm ch tx en st js") {
		same = append(same, "CAST(kinds."+name+" AS BINARY) <=> CAST(was."+name+" AS BINARY)")
	}
	differs := "SELECT NOT (" + strings.Join(same, " AND ") + ") FROM kinds JOIN was USING (id) WHERE id = "
	for _, set := range []string{
		"n = -1", "n = NULL", "z = 8", "a = NULL", "a = '-'", "a = 'X'", "a = 'x '", "a = 'x,1:'", "a = ''", "b = ''", "b = '-'", "b = 'Y'", "b = 'y;'", "la = 'e'", "la = NULL", "vb = x'00ff'", "vb = '-'",
		"vb = x'00ff2c00'", "bl = ''", "bl = ','", "de = 1.4999", "de = 0", "bi = 45", "yr = 1901", "yr = NULL", "da = NULL", "da = '2024-03-01'", "ts = '2024-05-01 10:00:00.124'", "ts = NULL",
		"tm = '10:00:00.25'", "ch = 'A'", "ch = NULL", "tx = '1:x,1:Y'", "tx = NULL", "tx = '-'", "en = 'x'", "en = '-'", "st = 'a'", "st = ''", "st = NULL", `js = '{"a": [1, 3]}'`, "js = NULL",
		"a = 'x', b = 'y,'", "a = 'x,1:y', b = ''", "created_at = '2024-05-01 00:00:01'",
	} {
		for _, id := range ids {
			f.exec(f.target, "SET SESSION sql_mode = ''", "UPDATE kinds SET "+set+" WHERE id = "+id)
			changed := f.rows(f.target, differs+id) == "1"
			report, err := f.merge().Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if failed := report.Err() != nil; failed != changed {
				t.Errorf("row %s, %s: got %v, want an error: %t", id, set, report.Err(), changed)
			}
			f.exec(f.target, "SET SESSION sql_mode = ''", "REPLACE INTO kinds SELECT * FROM was WHERE id = "+id)
		}
	}
	if report, err := f.merge().Verify(t.Context()); err != nil || report.Err() != nil {
		t.Errorf("after all is undone: got %v, %v", err, report.Err())
	}
}
