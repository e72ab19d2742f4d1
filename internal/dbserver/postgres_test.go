package dbserver

import "testing"

func TestStandbys(t *testing.T) {
	for names, want := range map[string]int{
		"a": 1, "a, b": 1, "*": 1, "FIRST 2 (a, b, c)": 2, "first 2(a, b)": 2, "ANY 3 (*)": 3, "2 (a, b)": 2, "(a)": 1, "ANY 0 (a)": 1,
	} {
		if got := standbys(names); got != want {
			t.Errorf("%q: got %d standbys, want %d", names, got, want)
		}
	}
}
