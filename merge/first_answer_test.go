//go:build unix

package merge_test

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// TestFirstAnswer gives Inspect columns for which several answers are likely. The first one has to be right: who takes
// the first answer of a question gets a plan that passes each check.
func TestFirstAnswer(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	const (
		people = "CREATE TABLE people (uid INT NOT NULL AUTO_INCREMENT PRIMARY KEY, nick VARCHAR(20)); INSERT INTO people SELECT seq, CONCAT('{s}', seq) FROM seq_1_to_{240}"
		notes  = "CREATE TABLE notes (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, body VARCHAR(20)); INSERT INTO notes SELECT seq, '{s}' FROM seq_1_to_{80}"
		halls  = "CREATE TABLE halls (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, body VARCHAR(20)); INSERT INTO halls SELECT seq, '{s}' FROM seq_1_to_{240}"
		pages  = "CREATE TABLE pages (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, body VARCHAR(20)); INSERT INTO pages SELECT seq, '{s}' FROM seq_1_to_{900}"
	)
	tests := []struct {
		name   string
		tables []string
		want   map[string]string // what describe says of columns
	}{
		{
			"orphans that a larger table has by chance",
			[]string{notes, pages, "CREATE TABLE likes (note_id INT NOT NULL, day INT NOT NULL); INSERT INTO likes SELECT 1 + seq % 70, seq FROM seq_1_to_{900}; INSERT INTO likes SELECT 200 + seq * 3, 1 FROM seq_1_to_30"},
			map[string]string{"likes.note_id": "reference notes, asked"},
		},
		{
			"a word for somebody before the name of a table",
			[]string{
				people, notes,
				"CREATE TABLE ties (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, from_note_id INT NOT NULL); INSERT INTO ties SELECT seq * 5, 1 + seq % 2 FROM seq_1_to_{100}; INSERT INTO ties SELECT seq * 5 + 1, 103 + seq FROM seq_1_to_2",
			},
			map[string]string{"ties.from_note_id": "reference notes, asked"},
		},
		{
			"the key of one table after other words",
			[]string{
				people, notes,
				"CREATE TABLE drafts (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, mendeduid INT NOT NULL, mendedby INT NOT NULL); INSERT INTO drafts SELECT seq * 3, 2, 2 FROM seq_1_to_{100}",
			},
			map[string]string{"drafts.mendeduid": "undecided, asked", "drafts.mendedby": "undecided, asked"},
		},
		{
			"a yes or no about a table",
			[]string{
				notes,
				"CREATE TABLE people_kinds (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, can_see_note INT NOT NULL, shownotes TINYINT NOT NULL, note_role INT NOT NULL);" +
					"INSERT INTO people_kinds SELECT seq * 3, 1 + seq % 4, 1 + seq % 3, 1 + seq % 9 FROM seq_1_to_{100}",
			},
			map[string]string{"people_kinds.can_see_note": "plain, asked", "people_kinds.shownotes": "plain", "people_kinds.note_role": "plain, asked"},
		},
		{
			"a quantity that a table is named after, too",
			[]string{
				notes,
				"CREATE TABLE note_ratings (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, note_id INT NOT NULL); INSERT INTO note_ratings SELECT seq, 1 + seq % {80} FROM seq_1_to_{240}",
				"CREATE TABLE note_views (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, note_id INT NOT NULL, rating INT NOT NULL); INSERT INTO note_views SELECT seq * 2, 1 + seq % {80}, 1 + seq % 5 FROM seq_1_to_{240}",
			},
			map[string]string{"note_views.rating": "plain, asked"},
		},
		{
			"lists of somebody",
			[]string{
				people, "CREATE TABLE people_logins (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, day INT NOT NULL); INSERT INTO people_logins SELECT seq, 1 FROM seq_1_to_{900}",
				"CREATE TABLE person_sets (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, label VARCHAR(20)); INSERT INTO person_sets SELECT seq, '{s}' FROM seq_1_to_{240}",
				"CREATE TABLE hints (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, buddylist VARCHAR(40)); INSERT INTO hints SELECT seq * 5, CONCAT(seq, ',', seq * 2) FROM seq_1_to_{100}",
			},
			map[string]string{"hints.buddylist": "list people, suspect"},
		},
		{
			"lists of groups of somebody",
			[]string{
				people, "CREATE TABLE peoplegroups (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, label VARCHAR(20)); INSERT INTO peoplegroups SELECT seq, '{s}' FROM seq_1_to_{40}",
				"CREATE TABLE settinggroups (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, label VARCHAR(20)); INSERT INTO settinggroups SELECT seq, '{s}' FROM seq_1_to_{80}",
				"CREATE TABLE doors (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, deny_people_groups VARCHAR(40)); INSERT INTO doors SELECT seq * 5, CONCAT(1 + seq % {40}, ',', 1 + (seq * 3) % {40}) FROM seq_1_to_{100}",
			},
			map[string]string{"doors.deny_people_groups": "list peoplegroups, suspect"},
		},
		{
			"kinds with orphans",
			[]string{
				people, notes, pages,
				"CREATE TABLE alerts (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, thing_type VARCHAR(10) NOT NULL, thing_id INT NOT NULL);" +
					"INSERT INTO alerts SELECT seq, 'page', seq FROM seq_1_to_{100}; INSERT INTO alerts SELECT 200 + seq, 'note', IF(seq % 7, seq, 300 + seq) FROM seq_1_to_{40}",
			},
			map[string]string{"alerts.thing_id": "polymorphic thing_type note=notes page=pages, suspect"},
		},
		{
			"a type that says nothing of a column with the name of a table",
			[]string{
				strings.ReplaceAll(notes, "{80}", "{900}"), "CREATE TABLE drums (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, body VARCHAR(20)); INSERT INTO drums SELECT seq, '{s}' FROM seq_1_to_{80}",
				"CREATE TABLE posters (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, type VARCHAR(10) NOT NULL, note_id INT NOT NULL, disporder INT NOT NULL);" +
					"INSERT INTO posters SELECT seq * 3, 'a', seq, seq % 50 FROM seq_1_to_{80}; INSERT INTO posters SELECT seq * 3 + 1, 'b', seq, seq FROM seq_1_to_{900}",
			},
			map[string]string{"posters.note_id": "reference notes, asked", "posters.disporder": "plain, asked"},
		},
		{
			"a type of an initial",
			[]string{
				strings.NewReplacer("people (uid", "users (id", "people", "users").Replace(people), notes,
				"CREATE TABLE turns (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, uid_type VARCHAR(10) NOT NULL, uid INT NOT NULL);" +
					"INSERT INTO turns SELECT seq * 3, 'user', seq FROM seq_1_to_{240}; INSERT INTO turns SELECT seq * 3 + 1, 'note', seq FROM seq_1_to_{80}",
			},
			map[string]string{"turns.uid": "polymorphic uid_type note=notes user=users, suspect"},
		},
		{
			"an initial beside a reference to users",
			[]string{
				strings.ReplaceAll(people, "people", "users"), strings.NewReplacer("notes (id", "settinggroups (gid", "notes", "settinggroups", "{80}", "{100}").Replace(notes), strings.NewReplacer("notes (id", "templategroups (gid", "notes", "templategroups", "{80}", "{120}").Replace(notes), strings.NewReplacer("notes (id", "usergroups (gid", "notes", "usergroups").Replace(notes),
				"CREATE TABLE leaders (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, gid INT NOT NULL, uid INT NOT NULL); INSERT INTO leaders SELECT seq * 3, 1 + seq % 9, 1 + seq % {240} FROM seq_1_to_{900}",
			},
			map[string]string{"leaders.gid": "reference usergroups, asked"},
		},
		{
			"0 and 1, and how many",
			[]string{
				strings.ReplaceAll(notes, "notes", "page_approvals"), notes,
				"CREATE TABLE page_sets (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, approval INT NOT NULL, notecount INT NOT NULL); INSERT INTO page_sets SELECT seq * 3, seq % 2, 1 + seq % 40 FROM seq_1_to_{240}",
			},
			map[string]string{"page_sets.approval": "plain, asked", "page_sets.notecount": "plain, asked"},
		},
		{
			"values that end where the ids of one table do",
			[]string{
				notes, pages, halls,
				"CREATE TABLE trips (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, start_id INT NOT NULL); INSERT INTO trips SELECT seq * 9, 1 + seq * 7 % {240} FROM seq_1_to_{900}",
			},
			map[string]string{"trips.start_id": "reference halls, asked"},
		},
		{
			"an earlier row of the same table",
			[]string{"CREATE TABLE topics (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, previous_topic_id INT NOT NULL); INSERT INTO topics SELECT seq, IF(seq % 60, 0, IF(seq % 120, seq DIV 2, 5000 + seq)) FROM seq_1_to_{240}"},
			map[string]string{"topics.previous_topic_id": "undecided, asked"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := propose(t, server, test.tables)
			for name, want := range test.want {
				table, column, _ := strings.Cut(name, ".")
				if got := describe(p, table, findTable(t, p, table).Column(column)); got != want {
					t.Errorf("%s: got %q, want %q; the questions are", name, got, want)
					for _, q := range p.Questions {
						t.Logf("%s %q %q", q.Name, q.Columns, q.Evidence)
					}
				}
			}
		})
	}
}
