package questions

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// found is what evidence says of values and the ids of a table, couldBe the tables that a doubt names, and besides the
// other ones that evidence names.
var (
	found   = regexp.MustCompile(`(\d+) of (\d+) sampled values are ids of`)
	couldBe = regexp.MustCompile(`sampled values could be ids of ([^;]+)`)
	besides = regexp.MustCompile(`; they could be ids of (.+?)(?: and \d+ more)?, too`)
)

// listHint is what a doubt says about the answer. It is one of the choices.
const listHint = "; the answer for ids is {list: TABLE}"

// noKind is what follows where a plan does not name a kind.
const noKind = "which the plan does not name: the run would stop"

// isEach reports whether each part has a table of its own.
func (q *Question) isEach() bool {
	return len(q.asked.Candidates) > 0 && q.asked.Candidates[0].Answer == plan.AnswerEach
}

// isBlank reports whether the question has candidates and proposes none of them.
func (q *Question) isBlank() bool {
	return len(q.asked.Candidates) > 0 && (&plan.Question{Candidates: q.asked.Candidates}).Best() == nil
}

// evidenceFor returns the line of evidence that is about one part only, without its name, or "".
func (q *Question) evidenceFor(p *Part) string {
	for _, line := range q.Evidence {
		if text, ok := strings.CutPrefix(line, p.Name+": "); ok {
			return text
		}
	}
	return ""
}

// beside says on the line of a part which table its values are ids of, how certain that is, and why; "" if no evidence says so.
func (q *Question) beside(p *Part) string {
	table, why, ok := strings.Cut(q.evidenceFor(p), ": ")
	if q.isBlank() && ok {
		return fmt.Sprintf("ids of %s? %s", table, strings.TrimSpace(weight.ReplaceAllString(why, "")))
	}
	if !q.isEach() || !ok || p.Is != "" && p.Is != "ids of "+table {
		return ""
	}
	return fmt.Sprintf("ids of %s (%.0f %%): %s", table, 100*weightOf(why), strings.TrimSpace(weight.ReplaceAllString(why, "")))
}

// Besides is the evidence that is not on the line of a part.
func (q *Question) Besides() (lines []string) {
	for _, line := range q.Evidence {
		name, _, _ := strings.Cut(line, ": ")
		if !q.isEach() && !q.isBlank() || q.Parts[0].table == nil || strings.ContainsAny(name, " ,(") {
			lines = append(lines, line)
		}
	}
	return lines
}

// doubtfulFirst sorts the parts of a question with a table for each.
func (q *Question) doubtfulFirst() {
	if q.isEach() {
		slices.SortStableFunc(q.Parts, func(a, b *Part) int {
			return cmp.Compare(weightOf(q.evidenceFor(a)), weightOf(q.evidenceFor(b)))
		})
	}
}

// orphans returns how many sampled values are orphans if the likely answer is right.
func (q *Question) orphans() (n int) {
	lines := q.Evidence
	if own := q.evidenceFor(q.Parts[0]); len(q.Parts) == 1 && own != "" {
		lines = []string{own}
	}
	for _, line := range lines {
		if m := found.FindStringSubmatch(line); m != nil {
			hits, _ := strconv.Atoi(m[1])
			of, _ := strconv.Atoi(m[2])
			n += of - hits
		}
	}
	return n
}

// likelyTable returns the table of the likely answer, or "".
func (q *Question) likelyTable() string {
	if len(q.asked.Candidates) == 0 || len(q.asked.Suspects) > 0 || q.Parts[0].table == nil {
		return ""
	}
	best := ""
	if most := (&plan.Question{Candidates: q.asked.Candidates}).Best(); most != nil {
		best = most.Answer
	}
	switch table, ok := strings.CutPrefix(q.Parts[0].Is, "ids of "); {
	case best == "", best == plan.AnswerPlain, best == plan.AnswerKey, best == plan.AnswerYes:
		return ""
	case best != plan.AnswerEach:
		return best
	case ok && len(q.Parts) == 1:
		return table
	}
	return ""
}

// orphansNull reports whether all columns can have something in place of the id of a row that does not exist.
func (q *Question) orphansNull() bool {
	return !slices.ContainsFunc(q.Parts, func(p *Part) bool {
		c := p.table.Column(p.columns[0])
		return c == nil || !c.Nullable && len(c.None) == 0 || slices.Contains(p.table.PrimaryKey, c.Name)
	})
}

// isUndecided reports whether the plan takes the parts for nothing.
func (q *Question) isUndecided() bool {
	proposed := textOf(q.asked.Proposed)
	return proposed == string(plan.RoleUndecided) || proposed == "" && q.Parts[0].Is == string(plan.RoleUndecided)
}

// perhaps returns the tables that the evidence for a part names, the likely one first.
func (q *Question) perhaps(p *Part) (tables []string) {
	line := q.evidenceFor(p)
	if table, _, ok := strings.Cut(line, ": "); ok {
		tables = append(tables, table)
	}
	if m := besides.FindStringSubmatch(line); m != nil {
		tables = append(tables, strings.Split(m[1], ", ")...)
	}
	return tables
}

// couldBe returns the tables that the doubts name, and whether the values are lists.
func (q *Question) couldBe() (tables []string, lists bool) {
	for _, doubt := range q.Parts[0].Doubts {
		lists = lists || strings.Contains(doubt, listHint)
		if m := couldBe.FindStringSubmatch(doubt); m != nil {
			tables = append(tables, strings.Split(m[1], ", ")...)
		}
	}
	return tables, lists
}

