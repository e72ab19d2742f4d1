package catalog

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

func loadSQLite(ctx context.Context, c *Catalog, r Querier) error {
	const query = `SELECT l.name, l.type, l.wr, l.strict, COALESCE(s.sql, '') FROM pragma_table_list l JOIN sqlite_schema s ON s.name = l.name
		WHERE l.schema = 'main' AND s.type IN ('table', 'view') AND l.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY l.name`
	statements := map[string]string{}
	err := each(ctx, r, query, nil, func(scan func(...any) error) error {
		var name, kind, statement string
		var withoutRowid, strict bool
		if err := scan(&name, &kind, &withoutRowid, &strict, &statement); err != nil {
			return err
		}
		switch {
		case ours(name):
			return nil
		case kind != "table":
			c.Notes = append(c.Notes, kind+" "+name)
			return nil
		}
		t := &Table{Table: &plan.Table{Name: name}}
		var options []string
		if strict {
			options = append(options, "STRICT")
		}
		if withoutRowid {
			options = append(options, "WITHOUT ROWID")
		}
		t.Options = strings.Join(options, ", ")
		c.Tables = append(c.Tables, t)
		statements[name] = statement
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range c.Tables {
		for _, load := range []func(context.Context, Querier, *Table) error{sqliteColumns, sqliteIndexes, sqliteForeignKeys, sqliteTriggers} {
			if err := load(ctx, r, t); err != nil {
				return err
			}
		}
		readStatement(t, statements[t.Name])
	}
	return nil
}

func sqliteColumns(ctx context.Context, r Querier, t *Table) error {
	type part struct {
		name string
		at   int
	}
	var primary []part
	const query = `SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?1) ORDER BY cid`
	err := each(ctx, r, query, []any{t.Name}, func(scan func(...any) error) error {
		var notNull bool
		var value sql.NullString
		var at, hidden int
		column := &plan.Column{Role: plan.RolePlain}
		if err := scan(&column.Name, &column.Type, &notNull, &value, &at, &hidden); err != nil {
			return err
		}
		column.Nullable = !notNull && at == 0
		if value.Valid && !strings.EqualFold(value.String, "NULL") {
			column.Default = &value.String
		}
		if hidden == 2 || hidden == 3 {
			column.Generated = "?" // until the statement says what
		}
		if at > 0 {
			primary = append(primary, part{column.Name, at})
		}
		t.Columns = append(t.Columns, column)
		return nil
	})
	slices.SortFunc(primary, func(a, b part) int { return a.at - b.at })
	for _, p := range primary {
		t.PrimaryKey = append(t.PrimaryKey, p.name)
	}
	if len(t.PrimaryKey) == 1 && strings.EqualFold(t.Column(t.PrimaryKey[0]).Type, "INTEGER") && !strings.Contains(t.Options, "WITHOUT ROWID") {
		t.Numbered = t.PrimaryKey
	}
	return err
}

func sqliteIndexes(ctx context.Context, r Querier, t *Table) error {
	type index struct {
		name, origin, statement string
		unique, partial         bool
	}
	var indexes []index
	const list = `SELECT l.name, l."unique", l.origin, l.partial, COALESCE(s.sql, '') FROM pragma_index_list(?1) l
		LEFT JOIN sqlite_schema s ON s.type = 'index' AND s.name = l.name ORDER BY l.seq DESC`
	err := each(ctx, r, list, []any{t.Name}, func(scan func(...any) error) error {
		var i index
		if err := scan(&i.name, &i.unique, &i.origin, &i.partial, &i.statement); err != nil {
			return err
		}
		indexes = append(indexes, i)
		return nil
	})
	if err != nil {
		return err
	}
	for _, i := range indexes {
		if i.origin == "pk" {
			continue
		}
		var columns []string
		simple := !i.partial
		const parts = `SELECT cid, COALESCE(name, ''), coll FROM pragma_index_xinfo(?1) WHERE key = 1 ORDER BY seqno`
		err := each(ctx, r, parts, []any{i.name}, func(scan func(...any) error) error {
			var cid int
			var name, collation string
			if err := scan(&cid, &name, &collation); err != nil {
				return err
			}
			// A collation other than the usual one may be the column's or the index's own: its statement says both.
			simple = simple && cid >= 0 && (collation == "BINARY" || i.statement == "")
			columns = append(columns, name)
			return nil
		})
		switch {
		case err != nil:
			return err
		case !simple:
			t.Indexes = append(t.Indexes, &plan.Index{Name: i.name, Statement: i.statement})
			if i.unique {
				t.AddNote("unique index %s is not on columns alone: a clash is found when the database refuses the row", i.name)
			}
		case i.origin == "u":
			t.Unique = append(t.Unique, &plan.Unique{Columns: columns, Rule: plan.RuleFail})
		case i.unique:
			t.Unique = append(t.Unique, &plan.Unique{Name: i.name, Columns: columns, Rule: plan.RuleFail})
		default:
			t.Indexes = append(t.Indexes, &plan.Index{Name: i.name, Columns: columns})
		}
	}
	return nil
}

func sqliteForeignKeys(ctx context.Context, r Querier, t *Table) error {
	last := -1
	const query = `SELECT id, "table", "from", COALESCE("to", ''), on_update, on_delete FROM pragma_foreign_key_list(?1) ORDER BY id DESC, seq`
	return each(ctx, r, query, []any{t.Name}, func(scan func(...any) error) error {
		var id int
		var parent, column, refers, onUpdate, onDelete string
		if err := scan(&id, &parent, &column, &refers, &onUpdate, &onDelete); err != nil {
			return err
		}
		if id != last {
			last = id
			t.ForeignKeys = append(t.ForeignKeys, &plan.ForeignKey{Table: parent, OnDelete: ruleOf(onDelete), OnUpdate: ruleOf(onUpdate)})
		}
		k := t.ForeignKeys[len(t.ForeignKeys)-1]
		k.Columns, k.Refers = append(k.Columns, column), append(k.Refers, refers)
		return nil
	})
}

func sqliteTriggers(ctx context.Context, r Querier, t *Table) error {
	const query = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 ORDER BY name"
	return each(ctx, r, query, []any{t.Name}, func(scan func(...any) error) error {
		var name string
		if err := scan(&name); err != nil {
			return err
		}
		t.AddNote("trigger %s", name)
		return nil
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
				t.AddNote("check: %s", between(0, len(definition)))
				i = closing(definition, i+1) - 1
			case column == nil || i == 0:
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

// closing returns the index after the parenthesis that closes the one at open.
func closing(tokens []token, open int) int {
	depth := 0
	for i := open; i < len(tokens); i++ {
		switch tokens[i].text {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(tokens)
}

// splitTop splits what is between an open parenthesis and its end at the commas
// that are in no inner one.
func splitTop(tokens []token) (definitions [][]token) {
	from, depth := 0, 0
	for i, token := range tokens {
		switch {
		case token.text == "(":
			depth++
		case token.text == ")" && depth == 0:
			return append(definitions, tokens[from:i])
		case token.text == ")":
			depth--
		case token.text == "," && depth == 0:
			definitions, from = append(definitions, tokens[from:i]), i+1
		}
	}
	return append(definitions, tokens[from:])
}
