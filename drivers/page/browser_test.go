//go:build unix

package page_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a test waits for what the page should show. Only a failing test uses it up.
const patience = 10 * time.Minute

// A browser is a tab of a Chromium of its own, as large as a phone.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string // addresses that were asked for
	problems []string // errors of scripts, and what the policy refused
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil || testing.Short() {
		if os.Getenv("SNOW_REQUIRE_DB") == "1" && !testing.Short() {
			t.Fatal("chromium is not installed; make needs installs it")
		}
		t.Skip("needs chromium")
	}
	// As root, Chromium has no sandbox. It loads the pages of this test only.
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WSURLReadTimeout(patience), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil { // the browser lives as long as the context of the first call
		t.Fatal(err)
	}
	err = chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			b.requests = append(b.requests, e.Request.URL)
		case *runtime.EventExceptionThrown:
			b.problems = append(b.problems, fmt.Sprintf("%+v", e.ExceptionDetails))
		case *log.EventEntryAdded:
			if e.Entry.Source == log.EntrySourceSecurity || strings.Contains(e.Entry.Text, "Content Security Policy") {
				b.problems = append(b.problems, e.Entry.Text)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	return b
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) open(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url), chromedp.WaitVisible(chromedp.ID("live")))
}

// decode types an id and waits for what it says.
func (b *browser) decode(id string) {
	b.t.Helper()
	b.do(chromedp.SendKeys(chromedp.ID("id"), id+kb.Enter), chromedp.WaitVisible(chromedp.ID("decoded")))
}

func (b *browser) text(selector string) string {
	b.t.Helper()
	return evaluate[string](b, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// strings returns the value of a script.
func (b *browser) strings(script string) []string {
	b.t.Helper()
	return evaluate[[]string](b, script)
}

func evaluate[T any](b *browser, script string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return value
}

// await waits until a script is true.
func (b *browser) await(script string) {
	b.t.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Poll[chromedp.Void](script, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(patience)))
	if err != nil {
		focus := evaluate[string](b, `document.activeElement.outerHTML.slice(0, 200)`)
		b.t.Fatalf("%s: %v; the focus is on %s; the page shows %s", script, err, focus, b.text("#alarm"))
	}
}

// check checks that the page asked nobody else, and that no script failed.
func (b *browser) check(url string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) < 5 {
		b.t.Errorf("the page asked for %q only", b.requests)
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, url+"/") {
			b.t.Errorf("the page asked for %s", r)
		}
	}
	for _, p := range b.problems {
		b.t.Error(p)
	}
}
