package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
)

// A chunk is a range of pages. So it needs no key and no index, and each row is visited once: rows that come to other
// pages were written since, and the trigger has filled their columns.
const (
	firstPages  = 128
	mostPages   = 4096
	chunkTarget = 250 * time.Millisecond
	chunkWait   = "100ms" // for the lock of a row
)

// copyRows fills the second columns of old rows.
func copyRows(p *plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		t, err := read(ctx, r.DB, p)
		if err != nil || t.isSwapped() || t.isWide() {
			return err
		}
		pairs, err := t.pairs()
		if err != nil {
			return err
		}
		if err := fill(ctx, r, t, pairs, r.Position, r.Store); err != nil {
			return err
		}
		return analyze(ctx, r, t)
	}
}

// fill updates all pages from a position on. Store may be nil: then nothing is stored.
func fill(ctx context.Context, r *job.Run, t *table, pairs []pair, position string, store func(context.Context, *sql.Tx, string) error) error {
	quiet, err := quietly(ctx, r.DB, t)
	if err != nil {
		return err
	}
	size, err := one(ctx, r.DB, "SELECT pg_catalog.pg_relation_size("+t.oid+") / current_setting('block_size')::int")
	if err != nil {
		return err
	}
	page, last := int64(0), parse(size)
	if from, of, ok := strings.Cut(position, " of "); ok {
		page, last = parse(from), parse(of)
	}
	rows, err := one(ctx, r.DB, "SELECT GREATEST(reltuples, 0)::bigint FROM pg_catalog.pg_class WHERE oid = "+t.oid)
	if err != nil {
		return err
	}
	total := max(parse(rows), t.Rows)
	pages := int64(firstPages)
	for page < last {
		next := min(page+pages, last)
		begun := time.Now()
		if err := chunk(ctx, r, t, pairs, page, next, quiet, func(tx *sql.Tx) error {
			if store == nil {
				return nil
			}
			return store(ctx, tx, fmt.Sprintf("%d of %d", next, last))
		}); err != nil {
			return err
		}
		page = next
		pages = paced(pages, time.Since(begun))
		if err := r.Wait(ctx, total*page/last, total); err != nil {
			return err
		}
	}
	return nil
}

// paced is the number of pages for the next chunk.
func paced(pages int64, took time.Duration) int64 {
	switch {
	case took > 2*chunkTarget:
		pages /= 2
	case took < chunkTarget/2:
		pages *= 2
	}
	return min(max(pages, 64), mostPages)
}

// chunk updates the rows of some pages. It waits for no row longer than chunkWait, and then leaves the rows that
// somebody has locked to the step that compares. So it can't be in a deadlock with a program.
func chunk(ctx context.Context, r *job.Run, t *table, pairs []pair, from, to int64, quiet string, store func(*sql.Tx) error) error {
	where := fmt.Sprintf("ctid >= '(%d,0)'::tid AND ctid < '(%d,0)'::tid AND (%s)", from, to, differ(pairs, ""))
	update := "UPDATE " + t.sql + " SET " + assignments(pairs) + " WHERE "
	try := func(where string) error {
		tx, err := r.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // the first error says more
		// A crash of the server loses the rows together with the position.
		if err := execute(ctx, tx, settings(chunkWait)+", set_config('synchronous_commit', 'off', true)", quiet, update+where); err != nil {
			return err
		}
		if err := store(tx); err != nil {
			return err
		}
		return tx.Commit()
	}
	err := try(where)
	for i := 0; i < attempts && isBusy(err) && ctx.Err() == nil; i++ {
		if err = rest(ctx, 1); err != nil {
			return err
		}
		err = try("ctid = ANY (ARRAY(SELECT ctid FROM " + t.sql + " WHERE " + where + " FOR NO KEY UPDATE SKIP LOCKED))")
	}
	return err
}

// assignments set the second columns.
func assignments(pairs []pair) string {
	var all []string
	for _, p := range pairs {
		value := quote(p.live.Name)
		if !p.wide {
			value = fitting(value, p.to)
		}
		all = append(all, quote(p.spare)+" = "+value)
	}
	return strings.Join(all, ", ")
}

// quietly is a statement after which triggers of the user don't fire; empty if no trigger would.
func quietly(ctx context.Context, q querier, t *table) (string, error) {
	fires, err := one(ctx, q, "SELECT string_agg(tgname, ', ') FROM pg_catalog.pg_trigger WHERE "+firing(t)+" AND tgenabled <> 'D'")
	if err != nil || fires == "" {
		return "", err
	}
	return "SET LOCAL session_replication_role = replica", nil
}

// analyze gives the planner statistics of the second columns and their indexes, so that plans stay good after the swap.
func analyze(ctx context.Context, r *job.Run, t *table) error {
	return gently(ctx, r, []string{t.Name}, func(tx *sql.Tx) error { return execute(ctx, tx, "ANALYZE "+t.sql) })
}

func parse(number string) int64 {
	n, _ := strconv.ParseInt(number, 10, 64) // the server wrote it; a broken position begins anew
	return n
}
