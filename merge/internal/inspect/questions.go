package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/plan"
)

// least and most are how many questions there may be: most for every 98 tables.
const (
	leastQuestions = 10
	mostQuestions  = 25
)

// leastRival is the least certainty that makes another table a candidate.
const leastRival = 0.03

// ask makes questions of the verdicts: one for all columns of one meaning. Each field that is not certainly what it is
// taken for is in one.
func (s *solver) ask() {
	direct, others := map[*key]*group{}, map[*key]*group{}
	counted := &group{name: "keys", text: "Do these columns number the rows of their own tables? The evidence says why that is in doubt.", answer: plan.AnswerKey}
	static := &group{name: "numbers of tables", text: "Primary keys to which nothing refers: do they number rows (key), or do the numbers mean something (plain)?", answer: plan.AnswerKey, certainty: 0.6}
	lent := &group{name: "keys or ids", text: "Do these keys number the rows of their own tables? Nearly all of their values are ids of another table, too: they may be ids of that one.", answer: plan.AnswerKey, certainty: 0.6}
	foreign := &group{name: "ids of nothing", text: "Named like ids, but their values are ids of no table here. Are they copied as they are?", answer: plan.AnswerPlain, certainty: 0.9}
	unclear := &group{name: "unclear ids", text: "Whose ids are these, or are they numbers? Names and values do not decide: look at each."}
	numbers := &group{name: "numbers", text: "Not named like ids, but their values could be ids of tables here. Are they numbers, to be copied as they are?", answer: plan.AnswerPlain, certainty: 0.7}
	var groups []*group
	for _, f := range s.fields {
		var g *group
		switch k := f.verdict.key; {
		case f.verdict.isOwn:
			g = s.askKey(f, counted, static, lent)
		case f.unsure:
			g = unclear
		case k != nil:
			of := others
			if f.claimOf(k).direct() {
				of = direct
			}
			if g = of[k]; g == nil {
				g = &group{answer: k.table.Name}
				of[k] = g
				groups = append(groups, g)
			}
		default:
			if g = f.askPlain(foreign, numbers); g == nil && s.kindOf[f.column] != nil {
				g = numbers
			}
		}
		if g != nil {
			g.fields = append(g.fields, f)
		}
	}
	s.bring(append(groups, unclear, foreign, numbers), unclear, numbers)
	groups = s.joinSmall(groups)
	for _, g := range groups {
		g.sameNone()
	}
	for _, f := range unclear.fields {
		f.column.Role, f.column.Refers, f.column.None = plan.RoleUndecided, nil, nil
	}
	for _, g := range append(groups, counted, static, lent, unclear, foreign, numbers) {
		if len(g.fields) > 0 {
			s.plan.Questions = append(s.plan.Questions, s.question(g))
		}
	}
}

// askKey returns the question about a key, or nil if it is certain.
func (s *solver) askKey(f *field, counted, static, lent *group) *group {
	k := s.keyOf(f)
	referred := slices.ContainsFunc(s.fields, func(f *field) bool { return f.verdict.key == k }) || s.declared(k)
	rival := f.best()
	itself := len(f.name.Stem) == 0 || refname.Alike(f.name.Stem, f.thing) > 0
	switch {
	case slices.ContainsFunc(f.claims, func(c *claim) bool { return c.lent >= leastLent }):
		return lent
	case slices.ContainsFunc(f.claims, func(c *claim) bool { return c.fit.found.share() == 1 && s.isPart(k, c.key) }):
		f.besides = "the table is named after that one, and no other column says which row of it a row belongs to"
		return lent
	case (k.counted || k.unused && referred) && itself && (rival == nil || rival.score() < f.own-2):
		return nil
	case referred || k.counted:
		if f.besides == "" {
			f.besides = f.doubtOfKey(itself, k)
		}
		return counted
	}
	return static
}

// doubtOfKey says why it is asked whether a key numbers the rows of its table.
func (f *field) doubtOfKey(itself bool, k *key) string {
	switch {
	case !itself:
		return "its name does not say whose numbers these are"
	case !k.counted:
		return "no database counts its numbers up"
	}
	return "its values could be ids of another table, too"
}

// declared reports whether a foreign key of another table refers to a key. Then it is seldom an id of another table
// without a foreign key of its own.
func (s *solver) declared(k *key) bool {
	return slices.ContainsFunc(s.plan.Tables, func(t *plan.Table) bool { return t != k.table && refers(t, k) })
}

