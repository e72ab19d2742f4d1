//go:build unix

package merge_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/sqlsnow"
)

// encoded returns a database of PostgreSQL of an encoding. Its sessions are those of a program that sets none.
func encoded(t *testing.T, server *dbtest.Server, encoding string) *sql.DB {
	t.Helper()
	name := server.CreateDatabase(t)
	admin := opened(t, "pgx", server.DSN(server.CreateDatabase(t)))
	exec(t, admin, "DROP DATABASE "+name)
	exec(t, admin, "CREATE DATABASE "+name+" ENCODING '"+encoding+"' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
	return opened(t, "pgx", server.DSN(name))
}

// Texts arrive by their characters, whatever the encodings of sources are. Bytes of SQL_ASCII that are not UTF-8, and a
// target of another encoding, stop both a dry run and a run.
func TestEncodings(t *testing.T) {
	server := dbtest.Postgres(t)
	const table = "CREATE TABLE words (id SERIAL PRIMARY KEY, word TEXT UNIQUE)"
	latin, ascii, utf := encoded(t, server, "LATIN1"), encoded(t, server, "SQL_ASCII"), encoded(t, server, "UTF8")
	for _, db := range []*sql.DB{latin, ascii, utf} {
		exec(t, db, table)
	}
	exec(t, latin, `INSERT INTO words (word) VALUES (convert_from('\x4dfc6c6c6572', 'LATIN1')), ('plain')`)
	exec(t, ascii, "INSERT INTO words (word) VALUES ('Straße'), ('été')")
	exec(t, utf, "INSERT INTO words (word) VALUES ('雪'), ('Grün'), ('山')")
	a := newAttempt(t, sqlsnow.Postgres, encoded(t, server, "UTF8"), latin, ascii, utf)
	for _, note := range []string{"s1: the encoding is LATIN1", "s2: the encoding is SQL_ASCII"} {
		if !strings.Contains(a.notes(), note) {
			t.Errorf("the notes lack %q: %s", note, a.notes())
		}
	}
	a.succeeds()
	a.wants("SELECT string_agg(word, ' ' ORDER BY id) FROM words", "Müller plain Straße été 雪 Grün 山")
	for _, encoding := range []string{"LATIN1", "SQL_ASCII"} {
		newAttempt(t, sqlsnow.Postgres, encoded(t, server, encoding), utf).fails("the target has the encoding " + encoding)
	}
	exec(t, ascii, `INSERT INTO words (word) VALUES (convert_from('\x4dfc6c6c6572', 'SQL_ASCII'))`)
	newAttempt(t, sqlsnow.Postgres, encoded(t, server, "UTF8"), ascii).fails("22021")
}

// On MySQL a column has a character set, and so has a connection: texts arrive by their characters, or a dry run and a
// run say which row does not.
func TestCharacterSets(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	open := func(parameters string) *sql.DB {
		return opened(t, "mysql", server.DSN(server.CreateDatabase(t))+parameters)
	}
	for _, parameters := range []string{"", "&charset=latin1", "&collation=cp1251_general_ci", "&interpolateParams=true"} {
		source, other := open(parameters), open("")
		const columns = "CREATE TABLE words (id INT AUTO_INCREMENT PRIMARY KEY, latin VARCHAR(20) CHARACTER SET latin1, old VARCHAR(20) CHARACTER SET utf8mb3," +
			" word VARCHAR(20) CHARACTER SET utf8mb4, wide VARCHAR(20) CHARACTER SET ucs2, chinese VARCHAR(20) CHARACTER SET gbk, ascii VARCHAR(20) CHARACTER SET ascii, bytes VARBINARY(20)) DEFAULT CHARACTER SET latin1"
		for _, db := range []*sql.DB{source, other} {
			exec(t, db, columns)
			exec(t, db, "INSERT INTO words (latin, old, word, wide, chinese, ascii, bytes) VALUES (_latin1 X'4dfc8190', _utf8mb3 X'e99baa', _utf8mb4 X'f09f9982', _ucs2 X'96ea', _gbk X'd1a9', 'a?b', X'ff00fe')")
		}
		a := newAttempt(t, sqlsnow.MySQL, open(parameters), source, other)
		a.succeeds()
		a.wants("SELECT DISTINCT CONCAT_WS(' ', HEX(latin), HEX(old), HEX(word), HEX(wide), HEX(chinese), HEX(bytes)) FROM words", "4DFC8190 E99BAA F09F9982 96EA D1A9 FF00FE")
	}
	// a clash is looked for in another character set
	latin, wide := open(""), open("")
	for db, set := range map[*sql.DB]string{latin: "latin1", wide: "utf8mb4"} {
		exec(t, db, "CREATE TABLE words (id INT AUTO_INCREMENT PRIMARY KEY, word VARCHAR(20) UNIQUE) DEFAULT CHARACTER SET "+set)
	}
	exec(t, latin, "INSERT INTO words (word) VALUES ('a'), (_latin1 X'4dfc')")
	exec(t, wide, "INSERT INTO words (word) VALUES ('雪'), ('b')")
	a := newAttempt(t, sqlsnow.MySQL, open(""), wide, latin)
	a.succeeds()
	a.wants("SELECT GROUP_CONCAT(word ORDER BY id) FROM words", "雪,b,a,Mü")
	for column, value := range map[string]string{"latin": "_utf8mb4 X'e99baa'", "old": "_utf8mb4 X'f09f9982'"} {
		source, first := open(""), open("")
		exec(t, first, "CREATE TABLE words (id INT AUTO_INCREMENT PRIMARY KEY, latin VARCHAR(20) CHARACTER SET latin1, old VARCHAR(20) CHARACTER SET utf8mb3) DEFAULT CHARACTER SET latin1")
		exec(t, source, "CREATE TABLE words (id INT AUTO_INCREMENT PRIMARY KEY, latin VARCHAR(20) CHARACTER SET utf8mb4, old VARCHAR(20) CHARACTER SET utf8mb4) DEFAULT CHARACTER SET utf8mb4")
		exec(t, source, "INSERT INTO words ("+column+") VALUES ("+value+")")
		a := newAttempt(t, sqlsnow.MySQL, open(""), first, source)
		a.fails(`row [1] of table "words" of source "s2"`)
	}
}

// Bytes that are no characters would be question marks, which a dry run and a run refuse to copy.
func TestCharactersOfNone(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	open := func() *sql.DB { return opened(t, "mysql", server.DSN(server.CreateDatabase(t))) }
	for set, value := range map[string]string{"cp1251": "CHAR(0x98 USING cp1251)", "ascii": "_ascii X'e9'"} {
		source := open()
		exec(t, source, "CREATE TABLE words (id INT AUTO_INCREMENT PRIMARY KEY, word VARCHAR(20) CHARACTER SET "+set+")")
		if _, err := source.ExecContext(t.Context(), "INSERT INTO words (word) VALUES ('what?'), ("+value+")"); err != nil {
			t.Logf("the server takes no such value of %s: %v", set, err)
			continue
		}
		newAttempt(t, sqlsnow.MySQL, open(), source).fails("it has 1 values with bytes that are no characters of " + set)
	}
}

// A database whose search path leads to no schema has no tables to merge, which is no reason to merge none.
func TestSearchPath(t *testing.T) {
	server := dbtest.Postgres(t)
	name := server.CreateDatabase(t)
	db := opened(t, "pgx", server.DSN(name))
	exec(t, db, "CREATE TABLE words (id SERIAL PRIMARY KEY, word TEXT UNIQUE); INSERT INTO words (word) VALUES ('a'); CREATE SCHEMA other; CREATE TABLE other.things (id INT PRIMARY KEY)")
	exec(t, db, "ALTER DATABASE "+name+" SET search_path = nowhere")
	if _, err := merge.ReadSchema(t.Context(), sqlsnow.Postgres, merge.Source{Name: "s1", DB: opened(t, "pgx", server.DSN(name))}); err == nil || !strings.Contains(err.Error(), "search_path") {
		t.Errorf("got %v", err)
	}
	exec(t, db, "ALTER DATABASE "+name+" SET search_path = public, other")
	exec(t, db, "ALTER DATABASE "+name+" SET quote_all_identifiers = on")
	a := newAttempt(t, sqlsnow.Postgres, encoded(t, server, "UTF8"), opened(t, "pgx", server.DSN(name)))
	if want := "schema other of the search_path"; !strings.Contains(a.notes(), want) {
		t.Errorf("the notes lack %q: %s", want, a.notes())
	}
	if u := a.plan.Table("words").Unique; len(u) != 1 {
		t.Errorf("got unique keys %v of words, want 1", u)
	}
	a.succeeds()
	a.wants("SELECT word FROM words", "a")
}
