package propose

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shardsnow/snow/convert/internal/schema"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
	mergeplan "github.com/shardsnow/snow/merge/plan"
)

// digits is how long snow ids are as texts.
const digits = 19

// note appends a note that the plan does not have yet.
func (p *proposer) note(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(p.plan.Notes, note) {
		p.plan.Notes = append(p.plan.Notes, note)
	}
}

// barred returns why a column can't be widened in place, or "".
func (p *proposer) barred(t *plan.Table, name string) string {
	s := p.schema.Table(t.Name)
	c := s.Column(name)
	switch {
	case c == nil:
		return "it is not there"
	case s.Versioned:
		return "the table is system versioned, and its history would have other types than its rows"
	case s.Elder != "":
		return "the table inherits from " + s.Elder + ": if the column does, it changes with it"
	case c.Domain != "":
		return "it is of domain " + c.Domain + ", which keeps its type"
	case c.Generated != "":
		return "the database computes it"
	case p.dialect == sqldialect.Postgres && s.Partition != "" && mentions(s.Partition, name):
		return "the table is partitioned by it, and PostgreSQL does not change the type of such a column: copy the table to a new one"
	}
	for _, o := range s.Outside {
		if slices.Contains(o.Columns, name) {
			direction := "refers to"
			if o.Inward {
				direction = "is referred to from"
			}
			return fmt.Sprintf("it %s %s, in another database, by foreign key %s: drop it first, and make it again in the end", direction, o.Other, o.Name)
		}
	}
	return ""
}

// noteIDs notes ids in a column that does not become wider: in JSON, texts, decimals and lists.
func (p *proposer) noteIDs(t *plan.Table, c *mergeplan.Column) {
	s := p.schema.Table(t.Name).Column(c.Name)
	of := slices.DeleteFunc(parents(c), func(table string) bool { return !p.getsIDs(table) })
	if s == nil || plan.IsWide(s.Type) || len(of) == 0 {
		return
	}
	name, tables := t.Name+"."+c.Name, strings.Join(of, ", ")
	if plan.Wide(s.Type) != "" {
		if why := p.barred(t, c.Name); why != "" && !p.barredColumns[t.Name][c.Name] {
			p.note("by hand: %s looks like a reference to %s, and is not changed by itself: %s", name, tables, why)
		}
		return
	}
	switch c.Role {
	case mergeplan.RoleReference, mergeplan.RolePolymorphic:
		if room, ok := length(s.Type); ok && room < digits {
			p.note("by hand: %s is %s, and looks like a reference to %s: snow ids have %d digits", name, s.Type, tables, digits)
		}
	case mergeplan.RoleList:
		p.note("%s has lists of ids of %s: each takes %d characters, and the type is %s", name, tables, digits, s.Type)
	case mergeplan.RoleJSON:
		p.note("%s has ids of %s in JSON: above 2^53 JavaScript rounds numbers, so programs should write them as texts", name, tables)
	case mergeplan.RolePacked:
		p.note("by hand: %s has ids of %s packed with other numbers: look whether 63 bits fit", name, tables)
	}
}

// size is the number in a type such as varchar(20) or numeric(10,0).
var size = regexp.MustCompile(`\((\d+)`)

// length returns how many characters or digits a type has room for, if it says so.
func length(typ string) (int, bool) {
	found := size.FindStringSubmatch(typ)
	if found == nil {
		return 0, false
	}
	n, err := strconv.Atoi(found[1])
	return n, err == nil
}

// mentions reports whether a text of SQL has a name as a word, in any case.
func mentions(text, name string) bool {
	text, name = strings.ToLower(text), strings.ToLower(name)
	for from := 0; name != ""; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(name):])
		if (at == 0 || !inName(before)) && (at+len(name) == len(text) || !inName(after)) {
			return true
		}
		from = at + 1
	}
	return false
}

