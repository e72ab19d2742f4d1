package docs_test

import (
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
)

// The pictures are SVG with a ground of their own, so they can be read in dark mode, and each is on a page.
func TestPictures(t *testing.T) {
	t.Chdir("..")
	names, pictures := pages(t, "docs/pictures/*")
	_, texts := pages(t, "docs/*.md")
	for _, name := range names {
		shown := false
		for _, text := range texts {
			shown = shown || strings.Contains(text, "]("+strings.TrimPrefix(name, "docs/")+")")
		}
		if !shown {
			t.Errorf("%s is on no page", name)
		}
		if strings.HasSuffix(name, ".png") {
			checkPNG(t, name, pictures[name])
			continue
		}
		decoder := xml.NewDecoder(strings.NewReader(pictures[name]))
		var err error
		for err == nil {
			_, err = decoder.Token()
		}
		if !errors.Is(err, io.EOF) || !strings.Contains(pictures[name], `fill="#ffffff"/>`) {
			t.Errorf("%s: %v, or no white ground", name, err)
		}
	}
	// What the picture of shards says of a buyer is so.
	shard := snow.HashShard("joe") % 64
	for _, want := range []string{fmt.Sprintf(">%d of 64<", shard), fmt.Sprintf(">%d %% 2 = %d<", shard, shard%2), "HashShard(“joe”)"} {
		if !strings.Contains(pictures["docs/pictures/shard.svg"], want) {
			t.Errorf("the picture of shards has no %q", want)
		}
	}
}

// checkPNG finds a picture that is slow to load, and one that says more than it shows, such as when it was made.
func checkPNG(t *testing.T, name, picture string) {
	t.Helper()
	if n := len(picture); n > 120_000 {
		t.Errorf("%s has %d bytes, want at most 120,000", name, n)
	}
	if _, err := png.Decode(strings.NewReader(picture)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for rest := []byte(picture[len("\x89PNG\r\n\x1a\n"):]); len(rest) > 0; {
		kind := string(rest[4:8]) // after the length of the data; a checksum follows
		if !slices.Contains([]string{"IHDR", "PLTE", "tRNS", "sBIT", "IDAT", "IEND"}, kind) {
			t.Errorf("%s has a chunk of type %q", name, kind)
		}
		rest = rest[12+binary.BigEndian.Uint32(rest):]
	}
}
