package inspect

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/shardsnow/snow/merge/plan"
)

var humps = []*regexp.Regexp{regexp.MustCompile(`(\p{Lu})(\p{Lu}\p{Ll})`), regexp.MustCompile(`(\p{Ll})(\p{Lu})`)}

// words splits a name: playerID, player_id and PLAYER-ID are player and id.
func words(name string) []string {
	for _, hump := range humps {
		name = hump.ReplaceAllString(name, "$1 $2")
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range words {
		words[i] = strings.ToLower(word)
	}
	return words
}

// singular returns the singular of a word.
func singular(word string) string {
	switch {
	case len(word) > 4 && strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case len(word) > 4 && (strings.HasSuffix(word, "sses") || strings.HasSuffix(word, "xes") || strings.HasSuffix(word, "ches") || strings.HasSuffix(word, "shes")):
		return word[:len(word)-2]
	case len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us"):
		return word[:len(word)-1]
	}
	return word
}

// thing returns the words of the name of a table or a member, in the singular, without prefixes of all tables of a program.
func thing(name string) []string {
	w := words(name)
	if len(w) > 1 && slices.Contains([]string{"t", "tb", "tbl", "tab", "table"}, w[0]) {
		w = w[1:]
	}
	if len(w) > 0 {
		w[len(w)-1] = singular(w[len(w)-1])
	}
	return w
}

// bare returns the name of a table without its database, which says nothing of its rows.
func bare(p *plan.Plan, table string) string {
	_, name := p.Split(table)
	return name
}

// An idName is what the name of a column says of the ids in it.
type idName struct {
	named  bool     // it says that these are ids
	stem   []string // of what
	plural bool     // of several of them
}

// readName looks for what the names of references have in common: an ending, or a word for a relation of people or things.
func readName(name string) idName {
	w := words(name)
	if len(w) == 0 {
		return idName{}
	}
	last := w[len(w)-1]
	switch last {
	case "id", "ids", "uid", "uids", "gid", "pid", "cid", "rid", "oid", "fk", "ref", "refs":
		stem := w[:len(w)-1]
		if len(stem) == 0 && last != "id" && last != "ids" {
			stem = map[string][]string{"uid": {"user"}, "gid": {"guild"}, "pid": {"player"}, "rid": {"role"}, "cid": {"character"}}[last]
		}
		return idName{named: true, stem: stem, plural: last == "ids" || last == "uids" || last == "refs"}
	}
	w[len(w)-1] = singular(last)
	n := idName{stem: w, plural: w[len(w)-1] != last}
	n.named = n.person() || slices.Contains([]string{"target", "parent", "child", "guild"}, w[len(w)-1])
	return n
}

// person reports whether the name is a relation of people, such as leader.
func (n idName) person() bool {
	if len(n.stem) == 0 {
		return false
	}
	return slices.Contains([]string{
		"owner", "leader", "master", "member", "friend", "sender", "receiver", "recipient", "creator", "author", "editor", "buyer", "seller", "killer",
		"victim", "inviter", "invitee", "opponent", "attacker", "defender", "winner", "loser", "assignee", "maker", "by", "user", "player", "character", "account", "customer",
	}, singular(n.stem[len(n.stem)-1]))
}

// relative reports whether the name is a relation to a row of the same table, such as parent.
func (n idName) relative() bool {
	return len(n.stem) > 0 && slices.Contains([]string{"parent", "child", "previous", "prev", "next", "root", "origin"}, n.stem[len(n.stem)-1])
}

// ofPeople reports whether the rows of a table are named like people.
func ofPeople(table string) bool {
	of := thing(table)
	return len(of) > 0 && slices.Contains([]string{
		"player", "user", "account", "character", "customer", "member", "person", "hero", "avatar", "role",
	}, of[len(of)-1])
}

// match says how well a stem names a table: 3 if they are the same, 2 if the stem has words before
// it, such as target_player for players, 1 if it is the end of the table's name, else 0.
func match(stem []string, table string) int {
	of := thing(table)
	if len(stem) == 0 || len(of) == 0 {
		return 0
	}
	stem = slices.Clone(stem)
	stem[len(stem)-1] = singular(stem[len(stem)-1])
	switch {
	case slices.Equal(stem, of) || strings.Join(stem, "") == strings.Join(of, ""):
		return 3
	case endsWith(stem, of):
		return 2
	case endsWith(of, stem):
		return 1
	}
	// guildid, without anything between.
	if joined := strings.TrimSuffix(stem[len(stem)-1], "id"); len(stem) == 1 && joined != stem[0] && joined == strings.Join(of, "") {
		return 3
	}
	return 0
}

func endsWith(words, end []string) bool {
	return len(words) > len(end) && slices.Equal(words[len(words)-len(end):], end)
}
