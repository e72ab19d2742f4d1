package questions

import (
	"context"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// served is a page that is served, and a browser without any cleverness.
type served struct {
	t     *testing.T
	url   string // with the secret path
	host  string
	file  string
	s     *Questionnaire
	ended chan error
}

func serveQuestions(t *testing.T) *served {
	t.Helper()
	return serveQuestionsOf(t, schema())
}

func serveQuestionsOf(t *testing.T, is *plan.Plan) *served {
	t.Helper()
	s, file := openedAt(t, is)
	ready := make(chan string, 1)
	p := &served{t: t, file: file, s: s, ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		p.ended <- Server{Title: "plan.yaml", Next: "snow merge settle", Ready: func(url string) { ready <- url }}.Serve(ctx, s)
	}()
	select {
	case p.url = <-ready:
	case err := <-p.ended:
		t.Fatal(err)
	}
	u, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	p.host = u.Host
	return p
}

// ask sends a request as a change of it wants, and returns the status, where to, and the page.
func (p *served) ask(method, path string, form url.Values, change func(*http.Request)) (status int, location, body string) {
	p.t.Helper()
	target := p.url + path
	if strings.HasPrefix(path, "/") {
		target = "http://" + p.host + path
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if change != nil {
		change(r)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	if got := answer.Header.Get("Content-Security-Policy"); got != policy {
		p.t.Errorf("%s %s: policy %q", method, path, got)
	}
	return answer.StatusCode, answer.Header.Get("Location"), string(b)
}

var hidden = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`)

var checked = regexp.MustCompile(`<input type="checkbox" name="part" value="([^"]*)" checked>`)

// allOf is formOf with all parts that are chosen on the page.
func allOf(body, answer string) url.Values {
	form := formOf(body, answer)
	for _, m := range checked.FindAllStringSubmatch(body, -1) {
		form.Add("part", html.UnescapeString(m[1]))
	}
	return form
}

// formOf returns the form of a page, with an answer for no part of several.
func formOf(body, answer string) url.Values {
	form := url.Values{"answer": {answer}}
	for _, m := range hidden.FindAllStringSubmatch(body, 3) {
		form.Set(m[1], m[2])
	}
	return form
}

func (p *served) question(n int) string { return "q/" + p.s.All[n].ID }

func TestPage(t *testing.T) {
	p := serveQuestions(t)
	_, _, list := p.ask("GET", "", nil, nil)
	for _, want := range []string{"4 of 4 questions are open", "<em>open</em>", "Answer the next question", "houses.kind and 1 more"} {
		if !strings.Contains(list, want) {
			t.Errorf("no %q in %s", want, list)
		}
	}
	if strings.Contains(list, "<script") || strings.Contains(list, "style=") {
		t.Error("the page has what its policy refuses")
	}
	path := p.question(0)
	_, _, body := p.ask("GET", path, nil, nil)
	for _, want := range []string{`<li class="likely"><button name="answer" value="players">players</button> <b>likely</b> <b>84 %</b>`, "a view joins them", "No sample"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in %s", want, body)
		}
	}
	status, location, _ := p.ask("POST", path, allOf(body, "players"), nil)
	if status != http.StatusSeeOther || !strings.HasSuffix(location, p.question(1)) || !strings.Contains(contents(t, p.file), "answer: players") {
		t.Fatalf("%d to %q: %s", status, location, contents(t, p.file))
	}
	for n := 1; n < 4; n++ {
		_, _, body = p.ask("GET", p.question(n), nil, nil)
		if status, location, body = p.ask("POST", p.question(n), allOf(body, p.s.All[n].Choices()[0].Answer), nil); status != http.StatusSeeOther {
			t.Fatalf("%d: %s", status, body)
		}
	}
	if _, _, body = p.ask("GET", location, nil, nil); !strings.Contains(body, "Everything is decided") || !strings.Contains(body, "snow merge settle") {
		t.Error(body)
	}
	_, _, body = p.ask("GET", path, nil, nil)
	if status, _, _ := p.ask("POST", path, allOf(body, "back"), nil); status != http.StatusSeeOther || p.s.Open() != 1 {
		t.Errorf("taken back: %d, %d open", status, p.s.Open())
	}
	_, _, body = p.ask("GET", path, nil, nil)
	other := allOf(body, "other")
	other.Set("other", "{to: guilds}")
	if status, _, body := p.ask("POST", path, other, nil); status != http.StatusSeeOther || !strings.Contains(contents(t, p.file), "{to: guilds}") {
		t.Errorf("%d: %s", status, body)
	}
	_, _, body = p.ask("GET", "", nil, nil)
	if status, _, body := p.ask("POST", "end", formOf(body, ""), nil); status != http.StatusOK || !strings.Contains(body, "You can close this page") {
		t.Errorf("%d: %s", status, body)
	}
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
}

