package questions

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// A Questionnaire is the questions of a plan's file, and takes the answers. It is not safe for concurrent use.
type Questionnaire struct {
	All []*Question // in the order of the file

	file     *file
	schema   *plan.Plan      // of the sources, without decisions; nil if it is not known
	names    map[string]bool // of its tables and columns
	plan     *plan.Plan      // with the decisions of the file; nil without a schema
	proposed *plan.Plan      // the same without answers to its questions
	faults   []string        // what is wrong with plan, besides what is not decided
	doc      *document
}

// Open reads the questions of a plan in its short form. The schema is what [merge.ReadSchema] returns for its sources.
// It may be nil: then the questions are as the file has them, and answers are checked less.
func Open(path string, schema *plan.Plan) (*Questionnaire, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	s := &Questionnaire{file: f, schema: schema, names: namesOf(schema)}
	return s, s.read(f.data)
}

// Of returns the questions of decisions that are in no file, to be counted and shown: it takes no answers.
func Of(d *plan.Decisions, schema *plan.Plan) (*Questionnaire, error) {
	var b bytes.Buffer
	if err := d.WriteYAML(&b); err != nil {
		return nil, err
	}
	s := &Questionnaire{file: &file{data: b.Bytes()}, schema: schema, names: namesOf(schema)}
	return s, s.read(s.file.data)
}

// ToDecide lists what keeps a plan from being merged: its open questions, as many as [Questionnaire.Open] counts, what is
// wrong with it, and what is not decided and in no question.
func (s *Questionnaire) ToDecide() (open, wrong []string) {
	for _, q := range s.All {
		if !q.IsAnswered() {
			open = append(open, q.Name+": "+q.Text)
		}
	}
	wrong = slices.Clone(s.faults)
	if len(open)+len(wrong) == 0 && s.plan != nil {
		wrong = errorsOf(s.plan.Check())
	}
	return open, wrong
}

// read takes the questions of a file's text.
func (s *Questionnaire) read(data []byte) error {
	doc, err := parse(data)
	if err != nil {
		return err
	}
	p, err := s.complete(doc)
	if err != nil {
		return err
	}
	return s.take(doc, p)
}

// take goes on with a file's text, and the plan of it.
func (s *Questionnaire) take(doc *document, p *plan.Plan) error {
	unanswered := *doc
	decisions := *doc.decisions
	decisions.Questions = nil
	for _, q := range doc.decisions.Questions {
		open := *q
		open.Answer = plan.Answer{}
		decisions.Questions = append(decisions.Questions, &open)
	}
	unanswered.decisions = &decisions
	proposed, err := s.complete(&unanswered)
	if err != nil {
		return err
	}
	s.doc, s.plan, s.proposed, s.faults = doc, p, proposed, faultsOf(p)
	for _, n := range doc.decisions.Schema {
		table, _, _ := strings.Cut(n.Text, "=")
		s.names[table] = true
	}
	s.All = s.group()
	return nil
}

// complete returns the plan of some decisions, or nil without a schema.
func (s *Questionnaire) complete(doc *document) (*plan.Plan, error) {
	if s.schema == nil {
		return nil, nil
	}
	return doc.decisions.Rebind(s.schema)
}

// faultsOf returns what is wrong with a plan. What is only not decided is not.
func faultsOf(p *plan.Plan) (faults []string) {
	if p == nil {
		return nil
	}
	open := *p
	open.Questions, open.Tables = nil, nil
	for _, t := range p.Tables { // with all doubts out of the way
		table := *t
		table.Columns, table.Unique = nil, nil
		for _, c := range t.Columns {
			column := *c
			column.Suspects = nil
			if column.Role == plan.RoleUndecided {
				column.Role = plan.RolePlain
			}
			table.Columns = append(table.Columns, &column)
		}
		for _, u := range t.Unique {
			unique := *u
			unique.Suspects = nil
			table.Unique = append(table.Unique, &unique)
		}
		open.Tables = append(open.Tables, &table)
	}
	return errorsOf(open.Check())
}

// errorsOf returns the texts of errors that are joined.
func errorsOf(err error) (texts []string) {
	if err == nil {
		return nil
	}
	all := []error{err}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		all = joined.Unwrap()
	}
	for _, one := range all {
		texts = append(texts, strings.TrimPrefix(one.Error(), "plan: "))
	}
	return texts
}

// Open returns how many questions have no answer.
func (s *Questionnaire) Open() (n int) {
	for _, q := range s.All {
		if !q.IsAnswered() {
			n++
		}
	}
	return n
}

// placeOf returns the place of a question that has an id, or a part that has it; -1 if there is none.
func (s *Questionnaire) placeOf(id string) int {
	return slices.IndexFunc(s.All, func(q *Question) bool {
		return q.ID == id || slices.ContainsFunc(q.Apart(), func(one *Question) bool { return one.ID == id })
	})
}

