package convert

import "testing"

func TestRound(t *testing.T) {
	for seconds, want := range map[float64]float64{0: 0, 0.01: 0.1, 3.81: 3.9, 9.95: 10, 12.3: 13, 99.5: 100, 1234: 1300} {
		if got := round(seconds); got != want {
			t.Errorf("%v: got %v, want %v", seconds, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1536: "1.5 kB", 5 << 20: "5.0 MB", 3 << 30: "3.0 GB"} {
		if got := size(bytes); got != want {
			t.Errorf("%d: got %q, want %q", bytes, got, want)
		}
	}
}

func TestReaches(t *testing.T) {
	for id, want := range map[string]bool{"": false, "-5": false, "99": false, "100": true, "101": true, "1000": true, "18446744073709551615": true} {
		if got := reaches(id, 100); got != want {
			t.Errorf("%q: got %t", id, got)
		}
	}
}
