package catalog

import (
	"context"
	"slices"
	"strings"
)

// readSQLite reads the pragmas of an SQLite database, and the text of CREATE TABLE for what they do not tell.
func (r *reader) readSQLite(ctx context.Context) {
	of := func(pragma string) string { // its rows for each table
		return "FROM pragma_table_list l CROSS JOIN " + pragma + " p WHERE l.schema = 'main' AND l.type = 'table'"
	}
	r.readTables(ctx, `SELECT l.name, CASE WHEN l.type <> 'table' THEN l.type || ' ' || l.name END,
			CASE WHEN l.strict AND l.wr THEN 'STRICT, WITHOUT ROWID' WHEN l.strict THEN 'STRICT' WHEN l.wr THEN 'WITHOUT ROWID' ELSE '' END, NULL
		FROM pragma_table_list l JOIN sqlite_schema s ON s.name = l.name
		WHERE l.schema = 'main' AND s.type IN ('table', 'view') AND l.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY l.name`)
	r.readColumns(ctx, `SELECT l.name, p.name, p.type, NOT p."notnull" AND p.pk = 0, CASE WHEN upper(p.dflt_value) <> 'NULL' THEN p.dflt_value END,
			CASE WHEN p.hidden IN (2, 3) THEN '?' ELSE '' END, '', 0, NULL, NULL `+of("pragma_table_xinfo(l.name)")+" ORDER BY l.name, p.cid")
	r.ofTables(ctx, "SELECT l.name, p.name "+of("pragma_table_xinfo(l.name)")+" AND p.pk > 0 ORDER BY l.name, p.pk", func(t *Table, v row) {
		t.PrimaryKey = append(t.PrimaryKey, v.text(1))
	})
	// A collation other than the usual one may be the column's or the index's own: its statement says both.
	for _, i := range r.readIndexes(ctx, `SELECT l.name, p.name, CASE WHEN p."unique" THEN 'UNIQUE' END, x.seqno + 1, x.name,
			NOT p.partial AND x.cid >= 0 AND (x.coll = 'BINARY' OR s.sql IS NULL), s.sql
		FROM pragma_table_list l CROSS JOIN pragma_index_list(l.name) p CROSS JOIN pragma_index_xinfo(p.name) x
			LEFT JOIN sqlite_schema s ON s.type = 'index' AND s.name = p.name
		WHERE l.schema = 'main' AND l.type = 'table' AND p.origin <> 'pk' AND x.key = 1 ORDER BY l.name, p.seq DESC, x.seqno`) {
		if strings.HasPrefix(i.name, "sqlite_autoindex_") { // reserved for the keys of CREATE TABLE
			i.name = ""
		}
		i.add(i.parts[0])
	}
	r.readForeignKeys(ctx, `SELECT l.name, '', NULL, p."table", p.on_delete, p.on_update, p.seq, p."from", COALESCE(p."to", '') `+
		of("pragma_foreign_key_list(l.name)")+" ORDER BY l.name, p.id DESC, p.seq", "0")
	r.readNotes(ctx, "SELECT tbl_name, 'trigger ' || name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name")
	r.readJoins(ctx, "SELECT tbl_name, type || ' ' || name, sql FROM sqlite_schema WHERE type IN ('view', 'trigger') ORDER BY name")
	r.ofTables(ctx, "SELECT name, sql FROM sqlite_schema WHERE type = 'table'", func(t *Table, v row) {
		if len(t.PrimaryKey) == 1 && strings.EqualFold(t.Column(t.PrimaryKey[0]).Type, "INTEGER") && !strings.Contains(t.Options, "WITHOUT ROWID") {
			t.Numbered = t.PrimaryKey
		}
		readStatement(t, v.text(1))
	})
}

// readStatement takes out of CREATE TABLE what no pragma tells: collations,
// generated expressions, checks.
func readStatement(t *Table, statement string) {
	tokens := tokenize(statement)
	open := slices.IndexFunc(tokens, func(t token) bool { return t.text == "(" })
	if open < 0 {
		return
	}
	for _, definition := range splitTop(tokens[open+1:]) {
		if len(definition) == 0 {
			continue
		}
		between := func(from, end int) string { // the tokens' own text
			last := definition[end-1]
			return statement[definition[from].at : last.at+len(last.text)]
		}
		column := t.Column(unquote(definition[0].text))
		for i := 0; i < len(definition); i++ {
			switch word := strings.ToUpper(definition[i].text); {
			case word == "CHECK" && (i > 0 || column == nil):
				AddNote(t.Table, "check: %s", between(0, len(definition)))
				i = closing(definition, i+1) - 1
			case column == nil || i == 0:
			case word == "AUTOINCREMENT":
				column.Options = word
			case word == "COLLATE" && i+1 < len(definition):
				column.Collation = unquote(definition[i+1].text)
			case word == "AS" && column.Generated != "" && i+1 < len(definition):
				end := closing(definition, i+1)
				column.Generated = between(i+1, end) + " VIRTUAL"
				if end < len(definition) && strings.EqualFold(definition[end].text, "STORED") {
					column.Generated = between(i+1, end) + " STORED"
				}
				i = end - 1
			case word == "(":
				i = closing(definition, i) - 1
			}
		}
	}
}

// closing returns the index after the parenthesis that closes the one at open, or after any other token at open.
func closing(tokens []token, open int) int {
	if open >= len(tokens) || tokens[open].text != "(" {
		return min(open+1, len(tokens))
	}
	for i := open + 1; i < len(tokens); i++ {
		if tokens[i].depth == tokens[open].depth {
			return i + 1
		}
	}
	return len(tokens)
}

// splitTop splits what is between an open parenthesis, which is in no other one, and its end at the commas that are in
// no inner one.
func splitTop(tokens []token) (definitions [][]token) {
	from := 0
	for i, token := range tokens {
		isEnd := token.text == ")" && token.depth == 0
		if isEnd || token.text == "," && token.depth == 1 {
			definitions, from = append(definitions, tokens[from:i]), i+1
		}
		if isEnd {
			return definitions
		}
	}
	return append(definitions, tokens[from:])
}
