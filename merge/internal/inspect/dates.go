package inspect

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// A creation is a column that may tell when rows were made.
type creation struct {
	column *plan.Column
	rank   int     // how well its name says so: 0 is best
	values int     // that are dates in the samples
	ascend float64 // in how many of the pairs of rows the later id has no earlier date
}

// From the rank vague on, a name says that a column is a time, but not of what.
const vague = 2

// grows is the least share of pairs of rows whose later id has the later date, as in a column that is written
// once.
const grows = 0.95

// dates finds the column that tells when a row was made.
func (i *inspector) dates() {
	for _, t := range i.plan.Tables {
		if len(t.NewIDs) == 0 {
			continue
		}
		var all []creation
		for _, c := range t.Columns {
			if found, ok := i.creation(t, c); ok {
				all = append(all, found)
			}
		}
		if len(all) == 0 {
			continue
		}
		slices.SortStableFunc(all, func(a, b creation) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.ascend, a.ascend), cmp.Compare(b.values, a.values))
		})
		best := all[0]
		t.Created = best.column.Name
		for _, other := range all[1:] {
			clear := best.ascend >= grows && other.ascend < best.ascend-0.05
			if other.rank == best.rank && !clear && !i.equal(t, best.column, other.column) {
				addSuspect(best.column, "when was a row made: does this column say so, or %s? The plan takes this one as created", other.column.Name)
			}
		}
		if best.rank >= vague && best.ascend < grows {
			addSuspect(best.column, "does it say when a row was made? The plan takes it as created. If it changes later, name another column there, or none")
		}
		if sqltype.Of(i.dialect, best.column.Type).Kind != sqltype.Integer && !knowsZone(i.dialect, best.column.Type) {
			catalog.AddNote(t, "column %s: has no time zone; where its times are not UTC, say so under zone", best.column.Name)
		}
	}
}

// creation looks at the name, the type and the values of a column. Most of its values must be dates between 1995 and
// tomorrow: no row was made before, and times of another kind are outside of that, such as durations and birthdays.
func (i *inspector) creation(t *plan.Table, c *plan.Column) (creation, bool) {
	found := creation{column: c, rank: creationRank(c.Name, i.vocabulary.thing(t.Name))}
	if c.Default != nil && strings.Contains(strings.ToUpper(*c.Default), "ON UPDATE") && found.rank >= 0 {
		found.rank = max(found.rank, vague) // MySQL writes the time of the last change there
	}
	s := sqltype.Of(i.dialect, c.Type)
	isDate := s.Kind == sqltype.Time || s.Kind == sqltype.Integer && s.Bits >= 32 || i.dialect == sqldialect.SQLite && s.Kind == sqltype.Text
	everywhere := !slices.ContainsFunc(t.NewIDs, func(source string) bool { return !c.In(source) })
	if found.rank < 0 || c.Role != plan.RolePlain || c.Generated != "" || !isDate || !everywhere {
		return found, false
	}
	first, last := time.Date(1995, 1, 1, 0, 0, 0, 0, time.UTC), time.Now().Add(24*time.Hour)
	strange, pairs, ascending := 0, 0, 0
	for _, source := range i.plan.SourcesOf(t) {
		sample := i.samples[tableOf{source, t.Name}]
		at, key := sample.index(c.Name), sample.index(t.Key().Name)
		if at < 0 || key < 0 {
			continue
		}
		rows := slices.SortedFunc(slices.Values(sample.rows), func(a, b []any) int {
			x, _ := sqlvalue.ID(a[key])
			y, _ := sqlvalue.ID(b[key])
			return cmp.Compare(x, y)
		})
		var before time.Time
		for _, row := range rows {
			when, ok := sqlvalue.ParseDate(row[at], time.UTC)
			switch {
			case !ok: // NULL, zero, or no date at all
				if text := strings.Trim(sqlvalue.Text(row[at]), "0-: ."); text != "" {
					strange++
				}
				continue
			case when.Before(first) || when.After(last):
				strange++
				continue
			}
			found.values++
			if !before.IsZero() {
				pairs++
				if !when.Before(before) {
					ascending++
				}
			}
			before = when
		}
	}
	found.ascend = 1
	if pairs > 0 {
		found.ascend = float64(ascending) / float64(pairs)
	}
	none := found.values+strange == 0 && s.Kind == sqltype.Time // its name and type must do
	return found, none || found.values > 0 && strange <= found.values/10
}

// equal reports whether two columns have the same values in the samples.
func (i *inspector) equal(t *plan.Table, a, b *plan.Column) bool {
	for _, source := range i.plan.SourcesOf(t) {
		s := i.samples[tableOf{source, t.Name}]
		x, y := s.index(a.Name), s.index(b.Name)
		if x >= 0 && y >= 0 && slices.ContainsFunc(s.rows, func(row []any) bool { return sqlvalue.Text(row[x]) != sqlvalue.Text(row[y]) }) {
			return false
		}
	}
	return true
}

// creationRank says how well a name tells that a column has the time at which a row was made, or -1: created_at is 0,
// reg_date 1, time 2, birth 3. The words of the table's name may come before it.
func creationRank(name string, of []string) int {
	w := refname.Words(name)
	for n := len(w) - 1; n > 0; n-- {
		if slices.Equal(w[:n], of) || slices.Equal(w[:n], of[len(of)-1:]) {
			w = w[n:]
			break
		}
	}
	text := strings.Join(w, "")
	rank := func(verbs, alone []string) bool {
		if slices.Contains(alone, text) {
			return true
		}
		for _, verb := range verbs {
			for _, moment := range []string{
				"", "at", "on", "date", "time", "timestamp", "datetime", "ts", "day", "unix", "utc", "stamp", "dt", "ms", "sec", "epoch", "timems", "timeunix", "atms", "unixtime", "timeutc", "atutc",
			} {
				if moment != "" && (text == verb+moment || text == moment+verb) {
					return true
				}
			}
		}
		return false
	}
	switch {
	case rank([]string{"create", "created", "creation"}, []string{"created", "ctime", "crtime", "creation"}):
		return 0
	case rank([]string{
		"insert", "inserted", "add", "added", "reg", "register", "registered", "registration", "signup", "signedup", "join", "joined", "sent", "send", "made", "posted", "opened", "founded",
	}, []string{"inserted", "registered", "joined", "datejoined"}):
		return 1
	case slices.Contains([]string{"time", "timestamp", "date", "datetime", "ts", "unixtime", "unixtimestamp"}, text):
		return vague
	case slices.Contains([]string{"birth", "born"}, text):
		return vague + 1
	}
	return -1
}

// knowsZone reports whether values of a type are instants, whatever the time zone is.
func knowsZone(d sqldialect.Dialect, typ string) bool {
	typ = strings.ToLower(typ)
	switch d {
	case sqldialect.MySQL:
		return strings.HasPrefix(typ, "timestamp")
	case sqldialect.Postgres:
		return strings.HasSuffix(typ, "with time zone")
	}
	return false
}
