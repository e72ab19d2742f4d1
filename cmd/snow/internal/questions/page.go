package questions

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle []byte

// pages are the handler of the page. Paths are below the secret one.
type pages struct {
	Server
	template *template.Template
	base     string // the secret path
	form     string // what forms repeat
	end      func()

	mu      sync.Mutex // for all below
	s       *Questionnaire
	changes int // of the file, by others
}

func newPages(s *Questionnaire, c Server) (*pages, error) {
	t, err := template.New("page").Funcs(template.FuncMap{
		"percent": func(x float64) string { return fmt.Sprintf("%.0f %%", x*100) },
	}).Parse(pageText)
	return &pages{Server: c, template: t, s: s}, err
}

// Says is what the page says of a part.
func (v view) Says(p *Part) string { return v.Question.says(p) }

// IsChosen reports whether an answer is for a part unless somebody chooses otherwise.
func (v view) IsChosen(p *Part) bool { return !p.Decided || v.Question.IsAnswered() }

// PageOf is the id of a part's own page.
func (v view) PageOf(p *Part) string {
	return v.Question.Only(func(other *Part) bool { return other == p }).ID
}

// A view is what a page shows.
type view struct {
	Title, Next, Base, Form string

	Alert     string
	Ended     bool
	All       []*Question
	Open      int
	FirstOpen string      // the id of a question
	Sure      []*Question // that are nearly certain
	Faults    []string    // of the plan
	Changes   int

	Question      *Question // of a page about one; nil for the list of all
	Number        int
	Of            *Question // that it is a part of
	Before, After string    // ids
	Samples       []Sample
	Impossible    map[string][]string // by answers
}

// ServeHTTP answers a request that the guard has let through.
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, ofQuestion := strings.CutPrefix(r.URL.Path, "/q/")
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case r.URL.Path == "/style.css" && read:
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write(pageStyle) // the client is gone
	case r.URL.Path != "/" && r.URL.Path != "/end" && r.URL.Path != "/sure" && !ofQuestion:
		http.Error(w, "unknown page", http.StatusNotFound)
	case read && (r.URL.Path == "/end" || r.URL.Path == "/sure"), !read && (r.Method != http.MethodPost || r.URL.Path == "/"):
		http.Error(w, "the page has no such method", http.StatusMethodNotAllowed)
	default:
		changed, err := p.s.Refresh()
		if changed {
			p.changes++
		}
		switch {
		case err != nil:
			p.show(w, http.StatusConflict, view{Alert: "The plan can't be read: " + err.Error()})
		case r.URL.Path == "/end":
			p.show(w, http.StatusOK, view{Ended: true})
			p.end()
		case r.URL.Path == "/sure":
			p.takeSure(w, r)
		case !ofQuestion:
			p.show(w, http.StatusOK, view{})
		case read:
			p.ask(w, r, http.StatusOK, id, "")
		default:
			p.take(w, r, id)
		}
	}
}

// ask shows the page of a question.
func (p *pages) ask(w http.ResponseWriter, r *http.Request, status int, id, alert string) {
	q := p.s.Find(id)
	if q == nil {
		p.show(w, http.StatusNotFound, view{Alert: strings.TrimSpace(alert + " This question is not in the plan any more.")})
		return
	}
	v := view{Alert: alert, Question: q, Samples: p.Sources.Samples(r.Context(), p.s, q), Impossible: map[string][]string{}}
	at := p.s.placeOf(id)
	if v.Number = at + 1; p.s.All[at].ID != id {
		v.Of = p.s.All[at]
	}
	v.Before, v.After = p.s.All[max(at-1, 0)].ID, p.s.All[min(at+1, len(p.s.All)-1)].ID
	for _, c := range q.Choices() {
		v.Impossible[c.Answer] = p.s.Wrong(q, c.Answer)
	}
	p.show(w, status, v)
}

