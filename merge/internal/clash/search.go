package clash

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// A search looks for tuples in a database.
type search struct {
	*round
	q       *chunk.Session
	hasher  *chunk.Hasher
	place   string
	columns []*plan.Column // the columns of the key, of the primary key, then the others that the place has
	joined  bool           // tuples may be equal to each other, for they refer to rows that were merged
	tuples  [][]any
	owners  []int       // the rows that have them
	hits    map[int]hit // by numbers
	of      []int       // by the same numbers the rows that have the tuples
	known   map[string]bool
}

// run looks for some of the tuples. The database may take values for equal
// that differ, such as texts in another case. A row of which nobody can say
// which tuple it is found by is looked for again by fewer of them.
func (s *search) run(ctx context.Context, part []int) error {
	tuples := make([][]any, len(part))
	for i, n := range part {
		tuples[i] = s.tuples[n]
	}
	rows, err := chunk.ReadKeys(ctx, s.q.Engine, s.q, s.table.Name, s.columns, s.contest.columns, tuples)
	if err != nil {
		return err
	}
	exact := map[chunk.Sum][]int{}
	for _, n := range part {
		is := s.hasher.Row(s.tuples[n])
		exact[is] = append(exact[is], n)
	}
	var strange [][]any
	found := map[int]bool{}
	for _, row := range rows {
		same := exact[s.hasher.Row(s.values(row))]
		for _, n := range same {
			s.hit(n, row)
			found[n] = true
		}
		if len(same) == 0 {
			strange = append(strange, row)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(part), func(n int) bool { return found[n] })
	if len(rest) < len(part) && len(rest) > 0 && s.joined {
		return s.run(ctx, rest) // several tuples may be equal to one row
	}
	if len(strange) == 0 || len(rest) == 0 {
		return nil
	}
	if len(rest) == 1 {
		for _, row := range strange {
			s.hit(rest[0], row)
		}
		return nil
	}
	// The first to be asked alone are the ones that are in another case or have other
	// spaces at their end.
	folded := map[string][]int{}
	for _, n := range rest {
		key := fold(s.tuples[n])
		folded[key] = append(folded[key], n)
	}
	alone := map[int]bool{}
	for _, row := range strange {
		if same := folded[fold(s.values(row))]; len(same) == 1 && !alone[same[0]] {
			alone[same[0]] = true
			if err := s.run(ctx, same); err != nil {
				return err
			}
		}
	}
	if rest = slices.DeleteFunc(rest, func(n int) bool { return alone[n] }); len(rest) < len(part) {
		return s.run(ctx, rest)
	}
	if err := s.run(ctx, rest[:len(rest)/2]); err != nil {
		return err
	}
	return s.run(ctx, rest[len(rest)/2:])
}

func (s *search) values(row []any) []any { return row[:len(s.contest.columns)] }

func (s *search) formatKey(row []any) string {
	return sqlvalue.FormatKey(row[len(s.contest.columns):][:len(s.rowKey())])
}

func fold(tuple []any) string {
	var b strings.Builder
	for _, v := range tuple {
		b.WriteString(strings.TrimRight(strings.ToLower(sqlvalue.Text(v)), " "))
		b.WriteByte(0)
	}
	return b.String()
}

func (s *search) hit(n int, row []any) {
	if s.rows != nil && s.place == s.source && s.formatKey(row) == sqlvalue.FormatKey(s.key(s.owners[n])) {
		return // itself
	}
	row = row[len(s.contest.columns):]
	h := hit{key: row[:len(s.rowKey())], others: make([]any, len(s.others))}
	row = row[len(h.key):]
	for i, other := range s.others {
		if has(s.place, other) {
			h.others[i], row = row[0], row[1:]
		}
	}
	if name := fmt.Sprint(s.owners[n], sqlvalue.FormatKey(h.key)); !s.known[name] {
		s.known[name] = true
		s.hits[len(s.of)] = h
		s.of = append(s.of, s.owners[n])
	}
}
