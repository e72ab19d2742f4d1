// Package route keeps GORM's statements in the shard that they belong to.
//
// A model has a shard if its key has gormsnow's tag snow:"shard=Field". Then the key and that field both tell
// the database of a row, and a statement with a condition on one of them tells its own:
//
//	db.First(&order, "id = ?", id)
//	db.Where("buyer_id = ? AND (state = ? OR amount > ?)", buyer, "open", 100).Find(&orders)
//	db.Model(&order).Update("state", "paid")
//
// [New] returns one database over all databases, which sends each statement to the right one. [Guard] is for
// programs that choose the database themselves: a statement on the wrong one is refused.
//
// Everything that does not tell its shard is refused. [On] names it, for raw SQL and the like, and [Scatter]
// asks for the rows of all shards. An [*Error] names the model, the reason and the remedy.
//
// # Several shards
//
// A router asks all databases that have some of the rows, at the same time, and merges the answers: Find,
// Preload, Rows, Pluck, FindInBatches and Count, for keys in a list and with Scatter. Rows can be ordered by the
// key and other columns with numbers or times, and a limit needs an order. Of functions there are count, and sum,
// min and max of such a column. If one database fails, the query fails with a [*snow.ShardError]: it never returns
// fewer rows. Offsets, groups, DISTINCT, locks and other functions are refused, and so are queries of several
// shards in a transaction, and writes; [CreateAcross] inserts rows shard by shard.
//
// Sums of integers and decimals are exact. A sum of floats depends on the order of the rows, as in one database.
//
// Texts are not merged in an order, because databases compare them by rules that Go does not know. Nor are times on
// SQLite, which compares their texts, and columns of the type timestamp on MySQL.
//
// # Associations
//
// The table of a many-to-many association has no model. Its rows are in the shard of the row that has the
// association, or of the other one if only that has shards. Append and Replace also write the rows at the other
// end; leave these out if they are in every database, or elsewhere:
//
//	db.Model(&basket).Omit("Products.*").Association("Products").Append(&product)
//
// Find and Count of [gorm.Association] need the owner in [Models], and rows that are in every database; others can
// be preloaded. A polymorphic table has the shard of its owner if its shard tag names the column with the owner's
// key.
//
// # Replicas, statistics, logs
//
// [Replicas] gives the databases replicas, which only the queries of [Replica] ask. [RouterOf] returns the router of a
// database, with statistics. [LogHandler] adds the shard of a statement to its log line, and [Explain] says where a
// statement would go, and why.
//
// # How the shard is found
//
// Package route reads the SQL that GORM has built, just before it is sent, with the values of its placeholders.
// So it sees all conditions, also those that GORM adds for a struct with a key, for soft deletes or for a
// preload, and it sees GORM's parentheses as the database does. It looks for these conditions in the WHERE
// clause:
//
//	column = ?             one shard
//	column IN (?, …)       the shards of the values
//	a AND b                the shards of both; if there are none, no row can match
//	a OR b                 the shards of either, if both tell some
//	NOT a, anything else   tells none
//
// A value is a [snow.ID] or an integer for ids and numbers, and a string for strings. NULL, expressions,
// literals in the text and values of other types tell none. What could change the meaning of AND and OR is
// refused: subqueries, UNION, CASE, XOR, comments, semicolons, and quotes with a backslash, a quote or a
// placeholder inside.
//
// The shard of a statement is its logical shard. For a router, a statement about two logical shards is about
// two, even if one database has both: so a program does not begin to fail when databases are added.
//
// # Inside
//
//	guard.go                  Guard
//	route.go transaction.go   New; transactions that begin in the database of their first statement
//	scatter.go projection.go  which queries about several shards are merged; what they select
//	merge.go rank.go          merging rows and sums; comparing numbers and times
//	create.go migrate.go      CreateAcross, MigrateAcross
//	callbacks.go bound.go     how a statement is seen before it is sent; On and Scatter
//	replica.go                databases and their replicas; Replica; prepared statements
//	stats.go log.go           RouterOf; LogHandler
//	explain.go                Explain
//	statement.go join.go      the shards of a statement; tables of many-to-many associations
//	condition.go tokens.go    the conditions of a WHERE clause that tell shards
//	reading.go                what was read of a text, kept; the shards of conditions with their values
//	set.go select.go          sets of shards; what a SELECT has beside conditions
//	model.go errors.go        the shard of a value; Error
package route
