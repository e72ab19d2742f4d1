//go:build unix

package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// Two realms of two databases each, from inspect to look-up.
func TestSeveralDatabases(t *testing.T) {
	server := dbtest.MariaDB(t)
	target := server.CreateDatabase(t)
	db, err := sql.Open("mysql", server.DSN(target))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	exec := func(statements ...string) {
		t.Helper()
		for _, text := range statements {
			if _, err := db.ExecContext(t.Context(), dbtest.Sequences(text)); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	in := func(name string) string { return target + "_" + name }
	for _, realm := range []string{"eu", "us", "all"} {
		exec("CREATE DATABASE "+in(realm+"_auth"), "CREATE DATABASE "+in(realm+"_characters"))
		t.Cleanup(func() {
			for _, name := range []string{"_characters", "_auth"} {
				if _, err := db.Exec("DROP DATABASE " + in(realm+name)); err != nil {
					t.Error(err)
				}
			}
		})
		if realm != "all" {
			exec("CREATE TABLE "+in(realm+"_auth.account")+" (id INT AUTO_INCREMENT PRIMARY KEY, username VARCHAR(20) NOT NULL UNIQUE)",
				"CREATE TABLE "+in(realm+"_characters.hero")+" (id INT AUTO_INCREMENT PRIMARY KEY, account_id INT NOT NULL, name VARCHAR(20) NOT NULL UNIQUE)",
				"INSERT INTO "+in(realm+"_auth.account")+" (username) SELECT CONCAT('"+realm+"-a', seq) FROM seq_1_to_80",
				"INSERT INTO "+in(realm+"_characters.hero")+" (account_id, name) SELECT seq, CONCAT('"+realm+"-a', seq) FROM seq_1_to_80")
		}
	}
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	databases := func(realm string) string {
		return "auth:" + in(realm+"_auth") + ",characters:" + in(realm+"_characters")
	}
	sources := []string{
		"-dialect", "mysql", "-plan", plan, "-source", "eu=" + reference(t, server.DSN(in("eu_auth"))), "-source", "us=" + reference(t, server.DSN(in("us_characters"))),
		"-databases", "eu=" + databases("eu"), "-databases", "us=" + databases("us"),
	}
	into := []string{"-target", reference(t, server.DSN(target)), "-target-databases", databases("all")}
	do := func(name string, args ...string) result {
		t.Helper()
		got := runMerge(t, append([]string{name}, args...)...)
		if got.code != 0 {
			t.Fatalf("%s: exit status %d, %s%s", name, got.code, got.stdout, got.stderr)
		}
		return got
	}
	do("inspect", append(sources, "-accept-certain", "0.5")...)
	data, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if !strings.Contains(text, "databases: [auth, characters]") || !strings.Contains(text, "columns: [characters.hero.account_id]") {
		t.Errorf("the plan:\n%s", text)
	}
	begin := strings.Index(text, "accepted:") // somebody has looked at it
	end := begin + strings.Index(text[begin:], "\nnew_ids")
	if err := os.WriteFile(plan, []byte(text[:begin]+text[end+1:]), 0o600); err != nil {
		t.Fatal(err)
	}
	do("namespace", "-dialect", "mysql", "-target", reference(t, server.DSN(target)), "-namespace", "game")
	if got := do("schema", append(sources, "-target-databases", databases("all"))...); !strings.Contains(got.stdout, "CREATE TABLE `"+in("all_auth")+"`.`account`") {
		t.Errorf("schema printed %s", got.stdout)
	}
	do("schema", append(sources, into...)...)
	all := append(append(sources, into...), "-namespace", "game", "-assert", "owners=SELECT COUNT(*) FROM {characters}.hero h JOIN {auth}.account a ON a.id = h.account_id")
	_, run, _ := strings.Cut(do("dry-run", all...).stdout, ", run ")
	if got := runMerge(t, append([]string{"run", "-forecast", "0" + run[:12]}, all...)...); got.code != 1 || !strings.Contains(got.stderr, "not the one of the dry run") {
		t.Errorf("run of another plan: %d, %s", got.code, got.stderr)
	}
	if got := do("run", append(all, "-forecast", run[:12])...); !strings.Contains(got.stdout, "Everything is as it should be") {
		t.Errorf("run printed %s", got.stdout)
	}
	do("verify", all...)
	var n int
	query := "SELECT COUNT(*) FROM " + in("all_characters.hero") + " h JOIN " + in("all_auth.account") + " a ON a.id = h.account_id AND a.username = h.name"
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != 160 {
		t.Errorf("%d heroes have the account of their name, %v", n, err)
	}
	var id string
	if err := db.QueryRowContext(t.Context(), "SELECT id FROM "+in("all_auth.account")+" WHERE username = 'us-a7'").Scan(&id); err != nil {
		t.Fatal(err)
	}
	if got := do("lookup", "-dialect", "mysql", "-target", reference(t, server.DSN(target)), "us", "auth.account", "7"); strings.TrimSpace(got.stdout) != id {
		t.Errorf("lookup printed %s, want %s", got.stdout, id)
	}
	for list, header := range map[string]string{"ids": "source,table,old_id,new_id", "left-out": "source,table,row,reason", "renamed": "source,table,row,new_id,column,before,after"} {
		if got := do("export", "-dialect", "mysql", "-target", reference(t, server.DSN(target)), "-list", list); !strings.HasPrefix(got.stdout, header+"\n") {
			t.Errorf("export -list %s printed %.100s", list, got.stdout)
		}
	}
	template := filepath.Join(t.TempDir(), "accounts.yaml")
	if err := os.WriteFile(template, []byte("version: 2\ndialect: MySQL\nkeys: [account.id]\nplain: [account.email]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := slices.Clone(sources)
	again[3] += ".2"
	if got := do("inspect", append(again, "-template", "auth="+template)...); !strings.Contains(got.stdout, "accounts.yaml answers") || !strings.Contains(got.stdout, "line 4: auth.account.email is not in these sources") {
		t.Errorf("inspect printed %s", got.stdout)
	}
	if got := runMerge(t, append([]string{"inspect"}, append(sources, "-databases", "jp=auth")...)...); got.code != 2 || !strings.Contains(got.stderr, "no source jp") {
		t.Errorf("databases of no source: %d, %s", got.code, got.stderr)
	}
}
