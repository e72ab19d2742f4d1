package refname

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"player_id": "player id", "playerID": "player id", "PlayerId": "player id", "PLAYER-ID": "player id", "HTTPServer": "http server",
		"id": "id", "": "", "__": "", "t_player2": "t player2", "玩家_id": "玩家 id",
	} {
		if got := strings.Join(Words(name), " "); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestSingular(t *testing.T) {
	for plural, want := range map[string]string{
		"users": "user", "companies": "company", "boxes": "box", "addresses": "address", "status": "status", "statuses": "status", "ids": "id", "class": "class",
		"people": "person", "children": "child", "women": "woman", "indices": "index", "movies": "movie", "heroes": "hero", "caches": "cache", "news": "news", "": "",
	} {
		if got := Singular(plural); got != want {
			t.Errorf("%q: got %q, want %q", plural, got, want)
		}
		if got := Singular(want); got != want {
			t.Errorf("%q, which is singular: got %q", want, got)
		}
	}
}