func inName(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// narrow are words of integers that are too small for snow ids, in routines and triggers.
var narrow = regexp.MustCompile(`(?i)\b(tinyint|smallint|mediumint|int|integer|int2|int4)\b`)

// notes says what else names the columns that become wider.
func (p *proposer) notes() {
	for _, circle := range p.plan.Circles() {
		var names []string
		for _, t := range circle {
			names = append(names, t.Name)
		}
		p.note("foreign keys form a circle: %s", strings.Join(names, ", "))
	}
	for _, o := range p.schema.Objects {
		p.object(o)
	}
	for _, t := range p.all {
		s := p.schema.Table(t.Name)
		for _, c := range s.Columns {
			for _, changed := range t.Columns {
				if c.Generated != "" && mentions(c.Generated, changed.Name) {
					p.note("%s.%s is generated from %s, and is %s: look whether it has room", t.Name, c.Name, changed.Name, c.Type)
				}
			}
		}
		for _, changed := range append(slices.Clone(t.Columns), &plan.Column{Name: t.Key}) {
			if changed.Name != "" && s.Partition != "" && mentions(s.Partition, changed.Name) {
				p.note("%s is partitioned by %s: make partitions that take snow ids first, if it is by RANGE or LIST", t.Name, s.Partition)
			}
		}
		for _, c := range s.Counted {
			if c.Column != t.Key && !c.Hidden && !p.barredColumns[t.Name][c.Column] {
				p.note("%s.%s is counted by the database, too (%s): it stays as it is", t.Name, c.Column, c.Kind)
			}
		}
		if t.Key != "" && t.Sequence != "" && !s.Owns(t.Key) {
			p.note("sequence %s, which numbers %s, belongs to no column: it may number other tables, too", t.Sequence, t.Name)
		}
		p.bars(t)
	}
}

// bars notes keys, and columns that refer to keys, that can't be widened.
func (p *proposer) bars(t *plan.Table) {
	for _, name := range slices.Sorted(maps.Keys(p.barredColumns[t.Name])) {
		p.note("by hand: %s.%s is too narrow for snow ids, and not changed by itself: %s", t.Name, name, p.barred(t, name))
	}
}

// object notes a view, routine, trigger or event that names columns which become wider.
func (p *proposer) object(o schema.Object) {
	var columns []string
	for _, t := range p.all {
		if !mentions(o.Text, t.Name) && o.Table != t.Name {
			continue
		}
		for _, c := range t.Columns {
			if mentions(o.Text, c.Name) {
				columns = append(columns, t.Name+"."+c.Name)
			}
		}
	}
	slices.Sort(columns)
	switch {
	case o.Text == "":
		p.note("%s %s: the account may not read it", o.Kind, o.Name)
	case len(columns) == 0:
	case o.Kind == "view" || o.Kind == "materialized view":
		p.note("%s %s names %s: its columns change with them", o.Kind, o.Name, strings.Join(columns, ", "))
	case narrow.MatchString(o.Text):
		p.note("by hand: %s %s names %s, and has variables, parameters or casts of %s: make them BIGINT before the first snow id", o.Kind, o.Name, strings.Join(columns, ", "), strings.ToUpper(narrow.FindString(o.Text)))
	default:
		p.note("%s %s names %s", o.Kind, o.Name, strings.Join(columns, ", "))
	}
}

// programs says what programs must do.
func (p *proposer) programs() {
	p.plan.Before = []string{
		"Programs read keys and references as 64-bit integers: int64, long, bigint. In JSON they are texts, since JavaScript rounds numbers above 2^53.",
		"Programs do not cast ids to INT, in SQL either, and store them in no INT of caches, queues, files and other databases.",
		"Exports, reports and replicas with schemas of their own take BIGINT.",
	}
	p.plan.After = []string{
		"All programs that insert rows give ids of package snow.",
		"Nothing relies on ids without gaps, nor on the id that the database gave: LAST_INSERT_ID(), currval() and the like.",
	}
}
