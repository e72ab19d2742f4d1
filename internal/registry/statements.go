package registry

import (
	"strings"

	"github.com/shardsnow/snow/internal/dbserver"
)

// The SQL of the lease protocol, which the documentation of package sqlsnow
// explains. Each is one statement that commits by itself. Engine.Compile
// explains the names in braces; besides them, {tick} is the database's clock in
// ticks of the layout, and {guard} includes the condition same.
//
// MySQL executes a SET from left to right, and each assignment sees those before
// it. So an expression here only uses columns that are assigned after it. The
// values must not depend on the server, because the binary log may contain the
// statement itself, which replicas then execute again.

const tick = `((({now}) * 1000 - :epoch) {div} :tick)`

// eligible is true for a row that anybody may take: it is free, or its window
// is over and nobody renewed it.
const eligible = `(state = 0 AND ceiling_tick <= {tick} + :slack
	OR state = 2 AND {tick} >= ceiling_tick + :grace
	OR state = 1 AND {now} > (claimed_at_ms + :claim + :grace_ms) * 1000 AND ceiling_tick <= {tick} + :slack)`

const (
	selectNamespace = `SELECT layout, registry_uuid, workers, loss_ms, probation_ms, min_renew_ms, raise_ms, first_ms, window_ms, grace_ms,
		pinned_ms, claim_ms FROM snow_namespaces WHERE namespace = :namespace`

	selectNamespaces = `SELECT namespace FROM snow_namespaces ORDER BY namespace` + dbserver.NoLimit

	insertNamespace = `INSERT INTO snow_namespaces (namespace, layout, registry_uuid, workers, loss_ms, probation_ms, min_renew_ms, raise_ms,
		first_ms, window_ms, grace_ms, pinned_ms, claim_ms)
		VALUES (:namespace, :layout, :uuid, :workers, :loss, :probation, :min_renew, :raise, :first, :window, :grace_ms, :pinned, :claim)`

	// New rows begin at 0, or when the longest window is over. The statement itself checks whether the namespace
	// exists, because it may be made, and its rows used and deleted, while this process is suspended.
	insertWorkers = `INSERT INTO snow_workers (namespace, worker_id, state, fence, floor_tick, ceiling_tick, claimed_at_ms, renewed_at_ms, renew_seq, holder)
		SELECT :namespace, numbers.worker_id, 0, 0, start.tick, start.tick, 0, 0, 0, ''
		FROM (SELECT {first} + a.d + 10 * b.d + 100 * c.d AS worker_id FROM {digits} AS a, {digits} AS b, {digits} AS c) AS numbers,
		(SELECT CASE WHEN :used = 1 OR EXISTS (SELECT 1 FROM snow_namespaces WHERE namespace = :namespace) THEN {greatest}({tick}, :local) + :window ELSE 0 END AS tick) AS start
		WHERE numbers.worker_id IN ({missing})`

	digits = `(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
		UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)`

	// selectUsed counts the rows of a namespace that were leased or fenced.
	selectUsed = `SELECT COUNT(*) FROM snow_workers WHERE namespace = :namespace AND (state <> 0 OR fence > 0 OR ceiling_tick > 0)`

	selectNumbers = `SELECT worker_id FROM snow_workers
		WHERE namespace = :namespace AND worker_id >= :start AND worker_id < :end` + dbserver.NoLimit

	selectFree = `SELECT worker_id, fence, ceiling_tick FROM snow_workers
		WHERE namespace = :namespace AND worker_id >= :start AND worker_id < :end AND {eligible}
		ORDER BY worker_id LIMIT 16`

	// selectRow returns a row with NULLs if the number has none, and no row if there is no namespace.
	selectRow = `SELECT n.registry_uuid, w.state, w.owner, w.fence, w.floor_tick, w.ceiling_tick, w.claimed_at_ms, w.holder, {now}
		FROM snow_namespaces AS n LEFT JOIN snow_workers AS w ON w.namespace = n.namespace AND w.worker_id = :worker
		WHERE {bound} n.namespace = :namespace`

	selectCensus = `SELECT
		COUNT(CASE WHEN state = 1 OR state = 2 AND {tick} < ceiling_tick AND {now} < (renewed_at_ms + :late) * 1000 THEN 1 END),
		COUNT(CASE WHEN state <> 3 THEN 1 END),
		MIN(CASE state WHEN 0 THEN ceiling_tick - :slack WHEN 2 THEN ceiling_tick + :grace
			WHEN 1 THEN {greatest}(((claimed_at_ms + :claim + :grace_ms) * 1000000 - :epoch) {div} :tick, ceiling_tick - :slack) END)
		FROM snow_workers WHERE namespace = :namespace`

	// updateTake is a claim and a grant in one statement, for LossWindow 0.
	updateTake = `UPDATE snow_workers SET
		floor_tick = {greatest}(ceiling_tick, {tick}),
		ceiling_tick = {greatest}(ceiling_tick, {tick}) + :window,
		state = 2, owner = :owner, fence = fence + 1, claimed_at_ms = {now} {div} 1000, renewed_at_ms = {now} {div} 1000,
		renew_seq = renew_seq + {one now}, holder = :holder
		{from} WHERE {bound} {guard} namespace = :namespace AND worker_id = :worker AND fence = :fence AND ceiling_tick = :seen
		AND {now} BETWEEN :earliest AND :latest AND {eligible} {returning now}`

	updateClaim = `UPDATE snow_workers SET
		state = 1, owner = :owner, fence = fence + 1, claimed_at_ms = {now} {div} 1000, renew_seq = renew_seq + {one now}, holder = :holder
		{from} WHERE {bound} {guard} namespace = :namespace AND worker_id = :worker AND fence = :fence AND ceiling_tick = :seen
		AND {now} BETWEEN :earliest AND :latest AND {eligible} {returning now}`

	updateGrant = `UPDATE snow_workers SET
		floor_tick = {greatest}(ceiling_tick, {tick}),
		ceiling_tick = {greatest}(ceiling_tick, {tick}) + :first,
		state = 2, renewed_at_ms = {now} {div} 1000, renew_seq = renew_seq + {one now}
		{from} WHERE {bound} {guard} namespace = :namespace AND worker_id = :worker AND owner = :owner AND fence = :fence AND state = 1
		AND ceiling_tick = :seen AND {now} BETWEEN :earliest AND :latest
		AND {now} BETWEEN (claimed_at_ms + :probation) * 1000 AND (claimed_at_ms + :claim) * 1000 {returning now}`

	updateRenew = `UPDATE snow_workers SET
		ceiling_tick = {greatest}(ceiling_tick, {least}({tick} + :window, :cap)),
		renewed_at_ms = {now} {div} 1000, renew_seq = renew_seq + {one now}
		{from} WHERE {bound} {guard} namespace = :namespace AND worker_id = :worker AND owner = :owner AND fence = :fence AND state = 2
		AND ceiling_tick >= :acked AND (:acked > floor_tick OR {tick} < :lapse)
		AND (:loss = 0 OR {tick} < ceiling_tick AND {now} >= (renewed_at_ms + :min_renew) * 1000) {returning now}`

	updateReassert = `UPDATE snow_workers SET ceiling_tick = {greatest}(ceiling_tick, :acked), renewed_at_ms = {now} {div} 1000,
		renew_seq = renew_seq + {one now}
		{from} WHERE {bound} {guard} namespace = :namespace AND worker_id = :worker AND owner = :owner AND fence = :fence AND state = 2 {returning now}`

	// updateConfirm changes nothing that matters. It proves that the database will remember the row.
	updateConfirm = `UPDATE snow_workers SET renewed_at_ms = {now} {div} 1000, renew_seq = renew_seq + {one now}
		{from} WHERE {bound} {guard} namespace = :namespace AND worker_id = :worker AND owner = :owner AND fence = :fence AND state = :state
		AND ceiling_tick = :seen {returning now}`

	// updateRelease frees a granted row from the first tick that its holder did not use.
	updateRelease = `UPDATE snow_workers SET state = 0, owner = NULL, ceiling_tick = :next, renewed_at_ms = {now} {div} 1000,
		renew_seq = renew_seq + {one now}
		{from} WHERE {bound} {guard} namespace = :namespace AND worker_id = :worker AND owner = :owner AND fence = :fence AND state = 2
		AND floor_tick <= :next {returning now}`

	// updateAbandon frees a claimed row, which has had no window. A free row has no
	// grace, so the ceiling must keep the grace that this claim waited for.
	updateAbandon = `UPDATE snow_workers SET state = 0, owner = NULL,
		ceiling_tick = {greatest}(ceiling_tick, ((claimed_at_ms + :probation) * 1000000 - :epoch) {div} :tick),
		renewed_at_ms = {now} {div} 1000, renew_seq = renew_seq + {one now}
		{from} WHERE {bound} {guard} namespace = :namespace AND worker_id = :worker AND owner = :owner AND fence = :fence AND state = 1 {returning now}`

	// updateFence moves the floor as well, so that a process that has the row only in an old backup
	// can neither renew it nor give back ticks that others have had since.
	updateFence = `UPDATE snow_workers SET
		floor_tick = {greatest}(ceiling_tick, {greatest}({tick}, :local) + :window),
		ceiling_tick = {greatest}(ceiling_tick, {greatest}({tick}, :local) + :window), renew_seq = renew_seq + {one now}
		{from} WHERE {bound} {guard} namespace = :namespace`

	// updateFenced changes nothing that matters. It proves that the database will remember a Fence.
	updateFenced = `UPDATE snow_workers SET renew_seq = renew_seq + {one now}
		{from} WHERE {bound} {guard} namespace = :namespace AND floor_tick - :window >= :local`

	selectWorkers = `SELECT worker_id, state, holder, fence, floor_tick, ceiling_tick, claimed_at_ms, renewed_at_ms FROM snow_workers
		WHERE namespace = :namespace ORDER BY worker_id` + dbserver.NoLimit

	selectReserved = `SELECT worker_id, owner, fence, ceiling_tick FROM snow_workers
		WHERE namespace = :namespace AND state = 3 AND holder = :holder ORDER BY worker_id DESC LIMIT 1`

	// A number with a ceiling above 0 was leased or fenced.
	selectUnused = `SELECT MAX(worker_id) FROM snow_workers WHERE namespace = :namespace AND state = 0 AND fence = 0 AND ceiling_tick = 0`

	updateReserve = `UPDATE snow_workers SET
		state = 3, owner = :owner, fence = fence + 1, claimed_at_ms = {now} {div} 1000, renew_seq = renew_seq + {one now}, holder = :holder
		{from} WHERE {bound} {guard} namespace = :namespace AND worker_id = :worker AND state = 0 AND fence = 0 AND ceiling_tick = :seen {returning now}`
)

// same is a condition of each UPDATE: the database still has the registry that was read before. It is the same on a
// replica that executes the statement, because the statement comes after the namespace was made and deleted.
const same = `EXISTS (SELECT 1 FROM snow_namespaces WHERE namespace = :namespace AND registry_uuid = :registry) AND`

// compile compiles a statement of this package.
func compile(e *dbserver.Engine, text string) dbserver.Statement {
	text = strings.ReplaceAll(text, "{eligible}", eligible)
	text = strings.ReplaceAll(text, "{guard}", "{guard} "+same)
	return e.Compile(strings.ReplaceAll(text, "{tick}", tick))
}
