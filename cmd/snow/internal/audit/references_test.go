package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/idcolumn"
)

// newTable returns a table with integers; the first column is the primary key.
func newTable(name string, columns ...string) *table {
	t := &table{name: name, label: name}
	for _, c := range columns {
		t.columns = append(t.columns, idcolumn.Column{Name: c, Kind: idcolumn.Integer, Size: 32})
	}
	t.key = columns[:1]
	return t
}

func TestByName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		schema []*table
		want   map[string]string // the table that a column of "t" refers to, or none
	}{
		{
			[]*table{newTable("company", "id"), newTable("people", "id"), newTable("users", "id"), newTable("statuses", "id"), newTable("invoices", "invoice_id")},
			map[string]string{
				"company_id": "company", "companyId": "company", "CompanyID": "company", "companyid": "company", "person_id": "people", "user_id": "users", "users_id": "users",
				"owner_user_id": "users", "ownerUserId": "users", "id_user": "users", "user_id_2": "users", "status_id": "statuses", "invoice_id": "invoices",
				"previous_invoice_id": "invoices", "user_count": "", "user": "", "paid": "", "session_id": "", "users": "", "user_type_id": "",
			},
		},
		{
			[]*table{newTable("wp_posts", "ID"), newTable("wp_users", "ID"), newTable("wp_terms", "term_id"), newTable("wp_options", "option_id"), newTable("wp_links", "link_id")},
			map[string]string{"comment_post_ID": "wp_posts", "user_id": "wp_users", "term_id": "wp_terms", "object_id": ""},
		},
		{ // two that it may mean
			[]*table{newTable("order", "id"), newTable("orders", "id"), newTable("tbl_customer", "id")},
			map[string]string{"order_id": "", "customer_id": "tbl_customer"},
		},
	} {
		for name, want := range tt.want {
			of := newTable("t", "number", name)
			a := &audit{tables: append(slices.Clone(tt.schema), of)}
			got := ""
			if to, ok := a.byName(of, of.columns[1]); ok {
				got = to.name
			}
			if got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
	// The key of a part may be the key of another table, and is not so for a table's own number.
	users, profiles, orders := newTable("users", "id"), newTable("user_profiles", "user_id"), newTable("orders", "order_id")
	a := &audit{tables: []*table{users, profiles, orders, newTable("order_lines", "id")}}
	if to, ok := a.byName(profiles, profiles.columns[0]); !ok || to.table != users {
		t.Errorf("user_profiles.user_id refers to %+v", to)
	}
	if to, ok := a.byName(orders, orders.columns[0]); ok {
		t.Errorf("orders.order_id refers to %s", to.name)
	}
	text := idcolumn.Column{Name: "external_user_id", Kind: idcolumn.Text}
	if to, ok := a.byName(orders, text); ok {
		t.Errorf("a text of %s", strings.ToUpper(to.name))
	}
}
