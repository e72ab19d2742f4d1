package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// differ is true for rows whose two columns are not equal. The operator is named with its schema, as a trigger keeps
// what the search_path of its maker finds, and others have another.
func differ(pairs []pair, row string) string {
	var all []string
	for _, p := range pairs {
		spare, live := row+quote(p.spare), row+quote(p.live.Name)
		if p.wide {
			all = append(all, fmt.Sprintf("%s IS DISTINCT FROM %s", spare, live))
			continue
		}
		all = append(all, fmt.Sprintf("%s IS DISTINCT FROM %s", spare, fitting(live, p.to)))
	}
	return strings.Join(all, " OR ")
}

// fitting is the value for a narrow column, which is NULL if it does not fit.
func fitting(value, to string) string {
	low, high := "-2147483648", "2147483647"
	if to == "smallint" {
		low, high = "-32768", "32767"
	}
	return fmt.Sprintf("(CASE WHEN %s OPERATOR(pg_catalog.>=) (%s)::bigint AND %s OPERATOR(pg_catalog.<=) (%s)::bigint THEN %s::%s END)",
		value, low, value, high, value, to)
}

// makeTrigger makes the trigger that keeps two columns equal. It fires only for rows that differ. So the copy does
// not call it, nor does an update of other columns.
//
// Both columns may be changed by a foreign key on them, with CASCADE or SET NULL: the other column follows.
//
// After the swap, programs must not give the old columns a value. An INSERT without a list of columns would, as the
// old columns come first: it fails, because it would put its values into the wrong columns.
func makeTrigger(ctx context.Context, tx *sql.Tx, t *table, pairs []pair, strict bool) error {
	var body strings.Builder
	for _, p := range pairs {
		live, spare := quote(p.live.Name), quote(p.spare)
		value := "NEW." + live
		if !p.wide {
			value = fitting("NEW."+live, p.to)
		}
		refuse := ""
		if strict {
			refuse = fmt.Sprintf(`	IF TG_OP OPERATOR(pg_catalog.=) 'INSERT'::text AND NEW.%s IS NOT NULL AND NEW.%[1]s IS DISTINCT FROM %s THEN
		RAISE EXCEPTION USING ERRCODE = 'restrict_violation', MESSAGE = %s, HINT = 'name the columns in INSERT and COPY';
	END IF;
`, spare, value, literal(fmt.Sprintf("column %q of table %q is kept by snow convert", p.spare, t.name)))
		}
		fmt.Fprintf(&body, `%s	IF TG_OP OPERATOR(pg_catalog.=) 'UPDATE'::text AND NEW.%s IS DISTINCT FROM OLD.%[2]s AND NEW.%[3]s IS NOT DISTINCT FROM OLD.%[3]s THEN
		NEW.%[3]s := NEW.%[2]s;
	ELSE
		NEW.%[2]s := %[4]s;
	END IF;
`, refuse, spare, live, value)
	}
	function := quote(t.schema) + "." + quote(functionName(t.name))
	return execute(ctx, tx,
		fmt.Sprintf("CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS %s", function, literal("BEGIN\n"+body.String()+"	RETURN NEW;\nEND")),
		"DROP TRIGGER IF EXISTS "+quote(triggerName)+" ON "+t.sql,
		fmt.Sprintf("CREATE TRIGGER %s BEFORE INSERT OR UPDATE ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION %s()", quote(triggerName), t.sql, differ(pairs, "NEW."), function),
		// Sessions with session_replication_role = replica must not escape it: subscriptions write so.
		"ALTER TABLE "+t.sql+" ENABLE ALWAYS TRIGGER "+quote(triggerName))
}

// dropTrigger takes it away.
func dropTrigger(ctx context.Context, tx *sql.Tx, t *table) error {
	return execute(ctx, tx, "DROP TRIGGER IF EXISTS "+quote(triggerName)+" ON "+t.sql,
		"DROP FUNCTION IF EXISTS "+quote(t.schema)+"."+quote(functionName(t.name))+"()")
}

// hasTrigger reports whether the trigger is there and fires for all sessions.
func hasTrigger(ctx context.Context, q querier, t *table) (bool, error) {
	found, err := one(ctx, q, "SELECT 1 FROM pg_catalog.pg_trigger WHERE tgrelid = "+t.oid+" AND tgname = "+literal(triggerName)+" AND tgenabled = 'A'")
	return found != "", err
}
