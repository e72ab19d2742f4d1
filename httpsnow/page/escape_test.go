package page

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// Whoever can lease a number chooses its holder, and servers say what their names are: none of it becomes a tag, an
// attribute or an address.
func TestEscapes(t *testing.T) {
	t.Parallel()
	h, err := New([]Database{{DB: unreachable(t), Dialect: sqlsnow.MySQL}}, Config{Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	for _, evil := range []string{
		`<script>evil()</script>`, `"><img src=x onerror=evil()>`, `' onfocus='evil()`, `javascript:evil()`, `</title><script>evil()</script>`,
		"`${evil()}`", `{{evil}}`, `&lt;script&gt;evil()`, "\u2028<!--evil", "\x00<evil>", `]]><evil>`,
	} {
		n := spaceOf("shop", 1, 1, 2)
		n.Name = evil // which no namespace can have, and a row that was written by hand could
		for i := range n.workers {
			n.workers[i].Holder = evil
		}
		s := stateOf(evil, n)
		s.place = place{Product: evil, Host: evil, Name: evil}
		s.counters = []segments.Counter{{Tag: evil, Regressed: true}, {Tag: evil + "2", Next: snow.ID(7)}}
		v := viewOf(snapshot{at: today(), databases: []state{s, stateOf("b" + evil)}}, time.Second, filterOf(evil), nil)
		v.Decoded = decode(evil, snapshot{databases: []state{s}})
		everything := viewOf(snapshot{at: today(), databases: []state{s}}, time.Second, filter{text: evil}, nil)
		for _, v := range []view{v, everything} {
			var b bytes.Buffer
			if err := h.templates.ExecuteTemplate(&b, "page.html", v); err != nil {
				t.Fatal(err)
			}
			checkMarkup(t, evil, b.String())
		}
	}
}

var (
	tags      = regexp.MustCompile(`<[^>]*>`)
	known     = regexp.MustCompile(`^</?(!doctype|html|head|meta|title|link|script|noscript|body|header|h[1-3]|form|label|input|button|p|section|main|article|div|span|strong|small|b|bdi|i|a|ul|li|ol|dl|dt|dd|code|time|svg|path|rect|table|thead|tbody|tr|th|td)\b`)
	attribute = regexp.MustCompile(`([a-zA-Z-]+)=("[^"]*"|[^\s">]+)`)
)

// checkMarkup looks at every tag of a page.
func checkMarkup(t *testing.T, evil, text string) {
	t.Helper()
	if strings.Count(text, "<script") != 1 || strings.Contains(text, "<!--") || strings.Contains(text, "ZgotmplZ") {
		t.Errorf("%q: %s", evil, text)
	}
	for _, tag := range tags.FindAllString(text, -1) {
		if !known.MatchString(tag) {
			t.Errorf("%q: tag %s", evil, tag)
		}
		for _, a := range attribute.FindAllStringSubmatch(tag, -1) {
			name, value := a[1], strings.Trim(a[2], `"`)
			if strings.HasPrefix(name, "on") || name == "style" || strings.ContainsAny(value, "<>") {
				t.Errorf("%q: %s", evil, tag)
			}
			if name != "href" || !strings.HasPrefix(tag, "<a") {
				continue
			}
			if u, err := url.Parse(value); err != nil || !strings.HasPrefix(strings.TrimPrefix(value, "./"), "#") || u.Host != "" {
				t.Errorf("%q: address %s", evil, tag)
			}
		}
	}
}

// FuzzHolder shows any holder without a tag of its own.
func FuzzHolder(f *testing.F) {
	f.Add(`"><script>evil()</script>`)
	f.Add(strings.Repeat("ä", 300))
	h, err := New([]Database{{DB: unreachable(f), Dialect: sqlsnow.MySQL}}, Config{Logger: quiet()})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, holder string) {
		n := spaceOf("shop", 1, 1, 2)
		n.workers[0].Holder, n.workers[1].Holder = holder, holder
		var b bytes.Buffer
		v := viewOf(snapshot{at: today(), databases: []state{stateOf("a", n)}}, time.Second, filterOf(""), nil)
		if err := h.templates.ExecuteTemplate(&b, "page.html", v); err != nil {
			t.Fatal(err)
		}
		checkMarkup(t, holder, b.String())
	})
}
