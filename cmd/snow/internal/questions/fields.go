package questions

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/shardsnow/snow/merge/plan"
)

// What doubts say of answers that change fields of a table or column.
var (
	otherTime    = regexp.MustCompile(`does this column say so, or (.+)\? The plan takes this one as created`)
	otherText    = regexp.MustCompile(`^(collation|type) differs: "[^"]*" here, "([^"]*)" in source`)
	onlyIn       = regexp.MustCompile(`^only in .+: give it a default`)
	noKeyCopied  = regexp.MustCompile(`^the table has no key, and .+ the same in source "([^"]*)".*give the table without_rows`)
	noKeyOnce    = regexp.MustCompile(`^the table has no key, and .+ They are kept once`)
	inheritsFrom = regexp.MustCompile(`^table "[^"]*" inherits from this one`)
	// of ids
	singleRow = regexp.MustCompile(`(?:^|: )(?:a single row, of id|source "[^"]*" has a single row)`)
	sameRows  = regexp.MustCompile(`rows are the same in two sources, under the same ids`)
	twoKinds  = regexp.MustCompile(`^ids of source "[^"]*" are of two kinds`)
)

// addFields adds the answers that change a field of each column or of its table, as the doubts of the first part say.
func (s offers) addFields(q *Question, add func(answer string, certainty float64)) {
	s.addFieldsOf(q, q.Parts[0].Doubts, add)
}

// keepsIDs reports whether a doubt, or evidence, is about rows that could keep their ids.
func keepsIDs(doubt string) bool { return singleRow.MatchString(doubt) || sameRows.MatchString(doubt) }

func (s offers) addFieldsOf(q *Question, doubts []string, add func(answer string, certainty float64)) {
	if s.plan == nil || q.Parts[0].table == nil {
		return
	}
	p := q.Parts[0]
	one := func(field string, value any) {
		n := &yaml.Node{}
		if n.Dump(map[string]any{field: value}) == nil {
			add(flow(n), 0)
		}
	}
	for _, doubt := range doubts {
		switch m := func(of *regexp.Regexp) []string { return of.FindStringSubmatch(doubt) }; {
		case keepsIDs(doubt):
			if s.numbers(q) {
				add(fmt.Sprintf("{new_ids: [], rule: %s}", plan.RuleKeep), 0)
				add(fmt.Sprintf("{new_ids: [], rule: %s}", plan.RuleMatch), 0)
			}
		case m(twoKinds) != nil:
			one("new_ids", []string{})
		case m(otherTime) != nil && len(q.Parts) == 1:
			if other := m(otherTime)[1]; p.table.Column(other) != nil {
				one("created", other)
			}
			one("created", "")
		case p.table.Created == p.columns[0] && strings.HasPrefix(doubt, "does it say when a row was made?"):
			one("created", "")
		case m(otherText) != nil && len(q.Parts) == 1:
			one(m(otherText)[1], m(otherText)[2])
		case m(onlyIn) != nil:
			one("nullable", true)
			if len(q.Parts) == 1 {
				one("without", []string{p.columns[0]})
			}
		case m(noKeyCopied) != nil:
			others := slices.DeleteFunc(slices.Clone(s.sources), func(source string) bool { return source == m(noKeyCopied)[1] || !p.table.In(source) })
			one("without_rows", []map[string]any{{"where": "1 = 1", "sources": others}})
		case m(noKeyOnce) != nil:
			one("without_rows", []string{})
		case m(inheritsFrom) != nil:
			one("skip", true)
		}
	}
}

func (s offers) firstSource() string {
	if len(s.sources) == 0 {
		return "the first source"
	}
	return s.sources[0]
}

// flow writes a node on one line.
func flow(n *yaml.Node) string {
	if n.Kind == yaml.DocumentNode {
		n = n.Content[0]
	}
	inFlow(n)
	b, err := yaml.Dump(n, yaml.WithLineWidth(-1))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func inFlow(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		n.Style |= yaml.FlowStyle
	}
	for _, part := range n.Content {
		inFlow(part)
	}
}

// fieldsFollow says what follows from an answer that changes a field, or "".
func (s offers) fieldsFollow(answer string) string {
	var f struct {
		NewIDs      *[]string         `yaml:"new_ids"`
		Rule        plan.Rule         `yaml:"rule"`
		Created     *string           `yaml:"created"`
		Type        string            `yaml:"type"`
		Collation   string            `yaml:"collation"`
		Nullable    bool              `yaml:"nullable"`
		Without     []string          `yaml:"without"`
		WithoutRows *[]map[string]any `yaml:"without_rows"`
		Skip        bool              `yaml:"skip"`
	}
	if !strings.HasPrefix(answer, "{") || yaml.Load([]byte(answer), &f) != nil {
		return ""
	}
	switch {
	case f.NewIDs != nil && f.Rule == plan.RuleMatch:
		return fmt.Sprintf("All rows keep their ids. Of rows with the same id the one of %s stays, and the run stops where others differ from it.", s.firstSource())
	case f.NewIDs != nil && f.Rule == plan.RuleKeep:
		return fmt.Sprintf("All rows keep their ids, as programs need that ask for them by number. Of rows with the same id the one of %s stays.", s.firstSource())
	case f.NewIDs != nil && len(*f.NewIDs) == 0:
		return "All rows keep their ids. Two sources with the same id stop dry run and run."
	case f.Created != nil && *f.Created == "":
		return "No column says when a row was made: new ids have the order of the old ones only."
	case f.Created != nil:
		return fmt.Sprintf("%s says when a row was made: new ids have the time that it says.", *f.Created)
	case f.Type != "":
		return "The target's column has this type."
	case f.Collation != "":
		return "The target's column has this collation: it decides which texts are equal."
	case f.Nullable:
		return "The target's column may be NULL, and is NULL in rows of sources that do not have it."
	case len(f.Without) > 0:
		return "The column is left out: the target does not have it."
	case f.WithoutRows != nil && len(*f.WithoutRows) == 0:
		return "They are different things in spite of their values: the rows of all sources are copied."
	case f.WithoutRows != nil:
		return "Rows of the first source only: the ones of the others are left out."
	case f.Skip:
		return "This table is left out."
	}
	return ""
}
