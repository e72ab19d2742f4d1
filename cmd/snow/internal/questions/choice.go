package questions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
)

// A Choice is an answer that a question may have.
type Choice struct {
	Answer    string  // as it is written into the file
	Certainty float64 // from 0 to 1; 0 if nobody knows
	Mark      string  // "likely" or "proposed", of what the plan does until somebody answers; empty for others
	Follows   string  // what follows from it, in one sentence
}

// Choices returns the answers that are offered, the likely one first. There are others, which people may write
// themselves.
func (q *Question) Choices() []Choice { return q.choices }

// Hint says how to decide otherwise than by one of the choices; often it is empty.
func (q *Question) Hint() string {
	p := q.Parts[0]
	switch {
	case q.OfKeys:
		return "Another answer may be a rule with what belongs to it, such as {rule: suffix, template: '{name}[{source}]'} or {rule: renumber, most: 9}."
	case len(q.Parts) > 1 && slices.ContainsFunc(q.Evidence, keepsIDs):
		return "Where the rows are the same, or the only one, the table may keep its ids: the question about that column alone has these answers."
	case len(q.asked.Suspects) == 0 || p.table == nil:
		return ""
	case p.table.Created == p.columns[0]:
		return "Another answer may name the column that says when a row was made, such as {created: COLUMN}."
	case p.Is == "no ids" || p.Is == "ids of its own table":
		return "Another answer may change a field of the column or of its table, such as {type: bigint}, {nullable: true}, {without: [COLUMN]} or {new_ids: []}."
	}
	return ""
}

// offers are what answers depend on.
type offers struct {
	plan    *plan.Plan // nil if it is not known
	sources []string
}

// of returns the choices of a question.
func (s offers) of(q *Question) (all []Choice) {
	add := func(answer string, certainty float64) {
		if !slices.ContainsFunc(all, func(c Choice) bool { return c.Answer == answer }) {
			all = append(all, Choice{Answer: answer, Certainty: certainty, Follows: s.follows(q, answer)})
		}
	}
	proposed := textOf(q.asked.Proposed)
	switch {
	case q.OfKeys:
		rule := proposed
		if rule == "" && q.Parts[0].table != nil && !q.Parts[0].Decided {
			rule = q.Parts[0].Is
		}
		for _, known := range []plan.Rule{plan.Rule(rule), plan.RuleSuffix, plan.RuleKeep, plan.RuleMatch, plan.RuleFail} {
			if known != "" && (known != plan.RuleSuffix || s.renames(q)) {
				add(string(known), 0)
			}
		}
		if rule == string(plan.RuleMatch) && s.numbers(q) {
			add(plan.AnswerBoth, 0)
		}
	case len(q.asked.Suspects) > 0:
		p := q.Parts[0]
		undecided := q.isUndecided()
		if !undecided {
			add(plan.AnswerYes, 0)
		}
		if q.asked.Proposed.Meaning != nil || undecided || p.table != nil && p.Is != "no ids" && p.Is != "ids of its own table" {
			add(plan.AnswerPlain, 0)
		}
		if undecided {
			s.addTables(q, add)
		}
		s.addFields(q, add)
	case q.isBlank() && len(q.Parts) == 1 && s.plan != nil && q.Parts[0].table != nil:
		for _, table := range q.perhaps(q.Parts[0]) {
			if s.plan.Table(table) != nil {
				add(table, 0)
			}
		}
		add(plan.AnswerPlain, 0)
		s.addFieldsOf(q, []string{q.evidenceFor(q.Parts[0])}, add)
	default:
		candidates := slices.Clone(q.asked.Candidates)
		slices.SortStableFunc(candidates, func(a, b *plan.Candidate) int { return cmp.Compare(b.Certainty, a.Certainty) })
		if proposed != "" && proposed != string(plan.RoleUndecided) && (len(candidates) == 0 || proposed != candidates[0].Answer) && proposed != plan.AnswerEach {
			add(plan.AnswerYes, 0)
		}
		for _, c := range candidates {
			if add(c.Answer, c.Certainty); c.Answer == candidates[0].Answer {
				s.addOrphans(q, add)
			}
		}
		add(plan.AnswerPlain, 0)
		if len(q.Parts) == 1 {
			s.addFieldsOf(q, []string{q.evidenceFor(q.Parts[0])}, add)
		}
	}
	if len(all) > 0 && all[0].Answer != string(plan.RuleFail) && !q.isBlank() {
		all[0].Mark = markOf(all[0], q)
	}
	return all
}

// addTables adds the tables that undecided values could be ids of.
func (s offers) addTables(q *Question, add func(answer string, certainty float64)) {
	tables, lists := q.couldBe()
	for _, table := range tables {
		switch {
		case s.plan == nil || s.plan.Table(table) == nil:
		case lists:
			add(textOf(plan.Answer{Meaning: &plan.Meaning{List: table}}), 0)
		default:
			add(table, 0)
		}
	}
}

// addOrphans adds what may become of rows with orphans, if there are some.
func (s offers) addOrphans(q *Question, add func(answer string, certainty float64)) {
	table := q.likelyTable()
	if s.plan == nil || s.plan.Table(table) == nil || q.orphans() == 0 {
		return
	}
	if q.orphansNull() {
		add(textOf(plan.Answer{Meaning: &plan.Meaning{To: table, Orphans: plan.OrphansNull}}), 0)
	}
	add(textOf(plan.Answer{Meaning: &plan.Meaning{To: table, Orphans: plan.OrphansDrop}}), 0)
}

