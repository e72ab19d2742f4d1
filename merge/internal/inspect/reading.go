package inspect

import (
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// A reading is what the name of a column says.
type reading struct {
	words    []string // in lower case and the singular, without numbers: itemGuid0 is item and guid
	stem     []string // the words that do not just say that these are ids
	id       bool     // it says that these are ids
	word     string   // how
	first    bool     // it begins with that
	quantity bool     // it says how many, how much, when or where
	plural   bool     // it is how many there are of something
}

// Words that say that values are ids, and nothing else.
var idWords = []string{"id", "guid", "uid", "uuid", "fk", "ref", "pk", "oid"}

// notIDs end in id, and do not mean it.
var notIDs = []string{
	"valid", "invalid", "paid", "unpaid", "prepaid", "void", "avoid", "solid", "rapid", "grid", "android", "bid", "raid", "fluid", "liquid", "said", "aid",
	"mid", "hybrid", "acid", "lastbid", "startbid", "minbid", "maxbid", "amid",
}

// Last words of the names of quantities, times and places.
var quantities = []string{
	"count", "counter", "amount", "quantity", "qty", "number", "num", "total", "sum", "size", "length", "len", "width", "height", "depth", "weight", "level", "lv", "lvl",
	"exp", "xp", "experience", "price", "cost", "money", "gold", "coin", "balance", "rate", "ratio", "percent", "score", "point", "time", "date", "timestamp", "at", "day", "hour",
	"minute", "second", "month", "year", "week", "duration", "expire", "expires", "timer", "tick", "x", "y", "z", "o", "pos", "hp", "mp", "sp", "health", "mana", "power", "strength",
	"agility", "stamina", "intellect", "spirit", "armor", "attack", "defense", "speed", "flag", "mask", "bit", "option", "enabled", "active", "deleted", "visible",
	"order", "sort", "position", "priority", "rank", "rating", "durability", "charge", "stack", "limit", "min", "max", "version", "color", "colour", "byte", "view", "hit",
	"vote", "win", "loss", "kill", "death", "age", "state", "status", "mode", "port", "title", "str", "agi", "vit", "int", "dex", "luk", "luck", "fame", "karma", "step", "stage", "progress",
	"lifetime", "period", "interval", "offset", "retry", "attempt", "discount", "tax", "fee", "deposit", "stock", "bonus", "damage", "heal", "critical", "dodge", "online", "expiry",
}

// roles are words for people that columns refer to.
var roles = []string{
	"owner", "leader", "master", "member", "friend", "sender", "receiver", "recipient", "creator", "author", "editor", "buyer", "seller", "killer", "victim", "inviter", "invitee",
	"opponent", "attacker", "defender", "winner", "loser", "assignee", "maker", "by", "user", "player", "character", "account", "customer", "captain", "founder", "poster", "writer",
	"father", "mother", "partner", "spouse", "husband", "wife", "looter", "assistant", "tank", "mentor", "student", "apprentice", "reporter", "reviewer", "approver",
	"moderator", "admin", "target", "source", "from", "to", "dest", "send", "recv", "giver", "taker", "blocker", "ignored", "invited", "bidder", "borrower", "lender", "participant",
	"person", "people", "who", "buy", "sell", "follower", "followed", "host", "guest", "manager", "employee", "operator", "officer", "president", "chief", "king", "lord", "closer", "assigned",
}

// containers are words for things that things are in.
var containers = []string{"bag", "container", "item", "weapon", "equipment", "equip", "backpack", "attachment", "gift"}

// relatives are words for rows of the same table.
var relatives = []string{"parent", "child", "previous", "prev", "next", "root", "origin", "original", "ancestor", "successor", "reply", "copy", "superior", "replaced", "father", "mother", "partner"}

// A vocabulary takes names apart, with the help of the words of a schema.
type vocabulary struct {
	things map[string]bool // words of the names of tables
	all    map[string]bool // those and the words of columns
	prefix string          // a word that nearly all tables begin with
	plan   *plan.Plan
}

// newVocabulary collects the words of a schema.
func newVocabulary(p *plan.Plan) *vocabulary {
	v := &vocabulary{things: map[string]bool{}, all: map[string]bool{}, plan: p}
	first := map[string]int{}
	for _, t := range p.Tables {
		if w := words(bare(p, t.Name)); len(w) > 1 {
			first[w[0]]++
		}
	}
	for word, n := range first {
		if n >= 4 && n*10 >= len(p.Tables)*6 {
			v.prefix = word
		}
	}
	for _, t := range p.Tables {
		for _, w := range v.thing(t.Name) {
			if len(w) >= 3 {
				v.things[w], v.all[w] = true, true
			}
		}
		for _, c := range t.Columns {
			for _, w := range words(c.Name) {
				if len(w) >= 4 && !strings.HasSuffix(w, "id") {
					v.all[singular(w)] = true
				}
			}
		}
	}
	for _, list := range [][]string{roles, containers} {
		for _, w := range list {
			v.all[w] = true
		}
	}
	return v
}

// thing returns the words of the name of a table, each in the singular.
func (v *vocabulary) thing(table string) []string {
	w := words(bare(v.plan, table))
	if len(w) > 1 && (w[0] == v.prefix || slices.Contains([]string{"t", "tb", "tbl", "tab", "table"}, w[0])) {
		w = w[1:]
	}
	for i := range w {
		w[i] = singular(w[i])
	}
	if len(w) == 0 { // it has neither letters nor digits
		return []string{table}
	}
	return w
}

// split takes apart words that are written together, such as itemguid.
func (v *vocabulary) split(word string) []string {
	if v.things[word] || slices.Contains(idWords, word) || slices.Contains(notIDs, word) || slices.Contains(roles, word) {
		return []string{word}
	}
	for _, id := range []string{"guid", "uid", "id", "key"} {
		before, ok := strings.CutSuffix(word, id)
		if !ok || len(before) < 2 || id != "guid" && !v.known(before) {
			continue
		}
		return append(v.split(before), id)
	}
	for at := 3; at <= len(word)-3; at++ {
		a, b := word[:at], word[at:]
		if (v.things[a] || slices.Contains(roles, a) || slices.Contains(containers, a)) && (v.things[b] || slices.Contains(roles, b)) {
			return []string{a, b}
		}
	}
	return []string{word}
}

// known reports whether a word, or the beginning of one, is in the schema.
func (v *vocabulary) known(word string) bool {
	if v.all[word] || v.all[singular(word)] {
		return true
	}
	for thing := range v.things {
		if len(word) >= 3 && strings.HasPrefix(thing, word) {
			return true
		}
	}
	for at := 3; at <= len(word)-3; at++ {
		if v.all[word[:at]] && v.all[word[at:]] {
			return true
		}
	}
	return false
}

// read reads the name of a column.
func (v *vocabulary) read(name string) reading {
	var r reading
	for _, word := range words(name) {
		digits := strings.TrimRight(word, "0123456789")
		if digits == "" {
			continue
		}
		r.plural = digits != singular(digits)
		for _, part := range v.split(singular(digits)) {
			r.words = append(r.words, part)
			if slices.Contains(idWords, part) || part == "key" && len(r.stem) > 0 {
				r.id, r.word = true, part
				r.first = r.first || len(r.words) == 1
			} else {
				r.stem = append(r.stem, part)
			}
		}
	}
	if n := len(r.stem); n > 0 && !r.id {
		last := r.stem[n-1]
		r.quantity = slices.Contains(quantities, last) || r.plural || slices.Contains(kindWords, last) && !v.things[last]
	}
	return r
}

// byLetter are ids by the letter of what they are of: pid is the id of a player.
var byLetter = map[string]string{"uid": "user", "gid": "guild", "pid": "player", "rid": "role", "cid": "character"}

// groupWords are words for groups of people that columns refer to.
var groupWords = []string{"guild", "clan", "alliance"}

// readReference reads a name where nothing but the name and the values can say whose ids there are.
func (v *vocabulary) readReference(name string) reading {
	r := v.read(name)
	if len(r.words) == 0 {
		return r
	}
	of, ok := byLetter[r.words[len(r.words)-1]]
	if !ok {
		return r
	}
	if n := len(r.stem); n > 0 && !r.id {
		r.stem = r.stem[:n-1]
	}
	if len(r.stem) == 0 {
		r.stem = []string{of}
	}
	r.id, r.quantity = true, false
	return r
}

// named reports whether the name says that there are ids: it has a word for them, or ends in a word for somebody, for a group or
// for a row of the same table.
func (r reading) named() bool {
	return r.id || r.endsIn(roles) || r.endsIn(relatives) || r.endsIn(groupWords)
}

// NamesIDs returns a function that reports whether the name of a column says that its values are ids, in the words of a plan.
func NamesIDs(p *plan.Plan) func(column string) bool {
	v := newVocabulary(p)
	return func(column string) bool {
		r := v.readReference(column)
		return r.id || r.named() && !r.plural
	}
}

func (r reading) endsIn(list []string) bool {
	return len(r.stem) > 0 && slices.Contains(list, r.stem[len(r.stem)-1])
}

// says reports whether one of the words of the name is in a list.
func (r reading) says(list []string) bool {
	return slices.ContainsFunc(r.stem, func(w string) bool { return slices.Contains(list, w) })
}

// family is what columns of one meaning have in common.
func (r reading) family() string {
	if len(r.stem) == 0 {
		return strings.Join(r.words, "")
	}
	return strings.Join(r.stem, "")
}

// abbreviates reports whether a word is another one, or short for it. Tables have short names less often than columns.
func abbreviates(word, of string) bool {
	return word == of || len(word) >= 3 && strings.HasPrefix(of, word) || len(of) >= 4 && strings.HasPrefix(word, of)
}

// alike says how well the stem of a column names a thing: 5 the same, 4 the same after other words, 3.5 in short, 3 in short after
// other words, 2.5 before other words, 2 a part of it, 0 not at all.
func alike(stem, of []string) float64 {
	if len(stem) == 0 || len(of) == 0 {
		return 0
	}
	short := func(a, b []string) bool {
		return slices.EqualFunc(a, b, abbreviates)
	}
	n, m := len(stem), len(of)
	switch {
	case strings.Join(stem, "") == strings.Join(of, ""):
		return 5
	case n > m && slices.Equal(stem[n-m:], of):
		return 4
	case n == m && short(stem, of):
		return 3.5
	case n > m && short(stem[n-m:], of):
		return 3
	case n > m && slices.Equal(stem[:m], of):
		return 2.5
	case m > n && (slices.Equal(of[:n], stem) || slices.Equal(of[m-n:], stem)):
		return 2
	case n > 1 && m > 1 && (abbreviates(stem[n-1], of[m-1]) && len(of[m-1]) > 3 && !slices.Contains(roles, of[m-1])):
		return 1
	case m > n && (short(stem, of[:n]) || short(stem, of[m-n:])):
		return 1.5
	}
	return 0
}

// ofPeople reports whether a table's rows are people, or stand for them.
func ofPeople(of []string) bool {
	people := []string{"player", "user", "account", "character", "char", "customer", "member", "person", "hero", "avatar", "role", "login", "employee", "profile"}
	return len(of) > 0 && (slices.Contains(people, of[len(of)-1]) || len(of) == 1 && slices.ContainsFunc(people, func(p string) bool { return abbreviates(p, of[0]) }))
}
