//go:build unix

package mergecommand

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/merge/report"
)

// In a browser, no page is wider than the screen of a phone, also with long names.
func TestPageFitsAPhone(t *testing.T) {
	program, err := exec.LookPath("chromium")
	if err != nil || testing.Short() {
		t.Skip("needs chromium")
	}
	long := nightReport()
	name, source := strings.Repeat("a_name_without_any_gap_", 6), strings.Repeat("source", 6)
	long.Sources[0] = source
	for i := range long.Tables {
		long.Tables[i].Table = name
		long.Tables[i].Source = source
	}
	long.Targets[0].Table, long.LeftOut[1].Column, long.Clashes[0].Names[0].After, long.References[0].Path = name, name, name, name
	long.Add(report.Failure{Check: report.CheckRows, Table: name, Column: name, Row: name, Target: name, Reason: name})
	long.Open = []report.Open{{Kind: report.OpenUndecided, Source: source, Table: name, Column: name, Reason: name}}
	dir := t.TempDir()
	var frames, want string
	for file, r := range map[string]*report.Report{"night": nightReport(), "long": long} {
		if err := os.WriteFile(filepath.Join(dir, file+".html"), []byte(html(t, r)), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{320, 400, 1280} {
			frames += fmt.Sprintf(`<iframe src=%s.html width=%d height=20000></iframe>`, file, width)
			want += fmt.Sprintf(" %s.html %d", file, width)
		}
	}
	const script = `<script>onload = () => {
		document.title = "widths" + [...document.querySelectorAll("iframe")].map(f => " " + f.getAttribute("src") + " " + f.contentDocument.documentElement.scrollWidth).join("")
	}</script>`
	if err := os.WriteFile(filepath.Join(dir, "frames.html"), []byte("<style>iframe { border: 0 }</style>"+frames+script), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	// As root, Chromium has no sandbox. It loads the pages of this test only.
	shown, err := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
		"--user-data-dir="+filepath.Join(dir, "user"), "--dump-dom", "file://"+filepath.Join(dir, "frames.html")).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, title, _ := strings.Cut(string(shown), "<title>")
	if title, _, _ = strings.Cut(title, "</title>"); title != "widths"+want {
		t.Errorf("got %q, want %q", title, "widths"+want)
	}
}
