package httpsnow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/testscale"
)

// The document has no error and no warning, and a strict TypeScript client that is generated from it compiles and
// works.
func TestOpenAPIClient(t *testing.T) {
	testscale.NeedLong(t)
	if _, err := exec.LookPath("npm"); err != nil {
		if os.Getenv("SNOW_REQUIRE_DB") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	for name, from := range map[string]string{"openapi.json": "", "client.ts": "client", "tsconfig.json": "client", "package.json": "client"} {
		if from != "" {
			from = filepath.Join("testdata", from)
		}
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(nodeModules(t), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	node := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "node", args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
		var log strings.Builder
		c.Stderr = &log
		out, err := c.Output()
		if err != nil {
			t.Fatalf("node %v: %v\n%s%s", args, err, out, &log)
		}
		return string(out)
	}
	lint := node("node_modules/@redocly/cli/bin/cli.js", "lint", "--format=json", "--extends=recommended", "openapi.json")
	var found struct {
		Totals struct{ Errors, Warnings *int }
	}
	if err := json.NewDecoder(strings.NewReader(lint)).Decode(&found); err != nil || found.Totals.Errors == nil || *found.Totals.Errors+*found.Totals.Warnings > 0 {
		t.Errorf("redocly: %v: %s", err, lint)
	}
	node("node_modules/openapi-typescript/bin/cli.js", "openapi.json", "--output", "schema.d.ts")
	node("node_modules/typescript/bin/tsc", "-p", ".")

	worker, err := snow.Fixed(snow.DefaultLayout(), 77)
	if err != nil {
		t.Fatal(err)
	}
	gen, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		t.Fatal(err)
	}
	const token = "0123456789abcdef"
	server := httptest.NewServer(newHandler(t, gen, Config{Tokens: []string{token}}))
	defer server.Close()
	said := node("out/client.js", server.URL, token)
	var got struct {
		IDs                  []snow.ID
		Line, Problem, Ready string
		ID                   snow.ID
		Worker               uint64
	}
	if err := json.Unmarshal([]byte(said), &got); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	line, err := snow.ParseID(strings.TrimSpace(got.Line))
	if len(got.IDs) != 3 || err != nil || line <= got.IDs[2] || got.ID <= line || got.Worker != 77 || got.Ready != "ready\n" || !strings.HasPrefix(got.Problem, "400 count") {
		t.Errorf("the client says %s", said)
	}
}

// nodeModules returns a folder with the packages of the client in the versions of its lock file. Later tests use it
// again.
func nodeModules(t *testing.T) string {
	t.Helper()
	lock, err := os.ReadFile("testdata/client/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	cache = filepath.Join(cache, "snow-npm")
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(dir); err == nil {
		return filepath.Join(dir, "node_modules")
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(fresh)
	description, err := os.ReadFile("testdata/client/package.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"package.json": description, "package-lock.json": lock} {
		if err := os.WriteFile(filepath.Join(fresh, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	install.Dir = fresh
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	if err := os.Rename(fresh, dir); err != nil && !errors.Is(err, os.ErrExist) { // another test was first
		t.Fatal(err)
	}
	return filepath.Join(dir, "node_modules")
}
