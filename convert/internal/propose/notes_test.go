package propose

import "testing"

func TestMentions(t *testing.T) {
	for _, test := range []struct {
		text, name string
		want       bool
	}{
		{"SELECT id FROM users", "users", true},
		{"SELECT ID FROM `Users`", "users", true},
		{"select users.id", "id", true},
		{"SELECT id FROM my_users", "users", false},
		{"SELECT id FROM users2, users", "users", true},
		{"SELECT id FROM users2", "users", false},
		{"SELECT größe", "größ", false},
		{"SELECT größe", "größe", true},
		{"users", "users", true},
		{"", "users", false},
		{"users", "", false},
	} {
		if got := mentions(test.text, test.name); got != test.want {
			t.Errorf("%q in %q: got %t", test.name, test.text, got)
		}
	}
}

func FuzzMentions(f *testing.F) {
	f.Add("SELECT id FROM users", "users")
	f.Fuzz(func(t *testing.T, text, name string) {
		if mentions(text, name) && (text == "" || name == "") {
			t.Errorf("%q in %q", name, text)
		}
	})
}
