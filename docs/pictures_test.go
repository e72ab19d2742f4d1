package docs_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
)

// The pictures are SVG with a ground of their own, so they can be read in dark mode, and each is on a page.
func TestPictures(t *testing.T) {
	t.Chdir("..")
	names, pictures := pages(t, "docs/pictures/*.svg")
	_, texts := pages(t, "docs/*.md")
	for _, name := range names {
		decoder := xml.NewDecoder(strings.NewReader(pictures[name]))
		var err error
		for err == nil {
			_, err = decoder.Token()
		}
		if !errors.Is(err, io.EOF) || !strings.Contains(pictures[name], `fill="#ffffff"/>`) {
			t.Errorf("%s: %v, or no white ground", name, err)
		}
		shown := false
		for _, text := range texts {
			shown = shown || strings.Contains(text, "]("+strings.TrimPrefix(name, "docs/")+")")
		}
		if !shown {
			t.Errorf("%s is on no page", name)
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