// An answer is for the parts that are chosen. The others have the next page, which is the same question.
func TestPageOfParts(t *testing.T) {
	p := serveQuestions(t)
	path := p.question(3)
	_, _, body := p.ask("GET", path, nil, nil)
	form := formOf(body, "keep")
	form["part"] = []string{"guilds(name)"}
	status, location, _ := p.ask("POST", path, form, nil)
	if status != http.StatusSeeOther || !strings.HasSuffix(location, path) {
		t.Errorf("%d to %q", status, location)
	}
	_, _, body = p.ask("GET", path, nil, nil)
	for _, want := range []string{"answered keep", `value="guilds(name)">`, `value="players(name)" checked>`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in %s", want, body)
		}
	}
	form = formOf(body, "suffix")
	if status, _, body := p.ask("POST", path, form, nil); status != http.StatusBadRequest || !strings.Contains(body, "nothing was chosen") {
		t.Errorf("%d: %s", status, body)
	}
	one := "q/" + p.s.All[3].Apart()[1].ID
	_, _, body = p.ask("GET", one, nil, nil)
	if status, location, _ := p.ask("POST", one, formOf(body, "suffix"), nil); status != http.StatusSeeOther || !strings.HasSuffix(location, p.question(0)) || p.s.All[3].Answer() != "different ones" {
		t.Errorf("%d to %q: %q", status, location, described(p.s))
	}
}

