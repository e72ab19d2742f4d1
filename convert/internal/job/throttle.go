package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// A Throttle says when a run waits between two chunks.
type Throttle struct {
	Replicas  []*sql.DB // of MySQL, which does not say how far they are
	LagQuery  string    // returns the seconds that a replica lags; empty for what the server says
	MostLag   time.Duration
	MostBusy  int // sessions that work at the same time; below 0 for any
	PauseFile string
	Every     time.Duration // at most so often is the server asked
}

// A gauge asks the servers.
type gauge struct {
	Throttle
	dialect sqldialect.Dialect
	e       engine
	db      *sql.DB // of the run's sessions
	asked   time.Time
}

// wait returns when nothing is against the next chunk.
func (g *gauge) wait(ctx context.Context, tell func(report.Event)) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if !g.asked.IsZero() && time.Since(g.asked) < g.Every {
		return nil
	}
	said := ""
	for {
		why, err := g.reason(ctx)
		if err != nil {
			return err
		}
		if why == "" {
			break
		}
		if kind, _, _ := strings.Cut(why, ":"); kind != said {
			said = kind
			tell(report.Event{Kind: report.Waits, Why: why})
		}
		if err := pause(ctx, g.Every); err != nil {
			return err
		}
	}
	if said != "" {
		tell(report.Event{Kind: report.GoesOn})
	}
	g.asked = time.Now()
	return nil
}

// reason says why the run should wait; empty if it should not. What can't be asked of a replica is a reason, too.
func (g *gauge) reason(ctx context.Context) (string, error) {
	if g.PauseFile != "" {
		if _, err := os.Stat(g.PauseFile); err == nil {
			return "the pause file is there: " + g.PauseFile, nil
		}
	}
	if g.MostBusy >= 0 {
		busy, err := g.busy(ctx)
		if err != nil {
			return "", fmt.Errorf("ask for the load: %w", err)
		}
		if busy > g.MostBusy {
			return fmt.Sprintf("the server is busy: %d sessions work, and %d may", busy, g.MostBusy), nil
		}
	}
	if g.MostLag < 0 {
		return "", nil
	}
	if g.dialect == sqldialect.Postgres && g.LagQuery == "" {
		why, err := g.standbys(ctx)
		if why != "" || err != nil {
			return why, err
		}
	}
	for i, replica := range g.Replicas {
		lag, err := g.lag(ctx, replica)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err != nil {
			return fmt.Sprintf("replica %d does not say how far it is: %v", i+1, err), nil
		}
		if lag > g.MostLag {
			return fmt.Sprintf("replica %d lags: %v, and %v may be", i+1, lag.Round(time.Millisecond), g.MostLag), nil
		}
	}
	return "", nil
}

func (g *gauge) busy(ctx context.Context) (n int, err error) {
	var name string
	err = g.db.QueryRowContext(ctx, g.e.running()).Scan(&name, &n)
	return n, err
}

// standbys asks the primary of PostgreSQL. An account without the role pg_monitor sees no lag, and does not wait.
func (g *gauge) standbys(ctx context.Context) (string, error) {
	var name sql.NullString
	var seconds sql.NullFloat64
	err := g.db.QueryRowContext(ctx, `SELECT application_name, EXTRACT(EPOCH FROM replay_lag)::float8 FROM pg_catalog.pg_stat_replication
		WHERE state IN ('streaming', 'catchup') ORDER BY replay_lag DESC NULLS LAST LIMIT 1`).Scan(&name, &seconds)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("ask for the lag of replicas: %w", err)
	}
	if lag := time.Duration(seconds.Float64 * float64(time.Second)); lag > g.MostLag {
		return fmt.Sprintf("replica %q lags: %v, and %v may be", name.String, lag.Round(time.Millisecond), g.MostLag), nil
	}
	return "", nil
}

func (g *gauge) lag(ctx context.Context, replica *sql.DB) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var seconds sql.NullFloat64
	switch {
	case g.LagQuery != "":
		if err := replica.QueryRowContext(ctx, g.LagQuery).Scan(&seconds); err != nil {
			return 0, err
		}
	case g.dialect == sqldialect.Postgres:
		err := replica.QueryRowContext(ctx, `SELECT CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
			ELSE EXTRACT(EPOCH FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END::float8`).Scan(&seconds)
		if err != nil {
			return 0, err
		}
	default:
		var err error
		if seconds, err = behind(ctx, replica); err != nil {
			return 0, err
		}
	}
	if !seconds.Valid {
		return 0, errors.New("it does not replicate")
	}
	return time.Duration(seconds.Float64 * float64(time.Second)), nil
}

// behind returns the seconds that a replica of MySQL or MariaDB lags.
func behind(ctx context.Context, replica *sql.DB) (seconds sql.NullFloat64, err error) {
	rows, err := replica.QueryContext(ctx, "SHOW REPLICA STATUS")
	if err != nil {
		return seconds, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return seconds, err
	}
	if !rows.Next() {
		return seconds, errors.Join(errors.New("it is no replica"), rows.Err())
	}
	into := make([]any, len(columns))
	for i, column := range columns {
		into[i] = new(sql.RawBytes)
		if column == "Seconds_Behind_Source" || column == "Seconds_Behind_Master" {
			into[i] = &seconds
		}
	}
	if err := rows.Scan(into...); err != nil {
		return seconds, err
	}
	return seconds, rows.Err()
}
