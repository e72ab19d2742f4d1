package inspect

import (
	"math"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/plan"
)

// A key is a column that may number the rows of its table.
type key struct {
	*field
	of      []string           // the words of the table
	ids     map[string][]int64 // by source, in order; without ids of large tables
	counted bool               // a source counts it up
	unused  bool               // a source would, and has never done so
	named   int                // how many columns are named after it
	as      refname.Key
}

// A field is a column that may hold ids of rows.
type field struct {
	table    *plan.Table
	column   *plan.Column
	name     refname.Reading
	thing    []string                 // the words of the table
	values   ids                      // those sampled, without none
	n        int                      // how many those are
	rows     map[string]map[int64]int // in how many sampled rows each of them is, by source
	none     []string                 // sampled values that stand for no row
	bits     int
	text     bool
	unique   *plan.Unique // which isKey has added to the table, or nil
	alone    bool         // it tells rows apart without other columns: the primary key, or a key beside one
	member   bool         // it is in the primary key
	indexed  bool         // an index begins with it
	flags    bool         // 0 and 1 are all it has
	claims   []*claim
	ending   []*claim // on the keys whose ids end where its values do
	near     *claim   // the claim that most of its values speak for, if they are many
	named    bool     // it is named after some table, or a part of it
	could    bool     // by its values alone it may hold ids of some table
	besides  string   // what else there is to say of its values
	torn     *claim   // that its values reach as far as the ids do, unlike those of the table that its name says; or nil
	unsure   bool     // names and values do not decide: nothing is proposed
	few      bool     // all of its values are ids of some table, but they are few
	plain    float64  // how much speaks for a number that is no id
	own      float64  // how much speaks for a key of the table itself
	verdict  verdict
	partners []join
}

// as returns what the names of the field are, and how it tells rows apart.
func (f *field) as() refname.Column {
	return refname.Column{Table: f.table.Name, Name: f.column.Name, Reading: f.name, Thing: f.thing, Alone: f.alone, Indexed: f.indexed}
}

func (f *field) String() string { return f.table.Name + "." + f.column.Name }

// A join is an equality of two columns in a view, a trigger or a routine.
type join struct{ other, where string }

// A fit is how the values of a field compare with the ids of a key.
type fit struct {
	found  inclusion
	rows   inclusion // of the sampled rows
	known  bool      // the key has ids
	info   float64   // how unlikely it is by chance, as a logarithm
	reach  float64   // how far the values reach over the range of the ids, from 0 to 1
	middle float64   // where the middle one of the ids that are found is among all, from 0 to 1
	start  int64     // the least id, in the source where it is highest
	ends   bool      // the values end where the ids do, in each source
}

// fits reports whether the values may be ids, and some of rows that do not exist any more.
func (t fit) fits() bool {
	switch {
	case t.found.of == 0 || !t.known || t.found.share() >= likely:
		return true
	case t.found.hits < fewestLarge || t.middle < 0.2: // small numbers are ids of any table
		return false
	}
	return t.found.share() >= 0.5 && t.info >= 12 || t.found.share() >= 0.4 && t.info >= 25 || t.rows.share() >= likely && t.info >= 0
}

// joined returns what joins say of a column and a key: where they are equal.
func (f *field) joined(k *key) string {
	for _, j := range f.partners {
		if strings.EqualFold(j.other, k.String()) {
			return j.where
		}
	}
	return ""
}

// A group is columns that one question is about.
type group struct {
	name, text string
	answer     string // what is proposed
	fields     []*field
	certainty  float64 // at most
}

func (f *field) claimOf(k *key) *claim {
	if at := slices.IndexFunc(f.claims, func(c *claim) bool { return c.key == k }); at >= 0 {
		return f.claims[at]
	}
	return &claim{key: k}
}

// inKey reports whether the column is in the primary key or in a unique key.
func (f *field) inKey() bool {
	return f.member || slices.ContainsFunc(f.table.Unique, func(u *plan.Unique) bool { return slices.Contains(u.Columns, f.column.Name) })
}

// A claim is how much speaks for a field to hold the ids of a key. Scores are sums of points of evidence; about
// three points more than for anything else make a claim likely, see certainty.
type claim struct {
	key   *key
	name  float64 // points of the names
	value float64 // points of the values
	rest  float64 // points of types, indexes and joins
	fam   float64 // points of the columns of the same name
	lent  float64 // points of a key whose numbers are all ids of another table, see borrows
	fit   fit
	why   string    // what the names say
	all   inclusion // of all different values; zero if the sample is all, or all rows were not looked at
}

func (c *claim) score() float64 { return c.name + c.value + c.rest + c.fam + c.lent }

// fits reports whether the values of the field may be ids of the key.
func (c *claim) fits() bool { return c.fit.fits() || c.name >= 3 && c.fit.rows.share() >= mostRows }

// serious reports whether a key may hold the ids of the other one.
func (c *claim) serious() bool { return c.name >= 1 || c.lent >= leastLent }

// A verdict is what a field is taken for.
type verdict struct {
	key       *key // whose ids it has; nil for a plain column
	isOwn     bool // it is the key of its table
	certainty float64
}

// certainty turns a lead in points into a probability.
func certainty(lead float64) float64 { return 1 / (1 + math.Exp(-lead/1.5)) }

// most returns how certain a claim can be at most: names, values and structure have to agree for it to be near certain.
func (c *claim) most() float64 {
	switch {
	case c.fit.found.share() < likely && c.fit.found.of > 0 && c.fit.known:
		return 0.6
	case c.fit.found.of == 0 || !c.fit.known:
		return 0.75
	case !c.direct():
		return 0.85
	case c.fit.found.share() < 0.97:
		return 0.9
	}
	return 0.99
}

// direct reports whether the name of the field is the name of the table or of its key.
func (c *claim) direct() bool { return c.name >= 3 && c.why != refname.LikeSomebody }

// plainPoints weighs what speaks for a number that is no id.
func (f *field) plainPoints() float64 {
	points := 3.0
	if !f.name.ID {
		points += 0.5
	} else {
		points -= 1.5
	}
	if f.name.Quantity {
		points += 2
	}
	switch {
	case f.flags && !f.text && !f.name.ID:
		points += 4
	case f.flags:
		points += 2
	}
	if f.text {
		points += 1
	}
	if f.indexed {
		points -= 0.5
	}
	return points
}

// A solver finds whose ids columns hold, for the schema as a whole: it weighs each column and each key, lets
// columns of equal names speak for one another, and decides first which primary keys are keys of other tables.
type solver struct {
	*evidence
	vocabulary *vocabulary
	joins      map[string][]join // by column
	fields     []*field
	keys       []*key
	families   map[string][]*field
	order      []string        // the families' names
	only       map[string]*key // by family: the key that its name is like, if it is like no other
}

// best returns the claim with most points, or nil.
func (f *field) best() *claim {
	var best *claim
	for _, c := range f.claims {
		if best == nil || c.score() > best.score() {
			best = c
		}
	}
	return best
}

// numbers reports whether a source counts a column up.
func (e *evidence) numbers(t *plan.Table, c *plan.Column) bool {
	return slices.ContainsFunc(e.plan.SourcesOf(t), func(source string) bool {
		return slices.Contains(e.catalogs[source].Table(t.Name).Numbered, c.Name)
	})
}
