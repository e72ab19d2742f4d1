//go:build unix

package schema_test

import (
	"database/sql"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/convert/internal/schema"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// The rules say what the server does: it is asked with ALGORITHM and LOCK.
func TestAlgorithms(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	exec := func(statement string) error {
		_, err := db.ExecContext(t.Context(), statement)
		return err
	}
	s, err := schema.Read(t.Context(), sqldialect.MySQL, db)
	if err != nil {
		t.Fatal(err)
	}
	for change, statement := range map[schema.Change]string{
		schema.WidenColumn:         "MODIFY n BIGINT NOT NULL",
		schema.AddForeignKey:       "ADD CONSTRAINT f2 FOREIGN KEY (p2) REFERENCES parent (id)",
		schema.AddCheckedKey:       "ADD CONSTRAINT f2 FOREIGN KEY (p2) REFERENCES parent (id)",
		schema.DropForeignKey:      "DROP FOREIGN KEY f1",
		schema.AddColumn:           "ADD COLUMN x BIGINT NULL",
		schema.DropColumn:          "DROP COLUMN o",
		schema.AddIndex:            "ADD KEY by_n (n)",
		schema.DropIndex:           "DROP KEY by_o",
		schema.DropAutoIncrement:   "MODIFY id BIGINT NOT NULL",
		schema.SetAutoIncrement:    "AUTO_INCREMENT = 1000",
		schema.RenameTable:         "RENAME TO renamed",
		schema.WidenUnsignedColumn: "MODIFY u BIGINT UNSIGNED NOT NULL",
	} {
		checks := "1"
		if change == schema.AddForeignKey {
			checks = "0"
		}
		got := schema.Algorithm("")
		blocks := true
		for _, algorithm := range []schema.Algorithm{schema.Instant, schema.InPlace, schema.Copy} {
			for _, lock := range []string{"NONE", "SHARED", "EXCLUSIVE"} {
				for _, statement := range []string{
					"SET foreign_key_checks = " + checks, "DROP TABLE IF EXISTS renamed", "DROP TABLE IF EXISTS child", "DROP TABLE IF EXISTS parent",
					"CREATE TABLE parent (id BIGINT NOT NULL PRIMARY KEY)",
					"CREATE TABLE child (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL, u INT UNSIGNED NOT NULL, o INT NOT NULL, p1 BIGINT NULL, p2 BIGINT NULL, KEY by_o (u), KEY (p1), KEY (p2)," +
						" CONSTRAINT f1 FOREIGN KEY (p1) REFERENCES parent (id))",
					"INSERT INTO child (n, u, o) VALUES (1, 2, 3)",
				} {
					if err := exec(statement); err != nil {
						t.Fatalf("%s: %v", statement, err)
					}
				}
				text := "ALTER TABLE child " + statement + ", ALGORITHM=" + strings.ToUpper(string(algorithm))
				if algorithm != schema.Instant {
					text += ", LOCK=" + lock
				}
				err := exec(text)
				if err == nil && got == "" {
					got, blocks = algorithm, lock != "NONE"
				} else if err != nil && testing.Verbose() {
					t.Log(text, err)
				}
				if algorithm == schema.Instant {
					break
				}
			}
		}
		want, wantBlocks := schema.AlgorithmOf(s.Product, s.Version, change)
		if got != want || blocks != wantBlocks {
			t.Errorf("%s %s: %s: %s, blocks writers %t, want %s, %t", s.Product, s.Version, change, got, blocks, want, wantBlocks)
		}
	}
}
