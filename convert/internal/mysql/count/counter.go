// Package count makes the steps of phases Count and Finish on MySQL and MariaDB: triggers give small numbers to rows
// that come without an id, while other rows come with snow ids. Package convert says why this is right, and what it
// does not cure.
//
//	steps.go     the steps of Count
//	finish.go    the steps of Finish that end it
//	counter.go   names and sizes of a counted table
//	trigger.go   the texts of the triggers
//	create.go    their creation, comparison and end
//	guard.go     triggers on all other tables that the server counts
//	probe.go     does this server do what the triggers need?
//	session.go   sessions that change tables
package count

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// A counter is a table whose rows the database counts, and whose counter must not come among the snow ids.
type counter struct {
	table, key string
	size       int    // numbers in a block
	first      int64  // counted numbers are below
	scatter    bool   // a statement longer than its block goes on further up
	tag        uint32 // in names of user variables; see begins
}

// firstID is the limit between numbers that are counted and snow ids, if the plan says nothing.
const firstID = 1 << 40

func newCounter(t *plan.Table) *counter {
	c := &counter{table: t.Name, key: t.Key, size: t.Block, first: t.First, scatter: t.Scatter}
	if c.size <= 0 {
		c.size = defaultBlock(t)
	}
	if c.first <= 0 {
		c.first = firstID
	}
	return c
}

// defaultBlock is smaller where the programs have numbers of 32 bits or less: each session that ends leaves a rest.
func defaultBlock(t *plan.Table) int {
	column := t.Column(t.Key)
	if column == nil {
		return 1000
	}
	switch integerKind(column.Type) {
	case "int", "integer":
		return 100
	case "mediumint":
		return 10
	}
	return 1
}

// integerKind is the first word of a type such as int(10) unsigned.
func integerKind(kind string) string {
	return strings.FieldsFunc(strings.ToLower(kind)+" ", func(r rune) bool { return r == '(' || r == ' ' })[0]
}

func isUnsigned(kind string) bool { return strings.Contains(strings.ToLower(kind), "unsigned") }

func tag(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()
}

// Names that the conversion gives. Names of the server have at most 64 characters.
func named(prefix, table string) string {
	const most = 64
	if len(prefix)+len(table) <= most && len([]rune(table)) == len(table) {
		return prefix + table
	}
	return prefix + strconv.FormatUint(uint64(tag(table)), 16)
}

// leftTable takes numbers that failed statements left in insert_id.
const leftTable = "snow_convert_left"

func (c *counter) blockTable() string    { return named("snow_convert_count_", c.table) }
func (c *counter) beforeTrigger() string { return named("snow_convert_before_", c.table) }
func (c *counter) afterTrigger() string  { return named("snow_convert_after_", c.table) }
func guardTrigger(table string) string   { return named("snow_convert_guard_", table) }

func (c *counter) createBlocks() string {
	return "CREATE TABLE IF NOT EXISTS " + quote(c.blockTable()) + " (block BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY," +
		" at DATETIME(6) NOT NULL, who VARCHAR(400) NOT NULL) ENGINE=InnoDB"
}

func (c *counter) createTaken() string {
	return "CREATE TRIGGER IF NOT EXISTS " + quote(named("snow_convert_taken_", c.table)) + " AFTER INSERT ON " + quote(c.blockTable()) + " FOR EACH ROW " + taken
}

const createLeft = "CREATE TABLE IF NOT EXISTS " + leftTable + " (id BIGINT UNSIGNED NOT NULL PRIMARY KEY," +
	" number BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, KEY (number)) ENGINE=InnoDB"

func (c *counter) createBefore(order string) string {
	return "CREATE TRIGGER " + quote(c.beforeTrigger()) + " BEFORE INSERT ON " + quote(c.table) + " FOR EACH ROW " + order + c.text(beforeInsert)
}

func (c *counter) createAfter(order string) string {
	return "CREATE TRIGGER " + quote(c.afterTrigger()) + " AFTER INSERT ON " + quote(c.table) + " FOR EACH ROW " + order + c.text(afterInsert)
}

func quote(name string) string { return sqldialect.MySQL.Quote(name) }
