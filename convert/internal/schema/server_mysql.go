package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// needed are the rights on the database that the steps need.
var needed = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX", "REFERENCES", "TRIGGER", "LOCK TABLES"}

// refuse appends a refusal.
func (r *reader) refuse(format string, args ...any) {
	r.Refusals = append(r.Refusals, fmt.Sprintf(format, args...))
}

// serverMySQL looks at settings and rights.
func (r *reader) serverMySQL(ctx context.Context) {
	v := map[string]string{}
	r.each(ctx, `SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_bin', 'binlog_format', 'log_bin_trust_function_creators', 'read_only', 'super_read_only',
		'wsrep_on', 'auto_increment_increment', 'sql_mode', 'group_replication_single_primary_mode', 'group_replication_group_name', 'tidb_version', 'innodb_native_foreign_keys')`, func(row row) {
		v[strings.ToLower(row.text(0))] = strings.ToUpper(row.text(1))
	})
	database := ""
	r.each(ctx, "SELECT DATABASE(), VERSION()", func(v row) {
		if database = v.text(0); strings.Contains(v.text(1), "TiDB") {
			r.refuse("the server is TiDB, which has no triggers")
		}
	})
	g := r.grants(ctx, database)
	if r.err != nil {
		return
	}
	if version := numbers(r.Version); r.Product == "MySQL" && !atLeast(version, 8) || r.Product == "MariaDB" && !atLeast(version, 10, 5) {
		r.refuse("%s %s is too old: want MySQL 8.0 or MariaDB 10.5, or newer", r.Product, r.Version)
	}
	if v["log_bin"] == "ON" && v["binlog_format"] == "STATEMENT" {
		r.refuse("binlog_format is STATEMENT, so replicas would count differently: SET GLOBAL binlog_format = ROW, and let all programs connect anew")
	}
	if v["log_bin"] == "ON" && v["log_bin_trust_function_creators"] == "OFF" && !g.global["SUPER"] {
		r.refuse("with a binary log, only an account with SUPER makes triggers: SET GLOBAL log_bin_trust_function_creators = 1")
	}
	if v["read_only"] == "ON" || v["super_read_only"] == "ON" {
		r.refuse("the server is read-only: it may be a replica; go to the primary")
	}
	if v["wsrep_on"] == "ON" {
		r.refuse("the server is a node of Galera, where locks of tables hold on one node only")
	}
	if v["group_replication_group_name"] != "" && v["group_replication_single_primary_mode"] == "OFF" {
		r.refuse("the group has several primaries, and locks of tables hold on one only: go to single-primary mode")
	}
	if n := v["auto_increment_increment"]; n != "" && n != "1" {
		r.refuse("auto_increment_increment is %s: want 1, since ids are counted in blocks", n)
	}
	if strings.Contains(v["sql_mode"], "NO_AUTO_VALUE_ON_ZERO") {
		r.refuse("sql_mode has NO_AUTO_VALUE_ON_ZERO, so a 0 would be stored as an id: remove it")
	}
	if missing := g.missing(needed); len(missing) > 0 {
		r.refuse("the account lacks rights: GRANT %s ON %s.* TO it", strings.Join(missing, ", "), quote(database))
	}
	r.OnlineLacks = map[string]string{}
	if !g.global["PROCESS"] {
		r.OnlineLacks["PROCESS"] = "*.*"
	}
	if len(g.missing([]string{"CREATE TEMPORARY TABLES"})) > 0 {
		r.OnlineLacks["CREATE TEMPORARY TABLES"] = quote(database) + ".*"
	}
	r.KeysInSQL = v["innodb_native_foreign_keys"] == "OFF"
	if len(r.Elsewhere) > 0 && !g.global["TRIGGER"] && !g.all {
		r.Notes = append(r.Notes, "by hand: the account has no right TRIGGER on all databases: guards in other databases need it there; remove those that no program of this database writes to")
	}
	if !g.all && !g.global["SELECT"] {
		r.Notes = append(r.Notes, "the account sees only some databases: guards may lack tables of others")
	}
}

// grants reads the rights of the account, with the ones of its active roles.
func (r *reader) grants(ctx context.Context, database string) *grants {
	g := &grants{database: database, global: map[string]bool{}, own: map[string]bool{}}
	roles := ""
	if r.Product == "MySQL" {
		r.each(ctx, "SELECT NULLIF(CURRENT_ROLE(), 'NONE')", func(v row) { roles = v.text(0) })
	}
	text := "SHOW GRANTS"
	if roles != "" {
		text += " FOR CURRENT_USER() USING " + roles
	}
	r.each(ctx, text, func(v row) { g.add(v.text(0)) })
	return g
}

// missing returns the rights that are lacking, sorted.
func (g *grants) missing(rights []string) (missing []string) {
	for _, right := range rights {
		if !g.all && !g.global[right] && !g.own[right] {
			missing = append(missing, right)
		}
	}
	slices.Sort(missing)
	return missing
}
