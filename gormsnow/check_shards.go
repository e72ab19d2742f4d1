package gormsnow

import (
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// shards checks what only matters if the rows of s are in several databases.
func (c *check) shards(s *schema.Schema, m *model, live *liveTable) {
	if m.err != nil || len(m.Sources) == 0 {
		return
	}
	var deciding []string
	for _, key := range m.Keys {
		deciding = append(deciding, key.DBName) // ids are unique everywhere
		source := m.Sources[key]
		if source == nil || slices.Contains(deciding, source.DBName) {
			continue
		}
		deciding = append(deciding, source.DBName)
		if source.IndirectFieldType.Kind() == reflect.String {
			c.folds(s, source, live)
		}
	}
	all := slices.Clone(live.unique)
	for _, u := range analysis.UniqueKeys(s) {
		all = append(all, u.Columns)
	}
	found := make(map[string]bool)
	for _, columns := range all {
		at := live.name + "." + strings.Join(columns, ",")
		if found[at] || slices.Contains(columns, "") || slices.ContainsFunc(columns, func(column string) bool { return slices.Contains(deciding, column) }) {
			continue
		}
		found[at] = true
		c.find(CheckError{
			Model: s.ModelType.String(), Column: at,
			Problem: "it is unique in each database only, because it lacks the column that decides the shard",
			Remedy:  "add that column to the index, or keep these values in a table that is sharded by them",
		})
	}
}

// folds checks that texts which are equal in the database are the same text: others have
// another hash, so a row would be looked for in another shard.
func (c *check) folds(s *schema.Schema, source *schema.Field, live *liveTable) {
	column, ok := live.columns[source.DBName]
	if !ok {
		return // migrate first
	}
	fold := column.Fold
	if c.db.Name() == "sqlite" {
		// Only a comparison tells the collation. The first SELECT returns no row, but gives it to the second.
		var upper, space bool
		err := eachRow(c.db, func(rows *sql.Rows) error { return rows.Scan(&upper, &space) },
			"SELECT x = 'ANN', x = 'ann ' FROM (SELECT ? AS x FROM ? WHERE 0 UNION ALL SELECT 'ann')",
			clause.Column{Name: source.DBName}, clause.Expr{SQL: c.db.Statement.Quote(live.name)})
		if err != nil {
			c.fail(fmt.Errorf("model %s: read the collation of %s.%s: %w", s.ModelType, live.name, source.DBName, err))
			return
		}
		if upper || space {
			fold = "its collation is not BINARY"
		}
	}
	if fold != "" {
		c.find(CheckError{
			Model: s.ModelType.String(), Field: source.Name, Column: live.name + "." + source.DBName,
			Problem: "it decides the shard, and texts that differ, such as 'ann' and 'ann ', may be equal in it and have other shards: " + fold,
			Remedy:  map[string]string{"mysql": "change its type to VARBINARY, or its collation to utf8mb4_0900_bin of MySQL or utf8mb4_nopad_bin of MariaDB", "postgres": "make it a text with a deterministic collation", "sqlite": "create the table without COLLATE for it"}[c.db.Name()],
		})
	}
}
