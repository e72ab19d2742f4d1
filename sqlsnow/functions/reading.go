package functions

import (
	"fmt"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
)

// version is the version of the functions' text. Install replaces functions of another version.
const version = 1

// A function is a function of SQL.
type function struct {
	name       string
	comment    string
	statements []string
}

// Reading returns the statements that create the functions which read the ids of a layout, for a migration. They
// need no table and no worker number. Executed again, they replace the functions. [Install] executes them too:
//
//	snow_time(id)               start of the id's tick, rounded down to a microsecond
//	snow_datacenter(id)         the parts of the id
//	snow_worker(id)
//	snow_sequence(id)           with the lane, if the layout has lanes
//	snow_shard(id)
//	snow_with_shard(id, shard)  the id with another shard, as Layout.WithShard; for layouts with shard bits
//	snow_id_from(time)          the lowest id of that time or later
//	snow_id_until(time)         the lowest id above all ids of an earlier time
//
// For a number that is not an id of the layout, and for NULL, they return NULL; snow_time also does so for a time
// after the year
// 9999. Times are timestamptz in PostgreSQL, and DATETIME(6) in UTC in MySQL and MariaDB. A time before the epoch
// counts as the epoch, and one after the layout's end as the end.
//
// Ids that were made from one instant up to another are
//
//	WHERE id >= snow_id_from(:from) AND id < snow_id_until(:to)
//
// which is a range of the index. With lanes the range also has ids of the same spans that are earlier or later; add
//
//	AND snow_time(id) >= :from AND snow_time(id) < :to
//
// The functions read nothing and depend on nothing but their arguments: they are DETERMINISTIC and NO SQL in MySQL,
// IMMUTABLE and PARALLEL SAFE in PostgreSQL, where they may be in an index. They have the rights of their caller.
//
// A dialect other than MySQL and Postgres, and the zero Layout, are a [*snow.FieldError].
func Reading(d sqlsnow.Dialect, l snow.Layout) ([]string, error) {
	a, err := arithmeticOf(d, l)
	if err != nil {
		return nil, fmt.Errorf("functions: reading: %w", err)
	}
	var statements []string
	for _, f := range a.readers() {
		statements = append(statements, f.statements...)
	}
	return statements, nil
}

func (a arithmetic) readers() []function {
	const id = "id bigint"
	parameter, since, time := "instant timestamptz", "CAST(extract(epoch FROM (instant - timestamptz '1970-01-01 00:00:00+00')) * 1000000 AS bigint)", "timestamptz"
	if a.dialect == sqldialect.MySQL {
		parameter, since, time = "instant DATETIME(6)", "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', instant)", "DATETIME(6)"
	}
	b := a.bits
	part := func(name, expression string) function {
		return a.reader(name, id, "bigint", when(a.isID("id"), expression))
	}
	tick, us := a.tickOf("id"), a.microseconds(a.tickOf("id"))
	start := "(timestamp '1970-01-01 00:00:00' + (" + us + " / 1000000) * interval '1 second' + (" + us + " % 1000000) * interval '1 microsecond') AT TIME ZONE 'UTC'"
	if a.dialect == sqldialect.MySQL {
		start = "TIMESTAMPADD(MICROSECOND, " + us + ", TIMESTAMP'1970-01-01 00:00:00')"
	}
	first := a.firstTick(since)
	top := "0"
	if b.Lane > 0 { // a span begins with its first lane, every other tick ends with the last one
		top = fmt.Sprintf("(CASE WHEN %s = 0 THEN 0 ELSE %d END)", low(first, int(b.Span)), 1<<b.Lane-1)
	}
	shard, rest, worker := int(b.Shard), a.rest(), int(b.Worker)
	all := []function{
		a.reader("snow_time", id, time, when(fmt.Sprintf("%s AND %s <= %d", a.isID("id"), tick, a.latest()), start)),
		part("snow_datacenter", low(right("id", worker+rest+shard), int(b.Datacenter))),
		part("snow_worker", low(right("id", rest+shard), worker)),
		part("snow_sequence", or(left(a.laneOf("id"), rest), low(right("id", shard), rest))),
		part("snow_shard", low("id", shard)),
		// GREATEST of PostgreSQL leaves NULL out
		a.reader("snow_id_from", parameter, "bigint", when("instant IS NOT NULL", a.bound(first, "0"))),
		a.reader("snow_id_until", parameter, "bigint", when("instant IS NOT NULL", a.bound(first, top))),
	}
	if shard > 0 {
		changed := or(high("id", shard), low("shard", shard))
		all = append(all, a.reader("snow_with_shard", id+", shard bigint", "bigint", when(a.isID("id")+" AND "+changed+" > 0", changed)))
	}
	return all
}

// reader returns a function that returns an expression of its parameters.
func (a arithmetic) reader(name, parameters, result, expression string) function {
	if a.dialect == sqldialect.MySQL {
		return function{name, a.comment(), []string{
			"DROP FUNCTION IF EXISTS " + name,
			"CREATE FUNCTION " + name + "(" + parameters + ") RETURNS " + result +
				"\n  DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT '" + a.comment() + "'\n  RETURN " + expression,
		}}
	}
	return function{name, a.comment(), []string{
		"CREATE OR REPLACE FUNCTION " + name + "(" + parameters + ") RETURNS " + result +
			"\n  LANGUAGE sql IMMUTABLE PARALLEL SAFE\n  AS $$ SELECT " + expression + " $$",
		"COMMENT ON FUNCTION " + name + " IS '" + a.comment() + "'",
	}}
}

// comment is what Install reads to see which functions a database has.
func (a arithmetic) comment() string { return fmt.Sprintf("snow %d: %v", version, a.layout) }