// refers reports whether a foreign key of a table refers to a key.
func refers(t *plan.Table, k *key) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(key *plan.ForeignKey) bool {
		return key.Table == k.table.Name && slices.Equal(key.Refers, []string{k.column.Name})
	})
}

// askPlain returns the question about a column that is taken for plain, or nil if there is something that speaks
// against ids.
func (f *field) askPlain(foreign, numbers *group) *group {
	fits := slices.ContainsFunc(f.claims, (*claim).fits)
	few := f.few && !f.flags && !f.name.Quantity && (f.indexed || f.least() >= large)
	says := f.name.ID || f.name.Role() || f.name.Container() || f.name.Relative()
	switch {
	case f.name.ID:
		return foreign
	case !f.named && (f.name.Plural || !says && (f.flags || f.text && !f.could || f.name.Quantity)):
		return nil
	case f.n == 0:
		if says || f.named || f.indexed {
			return numbers
		}
		return nil
	case fits || f.named || says || f.could || few:
		return numbers
	}
	return nil
}

// least returns the least of the sampled values.
func (f *field) least() (least int64) {
	least = math.MaxInt64
	for _, of := range f.values {
		for _, id := range of {
			least = min(least, id)
		}
	}
	return least
}

// bring asks about the columns that have the names of references, and about which nothing else is asked.
func (s *solver) bring(groups []*group, unclear, numbers *group) {
	asked, names := map[*field]bool{}, map[string]bool{}
	for _, g := range groups {
		for _, f := range g.fields {
			if asked[f] = true; f.verdict.key != nil && !f.name.Common {
				names[f.numberless()] = true
			}
		}
	}
	for _, f := range s.fields {
		if asked[f] || f.verdict.key != nil || f.verdict.isOwn || !names[f.numberless()] {
			continue
		}
		if f.name.ID {
			unclear.fields = append(unclear.fields, f)
		} else {
			numbers.fields = append(numbers.fields, f)
		}
	}
}

// joinSmall puts the questions about the fewest columns together, so that there are not too many.
func (s *solver) joinSmall(groups []*group) []*group {
	for _, g := range groups {
		g.certainty = 1
		for _, f := range g.fields {
			g.certainty = min(g.certainty, f.certain())
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(len(b.fields), len(a.fields)), cmp.Compare(b.certainty, a.certainty))
	})
	sure := &group{name: "by name", text: "Are these columns ids of rows, each of the table beside it?", answer: plan.AnswerEach}
	unsure := &group{name: "others", text: "Are these columns ids of rows, each of the table beside it? They are doubtful: look at each.", answer: plan.AnswerEach}
	single := func(g *group) bool { return len(g.fields) <= 2 && g.certainty >= 0.9 }
	if few := slices.IndexFunc(groups, single); few >= 0 && len(groups)-few >= 3 {
		for _, g := range groups[few:] {
			if single(g) {
				sure.fields = append(sure.fields, g.fields...)
			}
		}
		groups = slices.DeleteFunc(groups, single)
	}
	// five of those above, and two that are put together
	room := max(leastQuestions, len(s.plan.Tables)*mostQuestions/98) - 7
	room = min(room, len(groups))
	for _, g := range groups[room:] {
		for _, f := range g.fields {
			if f.certain() >= 0.8 {
				sure.fields = append(sure.fields, f)
			} else {
				unsure.fields = append(unsure.fields, f)
			}
		}
	}
	groups = groups[:room:room]
	for _, g := range []*group{sure, unsure} {
		if len(g.fields) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// sameNone gives the references of a question to one table the same values for no row, as far as they are in no
// key: a sample does not have all values.
func (g *group) sameNone() {
	none := map[*key][]string{}
	for _, f := range g.fields {
		if !f.inKey() && !f.text {
			none[f.verdict.key] = append(none[f.verdict.key], f.column.None...)
		}
	}
	for _, f := range g.fields {
		if all := none[f.verdict.key]; !f.inKey() && !f.text && len(all) > 0 {
			f.column.None = distinctNames(all)
		}
	}
}

// question writes a group as a question.
func (s *solver) question(g *group) *plan.Question {
	slices.SortStableFunc(g.fields, func(a, b *field) int { // as in the plan
		return cmp.Or(cmp.Compare(slices.Index(s.plan.Tables, a.table), slices.Index(s.plan.Tables, b.table)),
			cmp.Compare(slices.Index(a.table.Columns, a.column), slices.Index(a.table.Columns, b.column)))
	})
	q := &plan.Question{Name: g.name, Text: g.text}
	names := map[string]int{}
	for _, f := range g.fields {
		q.Columns = append(q.Columns, f.String())
		names[f.column.Name]++
	}
	often := slices.SortedStableFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(names[b], names[a]), cmp.Compare(a, b))
	})
	if q.Name == "" {
		q.Name = often[0]
		if slices.ContainsFunc(s.plan.Questions, func(other *plan.Question) bool { return other.Name == q.Name }) {
			q.Name = g.answer + ": " + q.Name
		}
		for s.named(q.Name) {
			q.Name += " too"
		}
	}
	q.Candidates = g.candidates()
	q.Evidence = evidenceOf(g.fields)
	if g.answer == plan.AnswerEach || g.answer == "" {
		q.Evidence = evidenceOfEach(g.fields)
	}
	q.Follows = s.follow(g)
	for _, f := range g.fields { // a column is asked once
		for _, suspect := range f.column.Suspects {
			q.Evidence = append(q.Evidence, f.String()+": "+suspect)
		}
		f.column.Suspects = nil
	}
	return q
}

