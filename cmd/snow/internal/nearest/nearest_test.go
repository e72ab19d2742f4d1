package nearest

import "testing"

func TestOf(t *testing.T) {
	names := []string{"workers", "fence", "segments", "migrate", "id", "init"}
	for typed, want := range map[string]string{
		"worker": "workers", "wokrers": "workers", "Fence": "fence", "fnece": "fence", "segment": "segments", "mig": "migrate", "migrations": "",
		"ini": "init", "di": "", "x": "", "": "", "root:geheim@tcp(h)/shop": "",
	} {
		if got := Of(typed, names); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}
