package questions

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/shardsnow/snow/merge/plan"
)

// A Question is one decision about all parts that are alike.
type Question struct {
	ID       string // the same as long as its parts are
	Name     string
	Text     string // what is asked
	Parts    []*Part
	Evidence []string
	Follows  []string // what the plan does if the best candidate is right
	OfKeys   bool     // unique keys, and not columns

	asked   *plan.Asked
	choices []Choice
	offers  offers
}

// A Part is a column or a unique key that a question is about.
type Part struct {
	Name    string // as the file has it; without a schema it may be a pattern
	Doubts  []string
	Is      string // what the plan takes it for, in words; empty without a schema
	Answer  string // as the file has it; empty if there is none
	Decided bool   // by an answer, or by another entry of the file

	entry   int    // the place among the file's questions
	text    string // the name or pattern there
	table   *plan.Table
	columns []string
}

// IsAnswered reports whether each part is decided.
func (q *Question) IsAnswered() bool {
	return !slices.ContainsFunc(q.Parts, func(p *Part) bool { return !p.Decided })
}

// Answer returns the answer to all parts: empty if there is none, and "different ones" if there are several.
func (q *Question) Answer() string {
	if !q.IsAnswered() {
		return ""
	}
	first := q.Parts[0]
	for _, p := range q.Parts {
		if p.Answer != first.Answer {
			return "different ones"
		}
	}
	if first.Answer == "" {
		return "decided in the file"
	}
	return first.Answer
}

// Only returns the question about some of its parts.
func (q *Question) Only(is func(*Part) bool) *Question {
	one := *q
	one.Parts = nil
	for _, p := range q.Parts {
		if is(p) {
			one.Parts = append(one.Parts, p)
		}
	}
	switch one.ID = idOf("question", one.Parts); len(one.Parts) {
	case 0:
		return &one
	case 1:
		if one.ID = idOf("part", one.Parts); len(q.Parts) > 1 {
			one.choices = one.offers.of(&one)
		}
	}
	if one.describe(); len(one.Parts) == 1 {
		one.Name = one.Parts[0].Name
	}
	return &one
}

// Apart returns a question for each part, or none if there is one part only.
func (q *Question) Apart() (all []*Question) {
	if len(q.Parts) < 2 {
		return nil
	}
	for _, p := range q.Parts {
		all = append(all, q.Only(func(other *Part) bool { return other == p }))
	}
	return all
}

func idOf(kind string, parts []*Part) string {
	h := sha256.New()
	for _, p := range parts { // which are in order
		_, _ = fmt.Fprintf(h, "%q\n", p.Name)
	}
	return kind + "-" + hex.EncodeToString(h.Sum(nil))[:12]
}

