package route

import (
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
)

type fuzzed struct {
	ID    snow.ID `gorm:"primaryKey" snow:"shard=Owner"`
	Owner string
}

func fuzzedModel(t testing.TB) *model {
	layout, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 10, Sequence: 8, Shard: 4})
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Parse(&fuzzed{}, &sync.Map{}, schema.NamingStrategy{})
	if err != nil {
		t.Fatal(err)
	}
	return newModel(s, layout)
}

// FuzzRead reads any text as a WHERE clause. It must end, and a known shard must come from a value that is
// compared with the key: no text without a placeholder tells one.
func FuzzRead(f *testing.F) {
	m := fuzzedModel(f)
	for _, s := range []string{
		"id = ?", "id = ? OR owner = ?", "(id, owner) IN ((?,?),(?,?))", "NOT (id = ? AND x BETWEEN ? AND ?)", "id IN (?,?) ORDER BY id LIMIT ?", `"id" = $1 OR 'a''b`,
		"((((", "))", "a -- b", "/* x */ id=?", "CASE WHEN", "id IN (NULL)", "id = ? GROUP BY a HAVING b AND c", "[id]=?", "`id` = ?;", "a.b.c.d = ?", "id = ? FOR UPDATE",
	} {
		for i := range uint8(3) {
			f.Add(s, i)
		}
	}
	f.Fuzz(func(t *testing.T, condition string, dialect uint8) {
		name := []string{"mysql", "postgres", "sqlite"}[dialect%3]
		args := make([]any, max(strings.Count(condition, "?"), 1)%64)
		for i := range args {
			args[i] = snow.ID(1<<40 + int64(i%16))
		}
		var r rules
		found, refused := r.shards(text{"SELECT * FROM fuzzed WHERE " + condition, "fuzzed", m, false}.read(name), args)
		switch {
		case refused != "" || !found.known:
			return
		case len(found.shards) > 0 && !strings.ContainsAny(condition, "?$"):
			t.Errorf("%q tells %v", condition, found.shards)
		case !strings.Contains(strings.ToLower(condition), "id") && !strings.Contains(strings.ToLower(condition), "owner"):
			t.Errorf("%q tells %v", condition, found.shards)
		}
		// What is joined by OR makes nothing narrower.
		wider := text{"SELECT * FROM fuzzed WHERE (" + condition + ") OR x = 1", "fuzzed", m, false}.read(name)
		if also, refused := r.shards(wider, args); refused == "" && also.known {
			t.Errorf("%q and more tells %v", condition, also.shards)
		}
	})
}