// take writes an answer, unless what was shown is not so any more.
func (p *pages) take(w http.ResponseWriter, r *http.Request, id string) {
	q := p.s.Find(id)
	form := r.PostForm
	answer := strings.TrimSpace(form.Get("answer"))
	if answer == "other" {
		answer = strings.TrimSpace(form.Get("other"))
	}
	only := q
	if q != nil && len(q.Parts) > 1 {
		only = q.Only(func(part *Part) bool { return slices.Contains(form["part"], part.Name) })
	}
	switch {
	case q == nil:
		p.show(w, http.StatusConflict, view{Alert: "The plan has changed, and this question is not in it any more. Nothing was written."})
		return
	case form.Get("changes") != fmt.Sprint(p.changes):
		p.ask(w, r, http.StatusConflict, id, "Somebody else has changed the plan since this page was shown. Nothing was written: look again, and answer again.")
		return
	case form.Get("state") != q.State():
		p.ask(w, r, http.StatusConflict, id, "This question was answered since this page was shown, as in another tab. Nothing was written: look again.")
		return
	case answer == "" || len(only.Parts) == 0:
		p.ask(w, r, http.StatusBadRequest, id, "There was no answer, or nothing was chosen that it is for.")
		return
	case answer == "back":
		answer = ""
	}
	switch _, err := p.s.Answer(only, answer); {
	case errors.Is(err, ErrChanged):
		p.changes++
		p.ask(w, r, http.StatusConflict, id, "Somebody else has changed the plan just now. Nothing was written: look again, and answer again.")
	case err != nil:
		p.ask(w, r, http.StatusBadRequest, id, "This answer is not possible: "+err.Error())
	default:
		w.Header().Set("Location", p.base+p.nextOf(id))
		w.WriteHeader(http.StatusSeeOther)
	}
}

// takeSure writes the likely answers of some questions that are nearly certain.
func (p *pages) takeSure(w http.ResponseWriter, r *http.Request) {
	if r.PostForm.Get("changes") != fmt.Sprint(p.changes) {
		p.show(w, http.StatusConflict, view{Alert: "Somebody else has changed the plan since this page was shown. Nothing was written: look again."})
		return
	}
	for _, shown := range r.PostForm["sure"] {
		id, state, _ := strings.Cut(shown, " ")
		q := p.s.Find(id)
		if q == nil || q.State() != state || len(q.Choices()) == 0 {
			p.show(w, http.StatusConflict, view{Alert: "A question was answered since this page was shown, as in another tab. The answers before it were written: look again."})
			return
		}
		if _, err := p.s.Answer(q, q.Choices()[0].Answer); err != nil {
			if errors.Is(err, ErrChanged) {
				p.changes++
			}
			p.show(w, http.StatusConflict, view{Alert: q.Name + ": " + err.Error()})
			return
		}
	}
	w.Header().Set("Location", p.base)
	w.WriteHeader(http.StatusSeeOther)
}

// nextOf returns the page after an answer, below the secret path: the next question without an answer, which is the same one if it has
// parts without one, or the list.
func (p *pages) nextOf(id string) string {
	at := p.s.placeOf(id)
	if at < 0 {
		return ""
	}
	for i := range p.s.All {
		if q := p.s.All[(at+i)%len(p.s.All)]; !q.IsAnswered() {
			return "q/" + q.ID
		}
	}
	return ""
}

// show writes a page.
func (p *pages) show(w http.ResponseWriter, status int, v view) {
	v.Title, v.Next, v.Base, v.Form, v.All, v.Open, v.Faults, v.Changes = p.Title, p.Next, p.base, p.form, p.s.All, p.s.Open(), p.s.faults, p.changes
	v.Sure = sureOf(p.s)
	for _, q := range p.s.All {
		if !q.IsAnswered() {
			v.FirstOpen = q.ID
			break
		}
	}
	var b bytes.Buffer
	if err := p.template.Execute(&b, v); err != nil {
		http.Error(w, "the page can't be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD"))) // the client is gone
}
