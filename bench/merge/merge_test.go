package merge

import (
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Process()
	os.Exit(m.Run())
}

func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a MariaDB server: left out under -short")
	}
	got, err := Measure(t.Context(), Options{Rows: 400, Rounds: 1, Memory: []int{200, 300}, Progress: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Cases) != len(scenarios()) || len(got.Memory) != 2 || got.Version == "" {
		t.Fatalf("got %+v", got)
	}
	for _, c := range got.Cases {
		if c.Floor <= 0 || c.Run <= 0 || c.Copying() <= 0 || c.Copying() >= c.Run || c.Rows < 400 {
			t.Errorf("got %+v", c)
		}
	}
	for _, p := range got.Memory {
		if p.Bytes < 1<<20 {
			t.Errorf("got %+v", p)
		}
	}
}

func TestRatio(t *testing.T) {
	c := CaseResult{Floor: 2 * time.Second, Run: 8 * time.Second, Phases: []Phase{{"mint", time.Second}, {"copy", 3 * time.Second}, {"verify", 4 * time.Second}}}
	if got, copying := c.Ratio(), c.Copying(); got != 0.25 || copying != 4*time.Second {
		t.Errorf("got %v and %v, want 0.25 and 4 s", got, copying)
	}
}
