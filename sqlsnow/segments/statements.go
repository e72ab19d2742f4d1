package segments

import "github.com/shardsnow/snow/internal/dbserver"

// The SQL of segments. Engine.Compile explains the names in braces. On MySQL, the insert id is the former next_id.
const (
	// updateTake changes no row that went back, was fenced because of that, or does not fit what was read before.
	// It leaves the mark of its process in takes, modulo 1,048,576.
	updateTake = `UPDATE snow_segments SET takes = takes - takes % 1048576 + 1048575 + :taker + {one next_id}, next_id = next_id + :span
		{from} WHERE {bound} {guard} {durable} tag = :tag AND state = 1 AND modulus = :modulus AND next_id % modulus = residue
		AND (:residue < 0 OR residue = :residue) AND (:space = '' OR space_uuid = :space)
		AND next_id >= :least AND next_id <= :most {returning next_id, residue, space_uuid}`

	// updateGiveBack undoes the end of a take, if the row is as the take left it: see table.giveBack.
	updateGiveBack = `UPDATE snow_segments SET takes = takes + {one now}, next_id = :unused
		{from} WHERE {bound} {guard} tag = :tag AND state = 1 AND modulus = :modulus AND next_id = :end AND takes = :takes`

	selectEnd = `SELECT takes FROM snow_segments WHERE {bound} tag = :tag AND state = 1 AND modulus = :modulus AND next_id = :end`

	selectRow = `SELECT space_uuid, modulus, residue, state, next_id FROM snow_segments WHERE {bound} tag = :tag`

	selectCounters = `SELECT tag, next_id, modulus, residue, state FROM snow_segments ORDER BY tag` + dbserver.NoLimit

	insertRow = `INSERT INTO snow_segments (tag, space_uuid, modulus, residue, state, next_id, takes)
		VALUES (:tag, :space, :modulus, :residue, 0, :next, 0)`

	// updateSeal opens a row after it was compared with the rows of all other databases and fits them.
	updateSeal = `UPDATE snow_segments SET state = 1, takes = takes + {one now}
		{from} WHERE {bound} {guard} {durable} tag = :tag AND space_uuid = :space AND modulus = :modulus AND residue = :residue AND state = 0`

	// updateFence stops all processes from taking numbers of a row that is below the numbers that one of them took.
	updateFence = `UPDATE snow_segments SET state = 2, takes = takes + {one now}
		{from} WHERE {bound} {guard} tag = :tag AND space_uuid = :space AND state = 1 AND next_id < :least`

	// updateRaise moves a row to the first number of its residue from :next on, and opens it again.
	updateRaise = `UPDATE snow_segments SET
		next_id = {greatest}(next_id, :next + (residue - :next % modulus + modulus) % modulus),
		state = CASE state WHEN 2 THEN 1 ELSE state END, takes = takes + {one now}
		{from} WHERE {bound} {guard} {durable} tag = :tag AND modulus > 0`
)
