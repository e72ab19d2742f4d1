package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
)

// Unfits says why tables of a plan cannot change in the way that the plan says. It reads the catalogue only.
func Unfits(ctx context.Context, q querier, p *plan.Plan) ([]*Unfit, error) {
	var all []*Unfit
	for _, planned := range p.Tables {
		if planned.Method == plan.None || len(planned.Columns) == 0 {
			continue
		}
		t, err := read(ctx, q, planned)
		if err != nil {
			return nil, err
		}
		found, err := unfit(ctx, q, t)
		if err != nil {
			return nil, fmt.Errorf("convert: table %q: %w", t.Name, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// Judge changes the method of tables that cannot change online, and says why. What no method can do is a note. It also
// says what programs must do before tables change online.
func Judge(ctx context.Context, q querier, p *plan.Plan) error {
	for range 2 { // the second time for the methods of the first
		all, err := Unfits(ctx, q, p)
		if err != nil {
			return err
		}
		for _, u := range all {
			i := slices.IndexFunc(p.Tables, func(t *plan.Table) bool { return t.Name == u.Table })
			t, reason := p.Tables[i], u.Reason
			if u.Column != "" {
				reason = fmt.Sprintf("column %s: %s", u.Column, reason)
			}
			if u.Method == plan.Alter {
				if note := fmt.Sprintf("by hand: table %s: %s", t.Name, reason); !slices.Contains(p.Notes, note) {
					p.Notes = append(p.Notes, note)
				}
				continue
			}
			if t.Why != "" {
				reason = t.Why + "; " + reason
			}
			t.Method, t.Why = plan.Alter, reason
		}
	}
	if slices.ContainsFunc(p.Tables, func(t *plan.Table) bool { return t.Method == plan.Online && len(t.Columns) > 0 }) {
		p.Before = append(p.Before, beforeOnline()...)
	}
	return nil
}

// beforeOnline is what programs must do before the first second column.
func beforeOnline() []string {
	return []string{
		"Before the first step, for tables that change online: programs name the columns in SELECT, INSERT and COPY, as these tables get more columns and another order. " +
			"An INSERT without them fails after the swap. The method alter keeps columns and their order.",
		"Before the first step, for tables that change online: programs go on after error 0A000, cached plan must not change result type. " +
			"Each session may get it when columns come and at the swap, for statements that it prepared before. And transactions with REPEATABLE READ or SERIALIZABLE are tried again after error 40001.",
	}
}

// check fails if a table cannot change as planned, before anything is written.
func check(p *plan.Plan) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		all, err := Unfits(ctx, r.DB, p)
		if err != nil {
			return err
		}
		var errs []error
		for _, u := range all {
			errs = append(errs, u)
		}
		return errors.Join(errs...)
	}
}

// A reason is what a query has found against a method.
type reason struct{ Column, Reason string }

func unfit(ctx context.Context, q querier, t *table) ([]*Unfit, error) {
	var all []*Unfit
	add := func(column, format string, args ...any) {
		all = append(all, &Unfit{t.Name, column, t.Method, fmt.Sprintf(format, args...)})
	}
	for _, c := range t.Columns {
		switch a := t.column(c.Name); {
		case a == nil:
			add(c.Name, "it does not exist")
		case !slices.Contains([]string{"smallint", "integer", wideType}, a.Base):
			add(c.Name, "its type is %s: only smallint and integer become %s; change arrays by hand", a.Type, wideType)
		case a.Type != a.Base && t.Method == plan.Online:
			add(c.Name, "its type is the domain %s", a.Type)
		case a.Generated != "" && t.Method == plan.Online:
			add(c.Name, "it is computed")
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	queries := []string{always(t)}
	if t.Method == plan.Online {
		queries = append(queries, onlineOnly(t))
		for _, g := range t.generated() {
			add(g.Name, "it is computed from a column that changes, and would be computed anew for all rows under the lock")
		}
	}
	for _, s := range queries {
		found, err := query[reason](ctx, q, s)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			add(f.Column, "%s", f.Reason)
		}
	}
	if t.Method != plan.Online {
		return all, nil
	}
	keys, err := foreignKeys(ctx, q, []*table{t})
	if err != nil {
		return nil, err
	}
	for _, f := range keys {
		if f.Odd != "" {
			add("", "foreign key %q has %s", f.Name, f.Odd)
		}
		if f.OnDelete == "d" || f.OnUpdate == "d" {
			add("", "foreign key %q sets defaults", f.Name)
		}
	}
	return all, nil
}

// always are reasons against both methods.
func always(t *table) string {
	return `SELECT '' AS "Column", 'it has the type of a table: ' || c.reloftype::regtype AS "Reason" FROM pg_catalog.pg_class c WHERE c.oid = ` + t.oid + ` AND c.reloftype <> 0
		UNION ALL SELECT '', 'it inherits from another table: change that one' FROM pg_catalog.pg_inherits WHERE inhrelid = ` + t.oid + `
		UNION ALL SELECT a.attname, 'rows are divided between partitions by it: PostgreSQL changes no such column; make a table with other partitions'
			FROM pg_catalog.pg_partitioned_table p JOIN pg_catalog.pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = ANY (p.partattrs::int2[])
			WHERE p.partrelid = ` + t.oid + ` AND a.attname = ANY (` + literals(columnNames(t)) + `)
		UNION ALL SELECT '', 'row level security hides rows from this account' WHERE pg_catalog.row_security_active(` + t.oid + `::oid)
		UNION ALL SELECT '', pg_catalog.pg_describe_object(d.classid, d.objid, 0) || ' uses a column that changes: drop it before, and make it anew after'
			FROM pg_catalog.pg_depend d JOIN ` + moved([]*table{t}) + ` ON d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = m.rel AND d.refobjsubid = m.num
			WHERE d.classid NOT IN ('pg_catalog.pg_class'::regclass, 'pg_catalog.pg_constraint'::regclass, 'pg_catalog.pg_attrdef'::regclass, 'pg_catalog.pg_rewrite'::regclass,
				'pg_catalog.pg_policy'::regclass, 'pg_catalog.pg_trigger'::regclass, 'pg_catalog.pg_statistic_ext'::regclass, 'pg_catalog.pg_publication_rel'::regclass)`
}

// onlineOnly are reasons against the second column.
func onlineOnly(t *table) string {
	return `SELECT '' AS "Column", 'it has partitions' AS "Reason" WHERE ` + literal(t.kind) + ` = 'p'
		UNION ALL SELECT '', 'other tables inherit from it' FROM pg_catalog.pg_inherits WHERE inhparent = ` + t.oid + ` AND ` + literal(t.kind) + ` <> 'p' GROUP BY inhparent
		UNION ALL SELECT '', 'constraint ' || quote_ident(c.conname) || CASE c.contype WHEN 'x' THEN ' excludes: PostgreSQL builds none beside writers' ELSE ' is deferrable: a copy of it would not be' END
			FROM pg_catalog.pg_constraint c WHERE c.conrelid = ` + t.oid + ` AND (c.contype = 'x' OR c.contype IN ('p', 'u') AND c.condeferrable)
				AND EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN ` + moved([]*table{t}) + ` ON d.refobjid = m.rel AND d.refobjsubid = m.num
					WHERE d.refclassid = 'pg_catalog.pg_class'::regclass AND (d.classid = 'pg_catalog.pg_constraint'::regclass AND d.objid = c.oid OR d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.conindid))
		UNION ALL SELECT '', 'materialized view ' || c.oid::regclass || ' reads it, and would be filled while writers wait: drop it before, and make it anew after'
			FROM (` + viewTree([]*table{t}) + ` SELECT oid FROM ordered) o JOIN pg_catalog.pg_class c ON c.oid = o.oid AND c.relkind = 'm'
		UNION ALL SELECT '', 'rule ' || quote_ident(rulename) || ' changes an UPDATE' FROM pg_catalog.pg_rewrite WHERE ev_class = ` + t.oid + ` AND ev_type = '2'
		UNION ALL SELECT '', 'trigger ' || quote_ident(tgname) || ' would fire for rows that the copy fills: the account needs GRANT SET ON PARAMETER session_replication_role'
			FROM pg_catalog.pg_trigger WHERE ` + firing(t) + ` AND tgenabled = 'O' AND NOT ` + mayBeQuiet + `
		UNION ALL SELECT '', 'trigger ' || quote_ident(tgname) || ' fires in all sessions, so also for rows that the copy fills' FROM pg_catalog.pg_trigger WHERE ` + firing(t) + ` AND tgenabled IN ('A', 'R')
		UNION ALL SELECT '', 'publication ' || quote_ident(p.pubname) || ' has it without a list of columns, and subscribers stop at a column that they lack: publish it with the list '
			|| (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a WHERE a.attrelid = ` + t.oid + ` AND a.attnum > 0 AND NOT a.attisdropped AND a.attname NOT LIKE '\_snow\_%')
			FROM pg_catalog.pg_publication p WHERE p.puballtables OR EXISTS (SELECT FROM pg_catalog.pg_publication_rel r WHERE r.prpubid = p.oid AND r.prrelid = ` + t.oid + ` AND r.prattrs IS NULL)
				OR EXISTS (SELECT FROM pg_catalog.pg_publication_namespace s JOIN pg_catalog.pg_class c ON c.relnamespace = s.pnnspid WHERE s.pnpubid = p.oid AND c.oid = ` + t.oid + `)`
}

// mayBeQuiet is whether the account may keep triggers from firing.
const mayBeQuiet = `((SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) OR pg_catalog.has_parameter_privilege('session_replication_role', 'SET'))`

// firing are triggers of the user that the updates of the copy would fire. One for UPDATE OF some columns would not, as
// the copy sets none of them.
func firing(t *table) string {
	return "tgrelid = " + t.oid + " AND NOT tgisinternal AND tgname <> " + literal(triggerName) + " AND tgtype & 16 <> 0 AND tgattr::text = ''"
}

func columnNames(t *table) []string {
	var all []string
	for _, c := range t.Columns {
		all = append(all, c.Name)
	}
	return all
}

// spares names the second columns of a table, for people.
func spares(t *plan.Table) string {
	var all []string
	for _, c := range t.Columns {
		all = append(all, quote(spareName(c.Name)))
	}
	return strings.Join(all, ", ")
}
