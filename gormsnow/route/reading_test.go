package route

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shardsnow/snow"
)

func newReadings() *rules {
	r := &rules{dialect: "sqlite"}
	r.read.seed = maphash.MakeSeed()
	return r
}

// TestReadings asks what is remembered of texts.
func TestReadings(t *testing.T) {
	r, m, id := newReadings(), fuzzedModel(t), snow.ID(1<<40+5)
	known := text{"SELECT * FROM fuzzed WHERE fuzzed.id = ?", "fuzzed", m, false}
	said := r.read.of(known, "sqlite")
	other := known
	other.sql = strings.Clone(known.sql)
	if r.read.of(other, "sqlite") != said {
		t.Error("the text was forgotten")
	}
	for _, id := range []snow.ID{id, id + 1} { // the shards are of the values
		if s, refused := r.shards(said, []any{id}); refused != "" || !slices.Equal(s.shards, []uint64{uint64(id & 15)}) {
			t.Error(s, refused)
		}
	}
	// All that it depends on is compared.
	for name, other := range map[string]text{
		"table":  {known.sql, "others", m, false},
		"model":  {known.sql, known.table, &model{}, false},
		"insert": {known.sql, known.table, m, true},
	} {
		also := r.read.of(other, "sqlite")
		if s, refused := r.shards(also, []any{id}); also == said || (refused != "") != also.inserts || s.known {
			t.Errorf("%s: %v %s", name, s, refused)
		}
	}
	long := known
	long.sql += strings.Repeat(" ", 1024)
	if first, second := r.read.of(long, "sqlite"), r.read.of(long, "sqlite"); first == second {
		t.Error("a long text is remembered")
	}
	for _, args := range [][]any{nil, {id, id}} {
		if _, refused := r.shards(said, args); refused != "it has another number of placeholders than of values" {
			t.Error(refused)
		}
	}
}

// TestReadingsCollide asks for texts that have their place among the same two, from several goroutines.
func TestReadingsCollide(t *testing.T) {
	r, m, id := newReadings(), fuzzedModel(t), snow.ID(1<<40+5)
	slot := func(sql string) uint64 { return maphash.String(r.read.seed, sql) % uint64(len(r.read.slots)) / 2 }
	var texts []text
	for i := 0; len(texts) < 4; i++ {
		sql := fmt.Sprintf("SELECT * FROM fuzzed WHERE id = ? AND %d = ?", i)
		if len(texts) == 0 || slot(sql) == slot(texts[0].sql) {
			texts = append(texts, text{sql, "fuzzed", m, false})
		}
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range 200 {
				said := r.read.of(texts[i*i%len(texts)], "sqlite")
				if s, refused := r.shards(said, []any{id, 1}); refused != "" || !slices.Equal(s.shards, []uint64{5}) || said.sql != texts[i*i%len(texts)].sql {
					t.Error(s, refused, said.sql)
				}
			}
		})
	}
	group.Wait()
}

// TestConditions has shards of conditions within each other, with more than a few values.
func TestConditions(t *testing.T) {
	r, m := newReadings(), fuzzedModel(t)
	args := make([]any, 16)
	for i := range args {
		args[i] = snow.ID(1<<40) + snow.ID(i)
	}
	for condition, want := range map[string][]uint64{
		"id IN (?,?,?)":                                                        {0, 1, 2},
		"id = ? OR id = ? OR (id = ? OR id = ?)":                               {0, 1, 2, 3},
		"id IN (?,?) AND x = 1 AND (id = ? OR id IN (?,?))":                    {},
		"(id = ? OR id = ?) AND (id = ? OR id = ?) OR id = ?":                  {4},
		"(id = ? OR id = ? AND x = 1) AND NOT id = ?":                          {0, 1},
		"(id = ? OR x = 1) AND id = ?":                                         {1},
		"(id = ? OR x = 1) AND (id = ? OR x = 1)":                              nil,
		"id = ? AND (id = ? OR id = ? IS NULL)":                                {0},
		"id IN (?,?) AND owner = ?":                                            {0, 1}, // the owner is no text
		"(id, owner) IN ((?,?),(?,?))":                                         {0, 2},
		"id IN (?,?) OR owner = ?":                                             nil,
		"id IN (NULL) AND id = ? OR id = ?":                                    {1},
		strings.TrimSuffix(strings.Repeat("id = ? AND x = 1 OR ", 16), " OR "): {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		"((id = ?) OR (((id = ?)))) AND id IN (?, ?) OR (id = ? AND id = ?) OR FALSE = ? AND id = ?": {7},
	} {
		said := text{"SELECT * FROM fuzzed WHERE " + condition, "fuzzed", m, false}.read("sqlite")
		s, refused := r.shards(said, args[:strings.Count(condition, "?")])
		if refused != "" || s.known != (want != nil) || !slices.Equal(s.shards, want) {
			t.Errorf("%s: %v %s, want %v", condition, s, refused, want)
		}
	}
}