// Nobody else is answered: no other name of this address, no page of another origin, nobody without the secret path.
func TestPageIsForOnePerson(t *testing.T) {
	p := serveQuestions(t)
	path := p.question(0)
	_, _, body := p.ask("GET", path, nil, nil)
	before := contents(t, p.file)
	_, port, err := net.SplitHostPort(p.host)
	if err != nil {
		t.Fatal(err)
	}
	good := allOf(body, "players")
	without := allOf(body, "players")
	without.Del("form")
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for _, tt := range []struct {
		what, method, path string
		form               url.Values
		change             func(*http.Request)
		status             int
	}{
		{"a name that a stranger owns", "GET", "", nil, host("evil.example.org:" + port), 421},
		{"the same with a form", "POST", path, good, host("evil.example.org:" + port), 421},
		{"another port", "GET", "", nil, host("127.0.0.1:1"), 421},
		{"no port", "GET", "", nil, host("127.0.0.1"), 421},
		{"localhost", "GET", "", nil, host("localhost:" + port), 200},
		{"no secret", "GET", "/", nil, nil, 404},
		{"another secret", "GET", "/AAAAAAAAAAAAAAAAAAAAAAAAAA/", nil, nil, 404},
		{"another secret with a form", "POST", "/AAAAAAAAAAAAAAAAAAAAAAAAAA/" + path, good, nil, 404},
		{"a form of another origin", "POST", path, good, header("Origin", "https://evil.example.org"), 403},
		{"a form of another port", "POST", path, good, header("Origin", "http://127.0.0.1:1"), 403},
		{"a form of no origin", "POST", path, good, header("Origin", "null"), 403},
		{"a form of another site", "POST", path, good, header("Sec-Fetch-Site", "cross-site"), 403},
		{"a form of the same site", "POST", path, good, header("Sec-Fetch-Site", "same-site"), 403},
		{"a form without its secret", "POST", path, without, nil, 403},
		{"the end without its secret", "POST", "end", without, nil, 403},
		{"an answer in the address", "GET", path + "?" + good.Encode(), nil, nil, 200},
		{"the end by an address", "GET", "end", nil, nil, 405},
		{"another method", "PUT", path, good, nil, 405},
		{"another method for the list", "POST", "", good, nil, 405},
		{"another page", "GET", "nix", nil, nil, 404},
		{"another question", "GET", "q/nix", nil, nil, 404},
		{"a question of before", "POST", "q/nix", good, nil, 409},
		{"no answer", "POST", path, allOf(body, ""), nil, 400},
		{"an impossible answer", "POST", path, allOf(body, "boats"), nil, 400},
	} {
		if status, _, body := p.ask(tt.method, tt.path, tt.form, tt.change); status != tt.status {
			t.Errorf("%s: %d, want %d: %.300s", tt.what, status, tt.status, body)
		}
		if contents(t, p.file) != before {
			t.Fatalf("%s: the plan was changed", tt.what)
		}
	}
	same := func(r *http.Request) {
		r.Header.Set("Origin", "http://"+p.host)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if status, _, body := p.ask("POST", path, good, same); status != http.StatusSeeOther || contents(t, p.file) == before {
		t.Errorf("the page's own form: %d: %s", status, body)
	}
	if !strings.HasPrefix(p.url, "http://127.0.0.1:") {
		t.Errorf("the page is at %s", p.url)
	}
}

func TestFormThatIsTooLong(t *testing.T) {
	g := newGuard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was answered") }), "80")
	form := url.Values{"form": {g.form}, "other": {strings.Repeat("x", mostBody)}}
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:80/"+g.secret+"/q/a", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	if g.ServeHTTP(w, r); w.Code != http.StatusForbidden {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

// Two tabs, and a file that somebody else changes: an answer to what is not so any more is not written.
func TestPageThatIsStale(t *testing.T) {
	p := serveQuestions(t)
	path := p.question(0)
	_, _, one := p.ask("GET", path, nil, nil)
	_, _, two := p.ask("GET", path, nil, nil)
	if status, _, _ := p.ask("POST", path, allOf(one, "players"), nil); status != http.StatusSeeOther {
		t.Fatal(status)
	}
	status, _, body := p.ask("POST", path, allOf(two, "plain"), nil)
	if status != http.StatusConflict || !strings.Contains(body, "answered since this page was shown") || !strings.Contains(body, "Answered: <b>players</b>") {
		t.Errorf("the second tab: %d: %s", status, body)
	}
	_, _, three := p.ask("GET", p.question(3), nil, nil)
	changed := contents(t, p.file) + "# by hand\n"
	if err := os.WriteFile(p.file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	status, _, body = p.ask("POST", p.question(3), allOf(three, "keep"), nil)
	if status != http.StatusConflict || !strings.Contains(body, "Somebody else has changed the plan") || contents(t, p.file) != changed {
		t.Errorf("a stale plan: %d: %s", status, body)
	}
	if status, _, body = p.ask("POST", p.question(3), allOf(body, "keep"), nil); status != http.StatusSeeOther || !strings.Contains(contents(t, p.file), "# by hand") {
		t.Errorf("and again: %d: %s", status, body)
	}
	if err := os.WriteFile(p.file, []byte("version: 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, body = p.ask("GET", "", nil, nil); status != http.StatusConflict || !strings.Contains(body, "The plan can&#39;t be read") {
		t.Errorf("a plan of something else: %d: %s", status, body)
	}
	if status, _, _ = p.ask("POST", path, allOf(one, "plain"), nil); status != http.StatusConflict || contents(t, p.file) != "version: 2\n" {
		t.Errorf("an answer to it: %d", status)
	}
}

// What comes from databases and files is text on the page.
func TestPageEscapes(t *testing.T) {
	s, file := opened(t, schema())
	evil := `'<script>evil()</script>"><img src=x onerror=evil()>'`
	text := strings.Replace(contents(t, file), "'a view joins them'", evil, 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Refresh(); err != nil {
		t.Fatal(err)
	}
	p, err := newPages(s, Server{Title: evil})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	v := view{Title: evil, Alert: evil, All: s.All, Question: s.All[0], Samples: []Sample{{Source: evil, Table: evil, Columns: []string{evil}, Asked: []bool{true}, Rows: [][]string{{evil}}}}}
	if err := p.template.Execute(&b, v); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<script") || strings.Contains(b.String(), "<img") || strings.Count(b.String(), "evil()") < 6 {
		t.Error(b.String())
	}
}

func TestServeOnAPortThatIsTaken(t *testing.T) {
	p := serveQuestions(t)
	var port int
	if _, err := fmt.Sscanf(p.host, "127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	s, _ := opened(t, schema())
	if err := (Server{Port: port, Ready: func(string) { t.Error("it is ready") }}).Serve(t.Context(), s); err == nil {
		t.Error("two pages have one port")
	}
}
