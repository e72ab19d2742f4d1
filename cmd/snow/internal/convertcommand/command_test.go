package convertcommand

import "testing"

// The command that is proposed reaches the same database, and shows no password.
func TestRunAgain(t *testing.T) {
	for dsn, want := range map[string]string{
		"":                              "snow convert run --plan shop.yaml",
		"env:SHOP":                      "snow convert run --dsn env:SHOP --plan shop.yaml",
		"@/etc/shop.dsn":                "snow convert run --dsn @/etc/shop.dsn --plan shop.yaml",
		"me:secret@tcp(db:3306)/shop":   "snow convert run --plan shop.yaml",
		"postgres://me:secret@db/shop2": "snow convert run --plan shop.yaml",
	} {
		if got := (&Command{dsn: dsn, plan: "shop.yaml"}).runAgain(); got != want {
			t.Errorf("with %q: got %q, want %q", dsn, got, want)
		}
	}
}
