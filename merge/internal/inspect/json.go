package inspect

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// A leaf is what a column's JSON has at one path.
type leaf struct {
	values map[string][]any // numbers and texts that are numbers, by source
	name   string           // of the member that they are in, or of the array
	parent string           // of the member around that
	names  bool             // they are the names of members
}

const (
	deepest   = 12  // levels of JSON that are looked at
	mostPaths = 500 // of one column
)

// json looks for ids in JSON.
func (f *referenceFinder) json(ctx context.Context, t *plan.Table, c *plan.Column) {
	leaves := f.leaves(t, c)
	var refers []*plan.Reference
	var why []string
	for _, path := range slices.Sorted(maps.Keys(leaves)) {
		l := leaves[path]
		values := ids{}
		for source, of := range l.values {
			values[source] = distinct(of)
		}
		if values.count() == 0 {
			continue
		}
		named := f.vocabulary.ReadReference(l.name)
		if len(named.Stem) == 0 { // id: whose it is says what it is in
			named.Stem = f.vocabulary.thing(l.parent)
		}
		switch {
		case path == "$[*]":
			named.ID = true // the column is a list
		case named.Plural && !strings.HasSuffix(path, "]"):
			named = refname.Reading{} // how many there are, and not which
		}
		if l.names {
			named = refname.Reading{ID: true, Stem: f.vocabulary.thing(l.name)}
		}
		found := f.parents(ctx, t, c, named, values)
		if (l.names || path == "$[*]") && found.table == nil && !many(values) {
			found = parentage{} // a few small numbers, such as of slots, are ids of any table
		}
		if found == (parentage{}) && !named.Plural {
			found = f.unnamed(ctx, t, c, values)
		}
		if found.table == nil {
			found.table = found.only
		}
		switch {
		case found == (parentage{}):
		case l.names:
			path = strings.TrimSuffix(path, "{}") + ".*~"
			if found.table != nil {
				refers = append(refers, &plan.Reference{Table: found.table.Name, Path: path})
			}
			why = append(why, "names of members, "+path+": "+found.why)
		default:
			if found.table != nil {
				refers = append(refers, &plan.Reference{Table: found.table.Name, Path: path})
			}
			why = append(why, path+": "+found.why)
		}
	}
	if len(why) == 0 {
		return
	}
	f.propose(t, c, plan.RoleJSON, refers...)
	if len(refers) == 0 {
		c.Role = plan.RoleUndecided
	}
	c.Suspects = append(c.Suspects, why...)
}

// leaves returns what the JSON of a column has, by path, or nothing if the column holds other texts.
func (f *referenceFinder) leaves(t *plan.Table, c *plan.Column) map[string]*leaf {
	if kind := sqltype.Of(f.dialect, c.Type).Kind; kind != sqltype.JSON && kind != sqltype.Text {
		return nil
	}
	leaves := map[string]*leaf{}
	for source, values := range f.values(t, c.Name) {
		structured, others := 0, 0
		for _, v := range values {
			text := strings.TrimSpace(sqlvalue.Text(v))
			if text == "" {
				continue
			}
			d := json.NewDecoder(strings.NewReader(text))
			d.UseNumber()
			var value any
			if (text[0] != '{' && text[0] != '[') || d.Decode(&value) != nil {
				others++
				continue
			}
			structured++
			collect(leaves, source, "$", leaf{name: c.Name}, value, 0)
		}
		if others > structured {
			return nil
		}
	}
	return leaves
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// collect adds the numbers below value to leaves. at says where value is.
func collect(leaves map[string]*leaf, source, path string, at leaf, value any, depth int) {
	if depth > deepest {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		numbered := len(value) > 0
		for name := range value {
			_, ok := sqlvalue.ParseID(name)
			numbered = numbered && ok
		}
		for name, member := range value {
			switch {
			case numbered: // a table of its own, by id
				add(leaves, source, path, leaf{name: at.name, names: true}, name)
				collect(leaves, source, path+".*", leaf{name: at.name, parent: at.parent}, member, depth+1)
			default:
				step := "." + name
				if !plainName.MatchString(name) {
					quoted, _ := json.Marshal(name)
					step = "[" + string(quoted) + "]"
				}
				collect(leaves, source, path+step, leaf{name: name, parent: at.name}, member, depth+1)
			}
		}
	case []any:
		for _, element := range value {
			collect(leaves, source, path+"[*]", at, element, depth+1)
		}
	case json.Number:
		add(leaves, source, path, at, value.String())
	case string:
		if _, err := strconv.ParseInt(value, 10, 64); err == nil {
			add(leaves, source, path, at, value)
		}
	}
}

func add(leaves map[string]*leaf, source, path string, at leaf, value string) {
	key := path
	if at.names {
		key += "{}"
	}
	l := leaves[key]
	if l == nil {
		if len(leaves) == mostPaths {
			return
		}
		l = &at
		l.values = map[string][]any{}
		leaves[key] = l
	}
	l.values[source] = append(l.values[source], value)
}
