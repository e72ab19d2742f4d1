package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestMain lets the program start itself, as it does to insert.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerFlag {
		main()
	}
	os.Exit(m.Run())
}

// result is the result of a run of the program.
type result struct {
	code           int
	stdout, stderr string
}

func runProgram(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, nil, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// temporaryFolder gives the program an empty folder for its databases, and
// fails the test if anything is left there.
func temporaryFolder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left in the temporary folder: %v, %v", left, err)
		}
	})
}

func closeAtEnd(t *testing.T, c io.Closer) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// marked returns the lines that start with this mark, without it, each claim
// in one piece.
func marked(stdout, mark string) (all []string) {
	for line := range strings.Lines(stdout) {
		if text, ok := strings.CutPrefix(line, "  "+mark+" "); ok {
			all = append(all, strings.TrimSpace(text))
		}
	}
	return all
}

func TestStory(t *testing.T) {
	temporaryFolder(t)
	got := runProgram(t)
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("exit status %d, stderr %q, stdout:\n%s", got.code, got.stderr, got.stdout)
	}
	wantStory(t, got.stdout)
	for _, want := range []string{
		"2,000 orders of 324 buyers",
		"orders in A before    886\n",
		"UNIQUE constraint failed: shard_orders_demo_auto_orders.id",
		"orders in A after     886\n",
		"orders in A after     2,000\n",
	} {
		if !strings.Contains(strings.Join(strings.Fields(got.stdout), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("the output lacks %q:\n%s", want, got.stdout)
		}
	}
}

// wantStory compares the claims about the orders that are part of the program.
func wantStory(t *testing.T, stdout string) {
	t.Helper()
	digits := regexp.MustCompile(`[0-9]{15,}`)
	want := []string{
		"Both databases hand out 1, 2, 3 and so on.",
		"886 keys clash: each is one order in A and another one in B.",
		"A refuses B's orders, because their keys are taken.",
		"The refused merge changed nothing.",
		"B has the 550 orders that the killed process had committed, no more.",
		"Its successor has another number: the old one is still leased.",
		"0 of 2,000 order keys clash.",
		"0 of 3,688 keys of order lines clash.",
		"The merge succeeds.",
		"All 2,000 orders are in A, each of them once.",
		"All 3,688 order lines still point to their own orders.",
		"The key says when it was made: just now.",
		"It says who made it: the process that took over.",
		"It says which shard its buyer has, noah.okafor.",
		"Order ID is found in B by its key alone.",
		"So is each of the 2,000 orders, in A or in B.",
		"The order is in B once, after two attempts.",
	}
	if got := marked(digits.ReplaceAllString(stdout, "ID"), "✓"); !slices.Equal(got, want) {
		t.Errorf("claims:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if failed := marked(stdout, "✗"); len(failed) > 0 {
		t.Errorf("claims that do not hold: %q", failed)
	}
	if !strings.HasSuffix(stdout, "\nAll 17 claims hold.\n") {
		t.Errorf("the output does not end in the number of claims:\n%s", stdout)
	}
	wantReadable(t, stdout)
}

// wantReadable fails if a line is too long for a terminal, ends in spaces, or
// has control characters.
func wantReadable(t *testing.T, stdout string) {
	t.Helper()
	for line := range strings.Lines(stdout) {
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line) > 80 || strings.TrimRight(line, " ") != line || strings.ContainsRune(line, '\x1b') {
			t.Errorf("unreadable line %q", line)
		}
	}
}

func TestStoryOfAnotherFile(t *testing.T) {
	long := strings.Repeat("x", longestText)
	for _, tt := range []struct {
		name, csv string
		code      int
		stderr    string
	}{
		{"one order each", "buyer,item,amount,time\nanna,tea,300,2026-03-01T10:00:00Z\nkim,tea,300,2026-03-01T10:00:00Z\n", 0, ""},
		{"largest values", "buyer,item,amount,time\n" + long + "," + long + ",100000000000,9999-12-31T23:59:59.9999Z\nkim,ü,0,1970-01-01T00:00:00Z\n", 0, ""},
		{"one database is empty", "buyer,item,amount,time\nbob,tea,300,2026-03-01T10:00:00Z\n", 1, "belong to one database"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			temporaryFolder(t)
			file := filepath.Join(t.TempDir(), "other.csv")
			if err := os.WriteFile(file, []byte(tt.csv), 0o600); err != nil {
				t.Fatal(err)
			}
			got := runProgram(t, "-orders", file)
			if got.code != tt.code || !strings.Contains(got.stderr, tt.stderr) || (tt.stderr == "") != (got.stderr == "") {
				t.Errorf("exit status %d, want %d; stderr %q, want %q; stdout:\n%s", got.code, tt.code, got.stderr, tt.stderr, got.stdout)
			}
			wantReadable(t, got.stdout)
		})
	}
}

func TestBadOrdersChangeNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.csv")
	if err := os.WriteFile(file, []byte("buyer,item,amount,time\nanna,tea,3.00,2026-03-01T10:00:00Z\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A folder for databases that does not exist shows that none is opened.
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	got := runProgram(t, "-orders", file)
	if want := "shard-orders: " + file + ":2: amount \"3.00\": want whole cents from 0 to 100000000000\n"; got.code != 1 || got.stderr != want || got.stdout != "" {
		t.Errorf("exit status %d, stderr %q, stdout %q; want 1 and %q", got.code, got.stderr, got.stdout, want)
	}
}

func TestMissingOrders(t *testing.T) {
	got := runProgram(t, "-orders", filepath.Join(t.TempDir(), "none.csv"))
	if got.code != 1 || !strings.Contains(got.stderr, "none.csv") || got.stdout != "" {
		t.Errorf("exit status %d, stderr %q, stdout %q", got.code, got.stderr, got.stdout)
	}
}

// interrupter ends a context when a text is written to it.
type interrupter struct {
	bytes.Buffer
	text   string
	cancel context.CancelFunc
}

func (w *interrupter) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.text) {
		w.cancel()
	}
	return w.Buffer.Write(b)
}

func TestInterruptLeavesNothing(t *testing.T) {
	for _, text := range []string{"AUTO_INCREMENT", "The same orders", "before the row"} {
		t.Run(text, func(t *testing.T) {
			temporaryFolder(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stdout, stderr := &interrupter{text: text, cancel: cancel}, &bytes.Buffer{}
			code := run(ctx, nil, nil, stdout, stderr)
			if code != 1 || !strings.HasPrefix(stderr.String(), "shard-orders: interrupted: ") {
				t.Errorf("exit status %d, stderr %q", code, stderr)
			}
			if strings.Contains(stdout.String(), "claims hold") {
				t.Errorf("the story went on to its end:\n%s", stdout)
			}
		})
	}
}