// candidates returns the answers that are likely, the best one first. A question that proposes nothing has only some
// that are less likely than all others together.
func (g *group) candidates() (all []*plan.Candidate) {
	certain, rivals := 1.0, map[string]float64{}
	for _, f := range g.fields {
		certain = min(certain, f.certain())
		for _, c := range f.claims {
			if (c.key != f.verdict.key || g.answer == "") && c.fits() {
				rivals[c.key.table.Name] += certainty(c.score()-max(f.plain, f.own)) / float64(len(g.fields))
			}
		}
		if c := f.spoken(); g.answer == "" && c != nil && c == f.near && !slices.Contains(f.claims, c) {
			rivals[c.key.table.Name] += certainty(0) / float64(len(g.fields))
		}
	}
	if g.certainty > 0 {
		certain = min(certain, g.certainty)
	}
	if g.answer == plan.AnswerEach {
		return []*plan.Candidate{{Answer: g.answer, Certainty: round(certain)}}
	}
	for table, of := range rivals {
		if table != g.answer && of >= leastRival {
			all = append(all, &plan.Candidate{Answer: table, Certainty: round(min(of, certain) * 0.9)})
		}
	}
	if g.answer != plan.AnswerPlain {
		all = append(all, &plan.Candidate{Answer: plan.AnswerPlain, Certainty: round(min((1-certain)/2, certain*0.9))})
	}
	slices.SortFunc(all, func(a, b *plan.Candidate) int {
		return cmp.Or(cmp.Compare(b.Certainty, a.Certainty), strings.Compare(a.Answer, b.Answer))
	})
	all = all[:min(3, len(all))]
	if g.answer != "" {
		all = slices.Insert(all, 0, &plan.Candidate{Answer: g.answer, Certainty: round(certain)})
	}
	return all
}

// certain returns how certain the verdict is, by the sample and by all rows.
func (f *field) certain() float64 {
	if f.verdict.key != nil {
		if all := f.claimOf(f.verdict.key).all; all.of > 0 && all.share() < likely {
			return min(f.verdict.certainty, 0.6)
		}
	}
	return f.verdict.certainty
}

func (s *solver) named(name string) bool {
	return slices.ContainsFunc(s.plan.Questions, func(q *plan.Question) bool { return q.Name == name })
}

// follow tells what else the plan does if the proposal is right and names a table.
func (s *solver) follow(g *group) (lines []string) {
	t := s.plan.Table(g.answer)
	if t == nil {
		return nil
	}
	if len(t.NewIDs) > 0 {
		columns := "1 column follows"
		if n := len(g.fields); n > 1 {
			columns = fmt.Sprintf("%d columns follow", n)
		}
		lines = append(lines, fmt.Sprintf("rows of %s get new ids from %s, and %s", t.Name, strings.Join(t.NewIDs, ", "), columns))
	}
	var borrowed []string
	for _, f := range g.fields {
		if f.alone {
			borrowed = append(borrowed, f.table.Name)
		}
	}
	if len(borrowed) > 0 {
		lines = append(lines, "no keys of their own: "+list(borrowed, 2))
	}
	return lines
}