// Find returns the question of an id, or nil: also one about a part of another one.
func (s *Questionnaire) Find(id string) *Question {
	at := s.placeOf(id)
	switch {
	case at < 0:
		return nil
	case s.All[at].ID == id:
		return s.All[at]
	}
	apart := s.All[at].Apart()
	return apart[slices.IndexFunc(apart, func(one *Question) bool { return one.ID == id })]
}

// Refresh reads the file again if somebody has changed it, and reports whether somebody did.
func (s *Questionnaire) Refresh() (bool, error) {
	changed, err := s.file.isChanged()
	if err != nil || !changed {
		return false, err
	}
	return true, s.readAgain()
}

// readAgain takes the questions of a file that somebody else has changed. If it can't be read, the next call of Refresh
// tries it once more.
func (s *Questionnaire) readAgain() error {
	err := s.read(s.file.data)
	if err != nil {
		s.file.data = nil
	}
	return err
}

// Answer writes an answer to a question into the file: one of its choices, or what else could be written there. The
// empty answer takes the former one back. It returns what is wrong with the plan now and was not before. An answer
// that contradicts the rest of the plan is an error, and so is a file that somebody else has changed, with
// [ErrChanged]. Then nothing is written.
func (s *Questionnaire) Answer(q *Question, answer string) (wrong []string, err error) {
	switch changed, err := s.Refresh(); {
	case err != nil:
		return nil, err
	case changed:
		return nil, ErrChanged
	}
	data, doc, p, err := s.with(q, answer)
	if err != nil {
		return nil, err
	}
	if err := s.file.replace(data); err != nil {
		if again := s.readAgain(); errors.Is(err, ErrChanged) && again != nil {
			err = again
		}
		return nil, err
	}
	before := s.faults
	if err := s.take(doc, p); err != nil {
		return nil, err
	}
	return added(before, s.faults), nil
}

// added returns the texts of after that are not in before.
func added(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(after), func(text string) bool { return slices.Contains(before, text) })
}

// Wrong returns what would be wrong with the plan after an answer, and is not now.
func (s *Questionnaire) Wrong(q *Question, answer string) []string {
	if s.plan == nil {
		return nil
	}
	_, _, p, err := s.with(q, answer)
	if err != nil {
		return []string{err.Error()}
	}
	return added(s.faults, faultsOf(p))
}

// with returns the file with an answer, and its plan.
func (s *Questionnaire) with(q *Question, answer string) ([]byte, *document, *plan.Plan, error) {
	doc, err := parse(s.file.data)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := s.write(doc, q, answer); err != nil {
		return nil, nil, nil, err
	}
	data, err := doc.bytes()
	if err != nil {
		return nil, nil, nil, err
	}
	if doc, err = parse(data); err != nil {
		return nil, nil, nil, fmt.Errorf("the answer %q: %w", answer, err)
	}
	p, err := s.complete(doc)
	return data, doc, p, err
}

// write puts an answer beside the entries of the file that have the parts of a question. An entry that has other parts
// too is divided.
func (s *Questionnaire) write(doc *document, q *Question, answer string) error {
	if answer == "" && !slices.ContainsFunc(q.Parts, func(p *Part) bool { return p.Answer != "" }) {
		return errors.New("nothing is answered here that could be taken back: other entries of the file decide it")
	}
	entries := map[int][]*Part{}
	for _, part := range q.Parts {
		entries[part.entry] = append(entries[part.entry], part)
	}
	places := slices.Sorted(maps.Keys(entries))
	slices.Reverse(places) // those before a new one keep their places
	for _, at := range places {
		to, err := s.divide(doc, at, entries[at])
		if err != nil {
			return err
		}
		if err := doc.answer(to, answer); err != nil {
			return err
		}
	}
	return nil
}

// divide returns the place of an entry that has some parts and no others.
func (s *Questionnaire) divide(doc *document, at int, parts []*Part) (int, error) {
	var mine, rest, mineInFile, restInFile []string
	for _, p := range s.parts(at) {
		if slices.ContainsFunc(parts, func(other *Part) bool { return other.Name == p.Name }) {
			mine, mineInFile = append(mine, p.Name), append(mineInFile, p.text)
		} else {
			rest, restInFile = append(rest, p.Name), append(restInFile, p.text)
		}
	}
	if len(rest) == 0 {
		return at, nil
	}
	ofKeys := len(doc.decisions.Questions[at].Unique) > 0
	if ofKeys && slices.ContainsFunc(mineInFile, func(text string) bool { return slices.Contains(restInFile, text) }) {
		return 0, errors.New("the file names several unique keys by one pattern: name them one by one there")
	}
	to := doc.split(at)
	if ofKeys {
		doc.keepKeys(to, func(text string) bool { return slices.Contains(mineInFile, text) })
		doc.keepKeys(at, func(text string) bool { return !slices.Contains(mineInFile, text) })
		return to, nil
	}
	doc.columns(to, mine)
	doc.columns(at, rest)
	return to, nil
}
