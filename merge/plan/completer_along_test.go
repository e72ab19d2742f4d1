package plan_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// alongSchema is a schema where much refers to characters.
func alongSchema() *plan.Plan {
	key := func() *plan.Column { return &plan.Column{Name: "id", Type: "int", Role: plan.RoleKey} }
	column := func(name, typ string) *plan.Column {
		return &plan.Column{Name: name, Type: typ, Nullable: true, Role: plan.RolePlain}
	}
	table := func(name string, columns ...*plan.Column) *plan.Table {
		return &plan.Table{Name: name, PrimaryKey: []string{"id"}, Columns: append([]*plan.Column{key()}, columns...)}
	}
	return &plan.Plan{Version: 1, Dialect: "MySQL", Sources: []string{"a", "b"}, Tables: []*plan.Table{
		table("characters", column("name", "varchar(20)"), column("level", "int")),
		table("guilds", column("leader", "int")),
		table("items", column("owner", "int"), column("maker", "int")),
		table("mails", column("sender", "int"), column("receiver", "int"), column("copies", "varchar(200)")),
	}}
}

const alongDecisions = `version: 2
dialect: MySQL
sources: [a, b]
new_ids: [a, b]
references:
- {to: characters, columns: [guilds.leader, items.owner, items.maker, mails.sender, mails.receiver]}
- {list: characters, columns: [mails.copies]}
along:
- {table: characters, except: [guilds.leader]}
tables:
  characters: {without_rows: [{where: level < 10}]}
schema: [`

func TestAlong(t *testing.T) {
	schema := alongSchema()
	first, err := plan.Shorten(alongSchema(), schema)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range first.Schema {
		names = append(names, n.Text)
	}
	d, err := plan.ReadDecisions(strings.NewReader(alongDecisions + strings.Join(names, ", ") + "]\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Complete(schema)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]plan.Orphans{
		"guilds.leader": "", "items.owner": plan.OrphansDrop, "items.maker": plan.OrphansDrop, "mails.sender": plan.OrphansDrop, "mails.receiver": plan.OrphansDrop, "mails.copies": plan.OrphansNull,
	} {
		table, column, _ := strings.Cut(name, ".")
		if got := p.Table(table).Column(column).Gone; got != want {
			t.Errorf("%s: gone is %q, want %q", name, got, want)
		}
	}
	again, err := plan.Shorten(p, schema)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := again.WriteYAML(&text); err != nil {
		t.Fatal(err)
	}
	if got := text.String(); !strings.Contains(got, "- {table: characters, except: [guilds.leader]}") || strings.Contains(got, "gone") {
		t.Errorf("want one line about what goes along, and gone nowhere else:\n%s", got)
	}
	d.Along = append(d.Along, &plan.Along{Table: "nobody"})
	if _, err := d.Complete(schema); err == nil || !strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("a table that is not there: got %v", err)
	}
}

// What a column says itself counts more.
func TestAlongButForWhatIsSaid(t *testing.T) {
	schema := alongSchema()
	first, err := plan.Shorten(alongSchema(), schema)
	if err != nil {
		t.Fatal(err)
	}
	d := *first
	d.References = []*plan.Meaning{
		{To: "characters", Gone: plan.OrphansNull, Columns: []plan.Name{{Text: "items.maker"}}},
		{To: "characters", Orphans: plan.OrphansDrop, Columns: []plan.Name{{Text: "items.owner"}}},
	}
	d.Along = []*plan.Along{{Table: "characters"}}
	p, err := d.Complete(schema)
	if err != nil {
		t.Fatal(err)
	}
	items := p.Table("items")
	if got := []plan.Orphans{items.Column("maker").Gone, items.Column("owner").Gone}; !slices.Equal(got, []plan.Orphans{plan.OrphansNull, ""}) {
		t.Errorf("got %q", got)
	}
}
