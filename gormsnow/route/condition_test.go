package route

import (
	"testing"

	"github.com/shardsnow/snow"
)

// BenchmarkRead measures the reader alone.
func BenchmarkRead(b *testing.B) {
	m, r := fuzzedModel(b), new(rules)
	id := snow.ID(1<<40 + 5)
	for _, c := range []struct {
		name, sql string
		args      []any
	}{
		{"key", "SELECT * FROM `fuzzed` WHERE id = ? AND `fuzzed`.`deleted_at` IS NULL LIMIT ?", []any{id, 1}},
		{"text", "SELECT * FROM `fuzzed` WHERE (id = ? AND (state = ? OR amount > ?)) AND `fuzzed`.`deleted_at` IS NULL ORDER BY id LIMIT ?", []any{id, "x", 4, 20}},
		{"update", "UPDATE `fuzzed` SET `amount`=?,`state`=? WHERE id = ? AND `fuzzed`.`deleted_at` IS NULL", []any{5, "x", id}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				said := text{c.sql, "fuzzed", m, false}.read("mysql")
				if s, refused := r.shards(said, c.args); refused != "" || len(s.shards) != 1 {
					b.Fatal(s, refused)
				}
			}
		})
	}
}
