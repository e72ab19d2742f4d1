package numbers

import (
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// The SQL of numbers. Engine.Compile explains the names in braces.
const (
	selectSeries = `SELECT pattern, zone, kind, restarts, {now} FROM snow_numbers WHERE {bound} series = :series AND scope = ''`

	insertSeries = `INSERT INTO snow_numbers (series, scope, pattern, zone, kind, restarts, state, last_number)
		VALUES (:series, '', :pattern, :zone, :kind, :restarts, 1, 0)`

	// The gap-free way: one statement in the caller's transaction makes the row of a counter, or counts, and locks the
	// row until the transaction ends. It does nothing outside of the window, and nothing if the padding has no room.
	upsertMySQL = `INSERT INTO snow_numbers (series, scope, pattern, zone, kind, restarts, state, last_number)
		SELECT :series, :scope, '', '', :kind, 0, 1, LAST_INSERT_ID(:count) FROM DUAL WHERE {now} >= :begin AND {now} < :end
		ON DUPLICATE KEY UPDATE last_number = IF(last_number <= :room, LAST_INSERT_ID(last_number + :count), last_number + 0 * LAST_INSERT_ID(0))`

	upsertReturning = `INSERT INTO snow_numbers (series, scope, pattern, zone, kind, restarts, state, last_number)
		SELECT CAST(:series AS TEXT), CAST(:scope AS TEXT), '', '', CAST(:kind AS INTEGER), 0, 1, CAST(:count AS BIGINT) WHERE {now} >= :begin AND {now} < :end
		ON CONFLICT (series, scope) DO UPDATE SET last_number = snow_numbers.last_number + :count
		WHERE snow_numbers.last_number <= :room RETURNING last_number`

	selectNow = `SELECT {now}`

	// The fast way: one statement that commits by itself moves the counter by a whole block. On MySQL, the insert id is
	// the first number of the block.
	updateTake = `UPDATE snow_numbers SET state = {one last_number + 1}, last_number = last_number + :count
		{from} WHERE {bound} {guard} {durable} series = :series AND scope = :scope AND state = 1
		AND last_number >= :least AND last_number <= :room AND {now} >= :begin AND {now} < :end {returning last_number}`

	// The fast way in a database that may lose commits: updateTake that also proves a claim and makes another one. A claim
	// is a word in the row. '!' is the place before the newest one, and the oldest ones are cut off.
	updateTurn = `UPDATE snow_numbers SET state = {one last_number + 1}, last_number = last_number + :count,
		pending = SUBSTR(REPLACE(REPLACE(pending, :old, ''), '!', :new), 1, 8101)
		{from} WHERE {bound} {guard} {durable} series = :series AND scope = :scope AND state = 1 AND pending LIKE :has
		AND last_number >= :least AND last_number <= :room AND {now} >= :begin AND {now} < :end {returning last_number}`

	// updateSeries does the same with the configuration, in which nothing is counted.
	updateSeries = `UPDATE snow_numbers SET state = {one last_number + 1}, pending = SUBSTR(REPLACE(REPLACE(pending, :old, ''), '!', :new), 1, 8101)
		{from} WHERE {bound} {guard} {durable} series = :series AND scope = '' AND pattern = :pattern AND zone = :zone
		AND kind = :kind AND restarts = :restarts AND pending LIKE :has`

	insertCounter = `INSERT INTO snow_numbers (series, scope, pattern, zone, kind, restarts, state, last_number)
		VALUES (:series, :scope, '', '', :kind, 0, 1, 0)`

	selectCounter = `SELECT state, last_number, pending, {now} FROM snow_numbers WHERE {bound} series = :series AND scope = :scope`

	// updateFence stops all processes from taking numbers of a counter that is below a number that one of them took.
	updateFence = `UPDATE snow_numbers SET state = 2 * {one last_number + 1}
		{from} WHERE {bound} {guard} series = :series AND scope = :scope AND state = 1 AND last_number < :least`

	// updateRaise moves a counter up, and opens it again.
	updateRaise = `UPDATE snow_numbers SET state = {one last_number + 1}, last_number = {greatest}(last_number, :last)
		{from} WHERE {bound} {guard} {durable} series = :series AND scope = :scope`

	selectAll = `SELECT series, scope, pattern, zone, kind, restarts, state, last_number FROM snow_numbers ORDER BY series, scope` + dbserver.NoLimit
)

// upsert returns the statement of the gap-free way.
func upsert(e *dbserver.Engine) dbserver.Statement {
	if e.Dialect == sqldialect.MySQL {
		return e.Compile(upsertMySQL)
	}
	return e.Compile(upsertReturning)
}
