package command

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/golden"
)

func TestOpaqueIDs(t *testing.T) {
	if err := os.Chmod("testdata/opaque.keys", 0o600); err != nil { // a checkout lets all read it
		t.Fatal(err)
	}
	golden.Check(t, "testdata/opaque.txt", transcript(t,
		"opaque encode --keys testdata/opaque.keys --type ord 286467607756828714 0x5 04W86BB0G4007",
		"opaque encode --keys testdata/opaque.keys --json 5",
		"opaque encode --keys testdata/opaque.keys <<< 5,zwölf,0,6",
		"opaque encode --keys testdata/opaque.keys --type Order 5",
		"opaque encode 5",
		"opaque decode --keys testdata/opaque.keys ord_73bkycpkhez00ww",
		"opaque decode --keys testdata/opaque.keys ord_11m6bp6t15r7nr7 - <<< ORD_12T69HY2FE73JQC,ord_12t69hy2fe73jcq",
		"opaque decode --keys testdata/there-is-none ord_11m6bp6t15r7nr7",
		"opaque decode --keys testdata/id.txt ord_11m6bp6t15r7nr7",
		"opaque key --version 16",
		"opaque key 1",
	))
}

// What opaque key prints is a file of keys.
func TestOpaqueKey(t *testing.T) {
	first, second := execute(t, "opaque", "key", "--version", "1"), execute(t, "opaque", "key", "-version", "2", "-decode")
	if first.status != 0 || second.status != 0 || !strings.HasSuffix(second.stdout, " decode\n") {
		t.Fatalf("got %+v and %+v", first, second)
	}
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(first.stdout+second.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	encoded := execute(t, "opaque", "encode", "--keys", path, "--type", "usr", "77")
	_, text, found := strings.Cut(strings.TrimSpace(encoded.stdout), "  ")
	if encoded.status != 0 || !found || !strings.HasPrefix(text, "usr_1") {
		t.Fatalf("got %+v", encoded)
	}
	if decoded := execute(t, "opaque", "decode", "--keys", path, text); decoded.status != 0 || decoded.stdout != encoded.stdout {
		t.Errorf("%s is decoded as %+v", text, decoded)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	again := execute(t, "opaque", "encode", "--keys", path, "--type", "usr", "77")
	if again.status != 0 || again.stdout != encoded.stdout || encoded.stderr != "" || !strings.Contains(again.stderr, "all users of this machine may open the keys in "+path) {
		t.Errorf("a file that all may read: got %+v, want a warning; before: %q", again, encoded.stderr)
	}
}
