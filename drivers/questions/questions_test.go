//go:build unix

// Package questions_test answers the questions of a merge's plan in a real browser, Debian's Chromium without a window. The
// command is the one that users have, and reads databases of SQLite.
package questions_test

import (
	"bufio"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	_ "github.com/ncruces/go-sqlite3/driver"
)

// build returns the command.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "snow")
	c := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	c.Dir, c.Env = filepath.Join("..", "..", "cmd", "snow"), append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// servers makes two databases, and returns the flags for them.
func servers(t *testing.T, dir string) (flags []string) {
	t.Helper()
	for _, name := range []string{"eu", "us"} {
		file := filepath.Join(dir, name+".db")
		db, err := sql.Open("sqlite3", "file:"+file)
		if err != nil {
			t.Fatal(err)
		}
		do := func(format string, args ...any) {
			t.Helper()
			if _, err := db.ExecContext(t.Context(), fmt.Sprintf(format, args...)); err != nil {
				t.Fatal(err)
			}
		}
		do("CREATE TABLE players (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, email TEXT UNIQUE)")
		do("CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id INTEGER NOT NULL, label TEXT)")
		do("CREATE TABLE houses (id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id INTEGER NOT NULL)")
		for i := 1; i <= 40; i++ {
			player, email := fmt.Sprintf("%s %d", name, i), fmt.Sprintf("%d@%s.example.org", i, name)
			if i%4 == 0 {
				email = fmt.Sprintf("%d@example.org", i)
			}
			if i == 7 {
				player = "<b>Aragorn</b>"
			}
			do("INSERT INTO players (name, email) VALUES ('%s', '%s')", player, email)
			do("INSERT INTO items (owner_id, label) VALUES (%d, 'sword of %s')", 41-i, name)
			do("INSERT INTO houses (owner_id) VALUES (%d)", i)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "--source", name+"="+file)
	}
	return flags
}

// A serving is the command with the page.
type serving struct {
	*exec.Cmd
	url  string
	plan string
}

func serve(t *testing.T) *serving {
	t.Helper()
	program, dir := build(t), t.TempDir()
	s := &serving{plan: filepath.Join(dir, "plan.yaml")}
	flags := append(servers(t, dir), "--dialect", "sqlite", "--plan", s.plan)
	if out, err := exec.CommandContext(t.Context(), program, append([]string{"merge", "inspect"}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.Cmd = exec.CommandContext(t.Context(), program, append([]string{"merge", "questions", "--serve"}, flags...)...)
	s.Stderr = os.Stderr
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s.url = strings.TrimSpace(strings.TrimPrefix(line, "the questions are at "))
	return s
}

func (s *serving) answers(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(s.plan)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestQuestionsInABrowser(t *testing.T) {
	one := newBrowser(t)
	s := serve(t)
	one.open(s.url)
	if text := one.text(); !strings.Contains(text, "questions are open") || !strings.Contains(text, "owner_id") {
		t.Fatal(text)
	}

	// Two tabs have the same question, with rows of both sources. The second answer is not written.
	one.click("#first")
	two := one.another()
	two.open(one.address())
	for _, want := range []string{"houses.owner_id", "items.owner_id", "40 of 40 different values are ids of players", "houses of eu", "houses of us", "1 eu 1", "2 us 2", "likely", "Evidence"} {
		if text := one.text(); !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	one.click(".likely button")
	if !strings.Contains(s.answers(t), "\n  answer: players") || one.address() == two.address() {
		t.Errorf("at %s: %s", one.address(), s.answers(t))
	}
	before := s.answers(t)
	two.click(".choices button[value=plain]")
	if text := two.text(); !strings.Contains(text, "answered since this page was shown") || !strings.Contains(text, "Answered: players") || s.answers(t) != before {
		t.Errorf("the second tab: %s", text)
	}

	// With the keyboard, and without anything in the way of it.
	two.next(func() {
		two.do(chromedp.Focus(chromedp.CSS(".choices button[value=plain]")), chromedp.KeyEvent(kb.Enter))
	})
	if after := s.answers(t); !strings.Contains(after, "\n  answer: plain") || strings.Contains(after, "\n  answer: players") {
		t.Errorf("with the keyboard: %s", after)
	}

	// Somebody edits the plan.
	edited := s.answers(t) + "# by hand\n"
	if err := os.WriteFile(s.plan, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	one.click(".likely button")
	if text := one.text(); !strings.Contains(text, "Somebody else has changed the plan") || s.answers(t) != edited {
		t.Errorf("a stale plan: %s", text)
	}
	one.click(".likely button")
	if after := s.answers(t); after == edited || !strings.Contains(after, "# by hand") {
		t.Errorf("after a look: %s", after)
	}

	// All others, and the end.
	for one.address() != s.url {
		one.fits()
		if evaluate[bool](one, `[...document.querySelectorAll("b")].some(b => b.textContent === "Aragorn")`) {
			t.Errorf("a value became markup: %s", one.text())
		}
		one.click(".choices button")
	}
	if text := one.text(); !strings.Contains(text, "Everything is decided") || !strings.Contains(text, "0 of ") {
		t.Error(text)
	}
	one.fits()
	one.check(s.url)
	two.check(s.url)
	one.click("footer button")
	if err := s.Wait(); err != nil {
		t.Errorf("the end: %v", err)
	}
	if text := one.text(); !strings.Contains(text, "You can close this page") {
		t.Error(text)
	}
}

// No page of another origin sends a form, and no other name reads the page, even if its owner knows the secrets.
func TestForgedRequestsOfABrowser(t *testing.T) {
	b := newBrowser(t)
	s := serve(t)
	b.open(s.url)
	b.click("#first")
	action := b.address()
	before := s.answers(t)
	hidden := evaluate[string](b, `[...document.querySelectorAll("main form input[type=hidden]")].map(i => i.outerHTML).join("")`)
	attacker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<form method="post" action="%s">%s<button name="answer" value="plain">win</button></form><iframe src="%s"></iframe>`, action, hidden, s.url)
	}))
	t.Cleanup(attacker.Close)
	b.do(chromedp.Navigate(attacker.URL))
	b.click("button")
	if text := b.text(); !strings.Contains(text, "the form is not from this page") || s.answers(t) != before {
		t.Errorf("a forged form: %s", text)
	}
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate("http://evil.example.org:" + u.Port() + u.Path))
	if text := b.text(); !strings.Contains(text, "not served under this name") {
		t.Errorf("a forged name: %s", text)
	}
	if err := s.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
}
