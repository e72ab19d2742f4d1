//go:build unix

package page_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/shardsnow/snow/httpsnow/page"
	"github.com/shardsnow/snow/sqlsnow"
)

// TestWall looks at 200 workers in six namespaces, nine of them late, on a screen and on a phone, in light and dark
// colours. SNOW_SCREENSHOTS names a folder for pictures.
func TestWall(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	d := newDatabase(t, sqlsnow.SQLite, spaces()...)
	handler, err := page.New([]page.Database{{DB: d.DB, Dialect: d.dialect}}, page.Config{
		Every: 500 * time.Millisecond, Timeout: patience, Logger: slog.New(slog.DiscardHandler),
		Totals: func() page.Totals { return page.Totals{IDs: 40, Refused: 9} },
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	d.live(t)
	for _, tt := range []struct {
		width, height int64
		colours       string
	}{{1280, 800, "light"}, {390, 844, "dark"}} {
		b.do(chromedp.EmulateViewport(tt.width, tt.height), prefers(tt.colours))
		b.open(server.URL + "/")
		b.picture(fmt.Sprint(tt.width))
		b.none("the line on top is not on the first screen", `const a = document.getElementById("alarm"), r = a.getBoundingClientRect();
			return r.top < 0 || r.bottom > 200 || !a.innerText.includes("9 leases are late: chat 3, orders 6") || document.title !== "(9 late) snow" ? [a.innerText] : []`)
		b.none("links that lead nowhere", `return [...document.querySelectorAll("#live a[href]")].filter(a => !document.getElementById(decodeURIComponent(a.hash.slice(1)))).map(a => a.href)`)
		b.none("wider than the screen", `return document.documentElement.scrollWidth > innerWidth ? [document.documentElement.scrollWidth] : []`)
		b.none("times that are off the screen", `return [...document.querySelectorAll("td:not(.more) time, .holder")].filter(e => e.getBoundingClientRect().right > innerWidth).map(e => e.innerText)`)
		b.none("grids that do not fit one screen", `return [...document.querySelectorAll(".grid")].filter(g => g.children.length !== 1024 || g.offsetHeight > innerHeight || g.offsetWidth > innerWidth).map(g => g.offsetHeight)`)
		b.none("states that look alike", alike)
		b.none("text that is hard to read", faint)
		b.none("holders that are not there as a whole", `return [...document.querySelectorAll(".late-leases .holder bdi")].filter(h => h.title !== h.textContent).map(h => h.title)`)
	}
	if got := b.strings(`[...document.querySelectorAll("tr[data-late='234'] .holder bdi")].map(h => h.title)`); !slices.Equal(got, []string{hostile()}) || len(got[0]) != 250 {
		t.Errorf("the hostile holder: %q", got)
	}
	testKeys(t, b)
	testFilter(b)
	b.check(server.URL)
}

// testKeys goes through a grid with the keyboard. Updates of the page don't take the focus away.
func testKeys(t *testing.T, b *browser) {
	b.strings(`document.querySelector(".grid [tabindex='0']").focus(), window.marked = document.querySelector(".at"), []`)
	const detail = `[document.querySelector("#n0-chat .detail").innerText]`
	if got := b.strings(detail); !strings.HasPrefix(got[0], "49 late, chat-") {
		t.Errorf("the first stop: %q", got)
	}
	// The page itself sends the keys: on a busy machine chromedp's keys may come while an update replaces the
	// element with the focus.
	for _, tt := range []struct{ key, want string }{
		{"ArrowRight", "50 free"}, {"ArrowDown", "82 free"}, {"ArrowUp", "50 free"}, {"ArrowLeft", "49 late"}, {"End", "1023 reserved, import"}, {"Home", "0 held"},
	} {
		got := b.strings(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "` + tt.key + `", bubbles: true, cancelable: true })), ` + detail)
		if !strings.HasPrefix(got[0], tt.want) {
			t.Errorf("after %q: %q, want %q", tt.key, got, tt.want)
		}
	}
	b.await(`document.querySelector(".at") !== window.marked && document.activeElement === document.querySelector("#n0-chat .grid").children[0]`)
	// The next update ends what was wrong on top: rows with the focus keep it, wherever they are.
	b.strings(`document.querySelector("tr[data-late='234'] .holder bdi").focus(), window.marked = document.querySelector(".at"),
		document.getElementById("alarm").append(document.createElement("bdi")), document.querySelector(".late-leases tbody").prepend(document.querySelector("tr[data-late]").cloneNode(true)), []`)
	b.await(`document.querySelector(".at") !== window.marked && document.activeElement.title.startsWith('"><script>alert(1)')`)
	b.none("a focused holder that is not whole", `return document.activeElement.scrollWidth > document.activeElement.clientWidth ? [document.activeElement.innerText] : []`)
	b.picture("focus")
}

// testFilter sets the text as the browser does when somebody types: on a busy machine, neither the keys of chromedp nor
// insertText always arrived. The line on top stays as it is.
func testFilter(b *browser) {
	b.strings(`((q) => (q.focus(), q.value = "late CHAT", q.dispatchEvent(new InputEvent("input", { bubbles: true })), []))(document.getElementById("q"))`)
	b.await(`document.querySelectorAll("article").length === 1 && document.querySelectorAll("tr[data-row]").length === 3`)
	b.none("what the filter changed", `return document.title === "(9 late) snow" && document.querySelectorAll("tr[data-late]").length === 9 && location.search === "?q=late+CHAT" ? [] : [document.title, location.search]`)
	b.picture("filter")
}

// alike lists the states whose cells have no letter or no pattern of their own.
const alike = `const looks = {}, wrong = [];
	for (const state of ["held", "late", "claimed", "cooling", "reserved", "free"]) {
		const cell = document.querySelector(".counts ." + state), s = getComputedStyle(cell, "::before");
		for (const look of [s.content, s.backgroundColor + s.backgroundImage + s.boxShadow + s.border]) {
			if (looks[look]) wrong.push(state + " and " + looks[look] + ": " + look);
			looks[look] = state;
		}
	}
	return wrong`

// faint lists text whose contrast with what is behind it is less than 4.5 : 1.
const faint = `const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	const rgb = (c) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
	const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255]; };
	const wrong = [];
	for (const e of [...document.querySelectorAll("body *")].filter((e) => e.offsetParent && !e.closest(".grid") && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))) {
		const a = light(rgb(getComputedStyle(e).color)), b = light(behind(e)), contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (contrast < 4.5) wrong.push(e.tagName + " " + e.className + " " + e.innerText.slice(0, 40) + " " + contrast.toFixed(2));
	}
	return wrong.slice(0, 5)`

// prefers emulates light or dark colours, and that the tab has the focus.
func prefers(colours string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		if err != nil {
			return err
		}
		_, err = cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: colours}}})
		return err
	})
}

// none checks that a function returns nothing.
func (b *browser) none(what, body string) {
	b.t.Helper()
	if got := evaluate[[]any](b, "(() => {"+body+"})()"); len(got) != 0 {
		b.t.Errorf("%s: %v", what, got)
	}
}

// picture writes what is seen, if somebody wants to look.
func (b *browser) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("SNOW_SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