// Notes are what else people have to know before they answer.
func (q *Question) Notes() (notes []string) {
	if n := q.orphans(); n > 0 && (q.isEach() || q.likelyTable() != "") {
		values := "1 sampled value leads"
		if n > 1 {
			values = fmt.Sprintf("%d sampled values lead", n)
		}
		notes = append(notes, values+" to no row: the run will stop, unless the answer says what becomes of such rows.")
	}
	of := map[string][]string{}
	for _, p := range q.Parts {
		if p.table == nil || q.OfKeys {
			continue
		}
		if c := p.table.Column(p.columns[0]); c != nil && c.HoldsReferences() && len(c.None) > 0 {
			none := strings.Join(c.None, ", ")
			of[none] = append(of[none], p.Name)
		}
	}
	for none, names := range of {
		notes = append(notes, fmt.Sprintf("%s stands for no row in %s.", none, listed(names, 4)))
	}
	slices.Sort(notes)
	return notes
}

// Progress says how many parts are answered, if some are; else it is empty.
func (q *Question) Progress() string {
	n := 0
	for _, p := range q.Parts {
		if p.Decided {
			n++
		}
	}
	if n == 0 || n == len(q.Parts) {
		return ""
	}
	return fmt.Sprintf("%d of %d parts answered", n, len(q.Parts))
}

// says is what is doubtful about a part, and what the plan takes it for.
func (q *Question) says(p *Part) string {
	text := strings.Join(p.Doubts, "; ")
	switch beside := q.beside(p); {
	case beside != "":
		text = beside
	case len(q.asked.Suspects) > 0 && q.isUndecided():
		text = strings.ReplaceAll(text, listHint, "")
	case p.Is != "" && (len(q.asked.Suspects) > 0 || q.isEach()):
		text = strings.TrimPrefix(text+"; in the plan: "+p.Is, "; ")
	}
	if p.Answer != "" {
		text = strings.TrimPrefix(text+"; answered "+p.Answer, "; ")
	}
	return text
}

// partLines lists the parts with their numbers. If all is the same of them, they are on one line, the first of them only if
// n is not 0.
func (q *Question) partLines(n int) (lines []string) {
	number := func(i int) string {
		if len(q.Parts) == 1 {
			return q.Parts[i].Name
		}
		return fmt.Sprintf("[%d]%s", i+1, q.Parts[i].Name)
	}
	same := !slices.ContainsFunc(q.Parts, func(p *Part) bool { return q.says(p) != q.says(q.Parts[0]) })
	var names []string
	for i, p := range q.Parts {
		names = append(names, number(i))
		lines = append(lines, strings.TrimSuffix(number(i)+": "+q.says(p), ": "))
	}
	if !same {
		return lines
	}
	if n > 0 {
		names = strings.Split(listed(names, 2*n), ", ")
	}
	return []string{strings.TrimSuffix(strings.Join(names, ", ")+": "+q.says(q.Parts[0]), ": ")}
}

// hasKind reports whether a column's values of a kind have a table or are no ids. Of NULL, and of values that are cut
// short, nobody knows here.
func hasKind(c *plan.Column, kind string) bool {
	return kind == "NULL" || strings.HasSuffix(kind, "…") ||
		slices.ContainsFunc(c.Refers, func(r *plan.Reference) bool { return r.Value == kind || r.Value == plan.AnyKind })
}

// rowsApart counts rows that were read whose values stand for no row, and rows of kinds that the plan has no table for.
func rowsApart(p *Part, columns []string, rows [][]string) (texts []string) {
	c := p.table.Column(p.columns[0])
	at, by := slices.Index(columns, c.Name), slices.Index(columns, c.By)
	none, kinds := 0, map[string]int{}
	for _, row := range rows {
		isNone := slices.Contains(c.None, row[at])
		if isNone {
			none++
		}
		if c.Role == plan.RolePolymorphic && by >= 0 && !isNone && !hasKind(c, row[by]) {
			kinds[row[by]]++
		}
	}
	if none > 0 {
		texts = append(texts, fmt.Sprintf("%d of %d rows have %s, which stands for no row", none, len(rows), strings.Join(c.None, " or ")))
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		texts = append(texts, fmt.Sprintf("%d of %d rows have %s %s, "+noKind, kinds[kind], len(rows), c.By, kind))
	}
	return texts
}

// kindsLeft says which kinds of rows the plan does not name after an answer, as far as samples show them.
func (of Sources) kindsLeft(ctx context.Context, s *Questionnaire, q *Question) (texts []string) {
	if s.plan == nil || q.OfKeys {
		return nil
	}
	now := *q
	now.Parts = nil
	for _, p := range q.Parts {
		answered := *p
		answered.table = s.plan.Table(p.table.Name)
		if c := answered.table.Column(p.columns[0]); c != nil && c.Role == plan.RolePolymorphic {
			now.Parts = append(now.Parts, &answered)
		}
	}
	for _, sample := range of.Samples(ctx, s, &now) {
		for _, text := range sample.Found {
			if strings.HasSuffix(text, noKind) {
				texts = append(texts, "source "+sample.Source+", "+sample.Table+": "+text)
			}
		}
	}
	return texts
}
