//go:build unix

package merge_test

import (
	"fmt"
	"testing"
)

// Rows are found by keys of any type, in the order of the server's
// them: enumerations sort by number, but are compared as texts.
func TestMySQLKeys(t *testing.T) {
	types := []string{
		"ENUM('up','down','meh')", "SET('z','a','m')", "BIT(9)", "FLOAT", "TIME", "YEAR", "VARBINARY(4)", "DECIMAL(20,3)", "DATETIME",
		"VARCHAR(9) CHARACTER SET latin1 COLLATE latin1_german1_ci",
	}
	values := []string{
		"ELT(1 + n MOD 3, 'up', 'down', 'meh')", "ELT(1 + n MOD 4, 'z', 'a', 'm', 'z,a')", "n MOD 300", "n / 7", "SEC_TO_TIME(n * 4000 - 800000)", "IF(n MOD 5 = 0, 0, 1901 + n MOD 250)",
		"CHAR(n MOD 256)", "(n - 200) * 1000000007.001", "'2024-01-01' + INTERVAL n HOUR", "CONCAT(ELT(1 + n MOD 5, 'ä', 'a', 'Z', 'ß', 'é'), n MOD 9)",
	}
	schema := []string{"CREATE TABLE players (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20))"}
	fill := func(name string) []string {
		const many = "(WITH RECURSIVE seq AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM seq WHERE n < 350) SELECT n FROM seq) AS many"
		all := []string{"INSERT INTO players SELECT n, CONCAT('" + name + "', n) FROM " + many}
		for i, value := range values {
			all = append(all, fmt.Sprintf("INSERT INTO by_first_%d SELECT %s, n FROM %s", i, value, many), fmt.Sprintf("INSERT INTO by_last_%d SELECT %s, n FROM %s", i, value, many))
		}
		return all
	}
	for i, typ := range types {
		schema = append(schema,
			fmt.Sprintf("CREATE TABLE by_first_%d (k %s, player_id INT, PRIMARY KEY (k, player_id), FOREIGN KEY (player_id) REFERENCES players (id))", i, typ),
			fmt.Sprintf("CREATE TABLE by_last_%d (k %s, player_id INT, PRIMARY KEY (player_id, k), FOREIGN KEY (player_id) REFERENCES players (id))", i, typ))
	}
	f := newFixture(t, "", schema, fill("a"), fill("b"))
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	for i := range types {
		for _, table := range []string{fmt.Sprintf("by_first_%d", i), fmt.Sprintf("by_last_%d", i)} {
			query := "SELECT HEX(k), name FROM " + table + " JOIN players ON players.id = player_id WHERE name LIKE '%s%%' ORDER BY name, 1"
			for n, name := range []string{"a", "b"} {
				if want, got := f.rows(f.sources[n].DB, fmt.Sprintf(query, name)), f.rows(f.target, fmt.Sprintf(query, name)); want != got {
					t.Errorf("%s with key %s: rows of source %s are not as they were", table, types[i], f.sources[n].Name)
				}
			}
		}
	}
}

// Names may have any characters, and keys any number of columns.
func TestOddNames(t *testing.T) {
	f := newFixture(t, "", []string{
		"CREATE TABLE `odd ``name` (`a%` INT, `b.c` INT UNSIGNED, note VARCHAR(9), PRIMARY KEY (`a%`, `b.c`))",
		"CREATE TABLE words (word VARCHAR(9) PRIMARY KEY)",
		"CREATE TABLE big (id BIGINT UNSIGNED PRIMARY KEY, n INT)",
	}, []string{
		"INSERT INTO `odd ``name` VALUES (-1, 4294967295, 'a'), (0, 0, 'b'), (0, 7, 'c'), (2147483647, 1, NULL)",
		"INSERT INTO words VALUES ('a'), ('b ')", "INSERT INTO big VALUES (1, 1), (18446744073709551615, 2)",
	})
	for _, table := range f.plan.Tables {
		table.NewIDs = nil
	}
	f.config.ChunkRows = 3
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{"* FROM `odd ``name` ORDER BY 1, 2", "HEX(word) FROM words ORDER BY 1", "* FROM big ORDER BY 1"} {
		if got, want := f.rows(f.target, "SELECT "+from), f.rows(f.sources[0].DB, "SELECT "+from); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", from, got, want)
		}
	}
}
