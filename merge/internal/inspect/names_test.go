package inspect

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"player_id": "player id", "playerID": "player id", "PlayerId": "player id", "PLAYER-ID": "player id", "HTTPServer": "http server",
		"id": "id", "": "", "__": "", "t_player2": "t player2", "玩家_id": "玩家 id",
	} {
		if got := strings.Join(words(name), " "); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