// State changes whenever what the question shows or its answers do.
func (q *Question) State() string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %q %q\n", q.Text, q.Evidence, q.Follows)
	for _, p := range q.Parts {
		_, _ = fmt.Fprintf(h, "%q %q %q %q %v\n", p.Name, p.Doubts, p.Is, p.Answer, p.Decided)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// group makes questions of the entries of the file: parts that are asked the same, with the same proposal, are one.
func (s *Questionnaire) group() (all []*Question) {
	by := map[string]*Question{}
	for at, asked := range s.doc.decisions.Questions {
		for _, part := range s.parts(at) {
			key := s.keyOf(asked, part)
			q := by[key]
			if q == nil {
				q = &Question{Name: asked.Name, Text: asked.Text, Evidence: weakestFirst(asked.Evidence), Follows: asked.Follows, OfKeys: len(asked.Unique) > 0, asked: asked}
				by[key] = q
				all = append(all, q)
			}
			q.Parts = append(q.Parts, part)
		}
	}
	o := offers{s.plan, s.doc.decisions.Sources}
	if s.plan != nil {
		o.sources = s.plan.Sources // which may take the places of others
	}
	for _, q := range all {
		q.order()
		q.doubtfulFirst()
		q.offers = o
		q.ID = idOf("question", q.Parts)
		q.describe()
		q.choices = o.of(q)
	}
	return all
}

// order sorts the parts, also if entries were divided: columns with the rarest names come first, for they are most likely
// another thing than the others.
func (q *Question) order() {
	count := map[string]int{}
	column := func(p *Part) string { return p.Name[strings.LastIndexByte(p.Name, '.')+1:] }
	for _, p := range q.Parts {
		count[column(p)]++
	}
	slices.SortStableFunc(q.Parts, func(a, b *Part) int {
		if byCount := cmp.Compare(count[column(a)], count[column(b)]); byCount != 0 && !q.OfKeys {
			return byCount
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// parts returns the parts of an entry of the file. Tables and columns that are left out are none.
func (s *Questionnaire) parts(at int) (parts []*Part) {
	q := s.doc.decisions.Questions[at]
	answer := textOf(q.Answer)
	add := func(n plan.Name, doubts []string, find func(plan.Name) ([]plan.Named, error)) {
		if s.plan == nil {
			parts = append(parts, &Part{Name: n.Text, Doubts: doubts, Answer: answer, Decided: answer != "", entry: at, text: n.Text})
			return
		}
		found, _ := find(n) // the plan was completed with it
		for _, named := range found {
			p := &Part{Name: named.Name.Text, Doubts: doubts, Answer: answer, entry: at, text: n.Text, table: s.proposed.Table(named.Table.Name), columns: named.Columns}
			p.Is, _ = isNow(s.proposed, p, len(q.Unique) > 0)
			_, p.Decided = isNow(s.plan, p, len(q.Unique) > 0)
			parts = append(parts, p)
		}
	}
	for _, n := range q.Columns {
		add(n, q.Suspects, func(n plan.Name) ([]plan.Named, error) { return s.schema.NamedColumns(n) })
	}
	for _, doubt := range q.Unique {
		add(doubt.Key, doubt.Suspects, func(n plan.Name) ([]plan.Named, error) { return s.plan.NamedKeys(n) })
	}
	return parts
}

// isNow returns what a plan takes a part for, and whether that is decided. What is left out needs no decision.
func isNow(of *plan.Plan, p *Part, ofKeys bool) (is string, decided bool) {
	t := of.Table(p.table.Name)
	if t.Skip {
		return "left out", true
	}
	if ofKeys {
		for _, u := range t.Unique {
			if slices.Equal(u.Columns, p.columns) {
				return string(u.Rule), u.Decided
			}
		}
		return "", false
	}
	c := t.Column(p.columns[0])
	if c == nil {
		return "left out", true
	}
	return roleText(c), c.Decided
}

// keyOf is the same for parts that are one question.
func (s *Questionnaire) keyOf(q *plan.Asked, p *Part) string {
	proposal := textOf(q.Proposed)
	switch {
	case len(q.Unique) > 0:
		return fmt.Sprintf("key %q %q", proposal, s.shapes(p.Doubts))
	case len(q.Suspects) > 0:
		return fmt.Sprintf("column %q %q %q %q", proposal, p.Is, q.None, s.shapes(p.Doubts))
	}
	return fmt.Sprintf("question %q %q %q", q.Text, candidatesText(q), q.Evidence)
}

func candidatesText(q *plan.Asked) (texts []string) {
	for _, c := range q.Candidates {
		texts = append(texts, c.Answer+" "+strconv.FormatFloat(c.Certainty, 'g', 3, 64))
	}
	return texts
}

// particular is what a doubt has of its column: values, numbers, names that no word of prose is like.
var (
	quoted     = regexp.MustCompile(`\(?"(?:[^"\\]|\\.)*"(?:, "(?:[^"\\]|\\.)*")*\)?`)
	particular = regexp.MustCompile(`\S*[_.]\w\S*|\S*[0-9]\S*`)
	word       = regexp.MustCompile(`[\pL\pN]+`)
	several    = regexp.MustCompile(`…(?:,? …)+`)
)

// shapes returns texts without the names and numbers in them: doubts that differ in nothing else are alike. Each is cut
// where the evidence begins.
func (s *Questionnaire) shapes(doubts []string) (all []string) {
	for _, text := range doubts {
		text, _, _ = strings.Cut(text, ": ")
		text = word.ReplaceAllStringFunc(particular.ReplaceAllString(quoted.ReplaceAllString(text, "…"), "…"), func(name string) string {
			if s.names[name] {
				return "…"
			}
			return name
		})
		all = append(all, several.ReplaceAllString(text, "…"))
	}
	return all
}

// namesOf returns the names of the tables and columns of a plan.
func namesOf(p *plan.Plan) map[string]bool {
	names := map[string]bool{}
	if p == nil {
		return names
	}
	for _, t := range p.Tables {
		_, table := p.Split(t.Name)
		names[table] = true
		for _, c := range t.Columns {
			names[c.Name] = true
		}
	}
	return names
}

// weight is how certain a line of evidence says that it is, at its end.
var weight = regexp.MustCompile(`\(([01]\.\d+)(?: to [01]\.\d+)?\)$`)

// weakestFirst returns evidence in another order: what speaks least for the answer is what people have to see.
func weakestFirst(evidence []string) []string {
	lines := slices.Clone(evidence)
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(weightOf(a), weightOf(b)) })
	return lines
}

// weightOf returns how certain a line of evidence is.
func weightOf(line string) float64 {
	if m := weight.FindStringSubmatch(line); m != nil {
		n, _ := strconv.ParseFloat(m[1], 64) // it is a number
		return n
	}
	return 1
}

// textOf writes an answer as the file has it, on one line.
func textOf(a plan.Answer) string {
	if a.Meaning == nil && a.Fields == nil {
		return a.Text
	}
	b, err := yaml.Dump(a, yaml.WithLineWidth(-1))
	if err != nil {
		return a.Text
	}
	var n yaml.Node
	if yaml.Load(b, &n) != nil || len(n.Content) != 1 {
		return a.Text
	}
	return flow(&n)
}

// describe says what a question asks.
func (q *Question) describe() {
	q.Name, q.Text = q.asked.Name, q.asked.Text
	switch {
	case q.OfKeys:
		q.Text = "What becomes of rows with the same values in this unique key?"
		if n := len(q.Parts); n > 1 {
			q.Text = fmt.Sprintf("What becomes of rows with the same values in one of these %d unique keys?", n)
		}
	case len(q.asked.Suspects) > 0 && q.isUndecided():
		q.Text = "Do these values hold ids, and of which table?"
	case len(q.asked.Suspects) > 0:
		q.Text = "Is this column what the plan takes it for?"
		if n := len(q.Parts); n > 1 {
			q.Text = fmt.Sprintf("Are these %d columns what the plan takes them for?", n)
		}
		if is := q.Parts[0].Is; q.asked.Proposed.Meaning != nil && strings.Contains(is, "ids ") {
			q.Text = fmt.Sprintf("Do the values hold %s?", is)
		}
	case q.Text == "":
		asked := &plan.Question{Candidates: q.asked.Candidates}
		for _, p := range q.Parts {
			asked.Columns = append(asked.Columns, p.Name)
		}
		if q.Text = asked.String(); q.Text == "" {
			q.Text = "Whose ids are the values of these columns?"
		}
	}
	if q.Name == "" {
		q.Name = q.Parts[0].Name
		if n := len(q.Parts); n > 1 {
			q.Name = fmt.Sprintf("%s and %d more", q.Name, n-1)
		}
	}
}
