//go:build unix

package questions_test

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
)

// patience is how long a test waits for what the page should show.
const patience = 10 * time.Minute

// A tab is one of a Chromium, as large as a phone.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string // addresses that were asked for
	problems []string // what the policy refused
}

// newBrowser returns the first tab of a browser of its own, in which a stranger's name means this machine.
func newBrowser(t *testing.T) *tab {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil || testing.Short() {
		if os.Getenv("SNOW_REQUIRE_DB") == "1" && !testing.Short() {
			t.Fatal("chromium is not installed; make needs installs it")
		}
		t.Skip("needs chromium")
	}
	// As root, Chromium has no sandbox. It loads the pages of this test only.
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WSURLReadTimeout(patience), chromedp.NoSandbox,
		chromedp.Flag("host-resolver-rules", "MAP evil.example.org 127.0.0.1"), chromedp.UserDataDir(t.TempDir()))...)
	t.Cleanup(cancel)
	return newTab(ctx, t)
}

// another returns a new tab of the same browser.
func (b *tab) another() *tab { return newTab(b.ctx, b.t) }

func newTab(parent context.Context, t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil { // the tab lives as long as the context of the first call
		t.Fatal(err)
	}
	err := chromedp.Listen(ctx, func(event any) {
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

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

func evaluate[T any](b *tab, script string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return value
}

// open opens a page, and checks that it is no wider than the screen.
func (b *tab) open(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url), chromedp.WaitVisible(chromedp.CSS("body")))
	b.fits()
}

func (b *tab) fits() {
	b.t.Helper()
	if width := evaluate[int](b, "document.documentElement.scrollWidth"); width > 360 {
		b.t.Errorf("%s is %d pixels wide", b.address(), width)
	}
}

func (b *tab) address() string { return evaluate[string](b, "location.href") }

func (b *tab) text() string { return evaluate[string](b, "document.body.innerText") }

// click clicks at an element and waits for the next page.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.next(func() { b.do(chromedp.Click(chromedp.CSS(selector))) })
}

// next does something that leads to another page, and waits for it.
func (b *tab) next(do func()) {
	b.t.Helper()
	evaluate[bool](b, "window.isOld = true")
	do()
	// While pages change, there is none that could answer.
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		isNew, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!window.isOld && document.readyState === 'complete'"))
		if err == nil && isNew {
			return
		}
		if ctx.Err() != nil {
			b.t.Fatalf("no other page came: %v", err)
		}
	}
}

// check checks that the page asked nobody else, and that the policy refused nothing.
func (b *tab) check(url string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) < 5 {
		b.t.Errorf("the page asked for %q only", b.requests)
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, url) && !strings.HasSuffix(r, "/favicon.ico") {
			b.t.Errorf("the page asked for %s", r)
		}
	}
	for _, p := range b.problems {
		b.t.Error(p)
	}
}
