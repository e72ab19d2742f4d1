package schema

import (
	"context"
	"strings"
)

// serverPostgres looks at settings and rights.
func (r *reader) serverPostgres(ctx context.Context) {
	r.each(ctx, `SELECT pg_is_in_recovery(), current_setting('server_version_num')::int < 120000, has_schema_privilege(current_schema(), 'CREATE'), current_schema()`, func(v row) {
		if v.is(0) {
			r.refuse("the server is a replica: go to the primary")
		}
		if v.is(1) {
			r.refuse("PostgreSQL %s is too old: want 12 or newer", r.Version)
		}
		if !v.is(2) {
			r.refuse("the account lacks rights: GRANT CREATE ON SCHEMA %s TO it", v.text(3))
		}
	})
	var foreign []string
	r.each(ctx, `SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
		AND NOT pg_has_role(relowner, 'USAGE') ORDER BY 1`, func(v row) { foreign = append(foreign, v.text(0)) })
	if len(foreign) > 0 {
		r.refuse("the account does not own these tables, and only owners change columns: %s", strings.Join(foreign, ", "))
	}
	r.each(ctx, `SELECT DISTINCT p.pubname::text FROM pg_publication p
		WHERE p.puballtables OR EXISTS (SELECT 1 FROM pg_publication_tables t WHERE t.pubname = p.pubname AND t.schemaname = current_schema()) ORDER BY 1`, func(v row) {
		r.Notes = append(r.Notes, "by hand: publication "+v.text(0)+" has tables of this schema: subscribers need BIGINT columns before the first snow id, and the same columns while a conversion runs")
	})
	r.lastPostgres(ctx)
}

// lastPostgres reads how far the sequences have counted, as far as the account may.
func (r *reader) lastPostgres(ctx context.Context) {
	last := map[string]int64{}
	r.each(ctx, `SELECT s.oid, CASE WHEN has_sequence_privilege(s.oid, 'SELECT, USAGE') THEN pg_sequence_last_value(s.oid) END
		FROM pg_class s WHERE s.relkind = 'S'`, func(v row) { last[v.text(0)] = v.number(1) })
	for _, t := range r.Tables {
		for i := range t.Counted {
			if n := last[t.Counted[i].id]; n > 0 {
				t.Counted[i].Next = n + 1
			}
		}
	}
}
