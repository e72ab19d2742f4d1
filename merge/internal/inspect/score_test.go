package inspect

import "testing"

// TestPoints weighs values: they count for much if chance explains them badly.
func TestPoints(t *testing.T) {
	tests := []struct {
		name        string
		fit         fit
		n           int
		least, most float64
	}{
		{"no values", fit{}, 0, 0, 0},
		{"no rows", fit{found: inclusion{0, 5}}, 5, -1, -1},
		{"others", fit{found: inclusion{2, 50}, known: true}, 50, -9, -9},
		{"many orphans", fit{found: inclusion{35, 50}, known: true}, 50, -2.5, -2.5},
		{"dense ids", fit{found: inclusion{50, 50}, known: true, info: -0.5, reach: 0.5}, 50, 0, 1},
		{"sparse ids", fit{found: inclusion{50, 50}, known: true, info: 40, reach: 0.5}, 50, 4, 5},
		{"a small part of the range", fit{found: inclusion{50, 50}, known: true, reach: 0.1}, 50, -1, 0},
		{"snowflakes", fit{found: inclusion{50, 50}, known: true, reach: 0.9, start: 1 << 50}, 50, 7, 9},
	}
	for _, test := range tests {
		if got := test.fit.points(test.n); got < test.least || got > test.most {
			t.Errorf("%s: got %v, want %v to %v", test.name, got, test.least, test.most)
		}
	}
}