// meaningFollows says what follows from an answer in braces that is offered, or "".
func (s offers) meaningFollows(answer string) string {
	var m plan.Meaning
	if !strings.HasPrefix(answer, "{") || yaml.Load([]byte(answer), &m) != nil {
		return ""
	}
	switch {
	case m.List != "":
		return fmt.Sprintf("Lists of ids of %s: where its rows get new ids, the values follow.", m.List)
	case m.Orphans == plan.OrphansNull:
		return fmt.Sprintf("Ids of %s. Values that lead to no row become NULL, or the value for no row.", m.To)
	}
	return fmt.Sprintf("Ids of %s. Rows whose values lead to no row are left out.", m.To)
}

// renames reports whether rows that clash in the keys have a text that could be changed. Without a schema nobody knows.
func (s offers) renames(q *Question) bool {
	return s.plan == nil || !slices.ContainsFunc(q.Parts, func(p *Part) bool {
		key := &plan.Unique{Columns: p.columns, Rule: plan.RuleSuffix}
		return p.table.RenameColumn(key, dialectOf(s.plan)) == nil && p.Is != string(plan.RuleSuffix)
	})
}

// numbers reports whether each key is the one that numbers the rows of its table, so that new ids tell all rows apart.
func (s offers) numbers(q *Question) bool {
	return s.plan != nil && !slices.ContainsFunc(q.Parts, func(p *Part) bool {
		return p.table == nil || p.table.Key() == nil || !slices.Equal(p.columns, []string{p.table.Key().Name})
	})
}

func dialectOf(p *plan.Plan) sqldialect.Dialect {
	for _, d := range []sqldialect.Dialect{sqldialect.MySQL, sqldialect.Postgres, sqldialect.SQLite} {
		if d.String() == p.Dialect {
			return d
		}
	}
	return 0
}

// likely is the least certainty of an answer that is called so.
const likely = 0.8

// markOf says of the first choice how far to trust it.
func markOf(c Choice, q *Question) string {
	switch {
	case c.Certainty >= likely:
		return "likely"
	case c.Certainty > 0, c.Answer == plan.AnswerPlain, q.OfKeys && q.asked.Proposed.IsZero() && q.Parts[0].Is != c.Answer:
		return ""
	}
	return "proposed"
}

// follows says what follows from an answer.
func (s offers) follows(q *Question, answer string) string {
	if q.OfKeys {
		return s.ruleFollows(answer)
	}
	switch answer {
	case plan.AnswerPlain:
		return "No ids: the values stay as they are. If they are ids after all, they will lead to other rows."
	case plan.AnswerKey:
		return "They number the rows of their own tables: the rows get new ids, and what refers to them follows."
	case plan.AnswerEach:
		if p := q.Parts[0]; len(q.Parts) == 1 && p.Is != "" {
			return "As proposed: " + p.Is + "."
		}
		return "Each column holds ids of the table that is named beside it."
	case plan.AnswerYes:
		return s.yesFollows(q)
	}
	if text := s.fieldsFollow(answer); text != "" {
		return text
	}
	if text := s.meaningFollows(answer); text != "" {
		return text
	}
	if s.plan == nil || s.plan.Table(answer) == nil {
		return fmt.Sprintf("Ids of %s: where its rows get new ids, the values follow.", answer)
	}
	t := s.plan.Table(answer)
	switch {
	case t.Skip:
		return fmt.Sprintf("Ids of %s, which is left out.", answer)
	case len(t.NewIDs) == 0:
		return fmt.Sprintf("Ids of %s, whose rows keep their ids: the values stay, and each must be one of them.", answer)
	}
	return fmt.Sprintf("Ids of %s, whose rows from %s get new ids: the values follow.", answer, strings.Join(t.NewIDs, ", "))
}

// yesFollows says what the plan does if it is right.
func (s offers) yesFollows(q *Question) string {
	if m := textOf(q.asked.Proposed); q.asked.Proposed.Meaning != nil {
		return "As proposed: " + m + "."
	}
	p := q.Parts[0]
	switch {
	case p.table != nil && len(p.columns) == 1 && p.table.Created == p.columns[0]:
		return "It says when a row was made: new ids have the time that it says."
	case p.Is != "" && !slices.ContainsFunc(q.Parts, func(other *Part) bool { return other.Is != p.Is }):
		return "As in the plan: " + p.Is + "."
	case !q.asked.Proposed.IsZero():
		return "As proposed: " + textOf(q.asked.Proposed) + "."
	}
	return "As in the plan."
}

// ruleFollows says what a rule does.
func (s offers) ruleFollows(rule string) string {
	first, last := "the first source", "a later source"
	suffix := "_SOURCE"
	if n := len(s.sources); n > 1 {
		first, last = s.sources[0], s.sources[n-1]
		suffix = "_" + last
	}
	switch plan.Rule(rule) {
	case plan.AnswerBoth:
		return "They are different things in spite of their ids: all rows are copied, and get new ids."
	case plan.RuleSuffix:
		return fmt.Sprintf("Both rows stay, and the one of %s is renamed: Aragorn becomes Aragorn%s. Columns that have the name as a text follow if the plan says that they are names.", last, suffix)
	case plan.RuleKeep:
		return fmt.Sprintf("They are the same thing: the row of %s stays, the one of %s is not copied, and what refers to it refers to the first.", first, last)
	case plan.RuleMatch:
		return fmt.Sprintf("They are the same thing in a dictionary: as keep, but the run stops where the rows of %s and %s differ.", first, last)
	case plan.RuleRenumber:
		return "The later rows get the lowest numbers that are free, as slots do."
	case plan.RuleFail:
		return "Such rows stop dry run and run: for keys where there must be none."
	}
	return ""
}
