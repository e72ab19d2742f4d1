package convert

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/convert/internal/postgres"
	"github.com/shardsnow/snow/convert/internal/propose"
	"github.com/shardsnow/snow/convert/internal/schema"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/sqlsnow"
)

// InspectConfig configures [Inspect]. All of it may be zero.
type InspectConfig struct {
	// Layout is the layout of the new ids. Default: [snow.DefaultLayout].
	Layout snow.Layout

	// DeclaredOnly reads no rows: the plan then has the references that foreign keys declare, and no questions about
	// others. It has no times either.
	DeclaredOnly bool
}

// Inspect reads the schema of a database and samples of its rows, and returns a plan of its conversion:
//
//   - Keys: the columns that the database counts, such as AUTO_INCREMENT and serial. Where a primary key of one integer
//     is not counted, [plan.Plan.Questions] asks whether programs number the rows.
//   - References: the columns of foreign keys to what becomes wider. Others, which merge.Inspect finds by names, values
//     and joins, are questions. They stay out if the answer is leave.
//   - Groups of tables that change together, parents first, each with a method, and why it is not online.
//   - Notes on what else names the columns, and on what has to be done by hand.
//   - Steps, as if all questions were answered with widen. [Describe] writes them again.
//   - Times: Inspect reads up to 20,000 rows of the largest table. For each byte, a copy takes 15 times as long as that
//     on MySQL and MariaDB. On PostgreSQL it is 50 times as long, or 5 times with ALTER TABLE. Sizes are the server's
//     estimates. So times are right within a factor of three or so, and not where replicas or load slow a copy down.
//
// It only reads, and the database may be in use. On MySQL the DSN of db names the database; on PostgreSQL the tables
// are the ones in current_schema(). Inspect returns a [*sqlsnow.DatabaseError] if it can't read the database, and a
// [*report.UnfitError] if the database can't be converted as it is.
func Inspect(ctx context.Context, dialect sqlsnow.Dialect, db *sql.DB, cfg InspectConfig) (*plan.Plan, error) {
	p, err := inspect(ctx, dialect, db, cfg)
	if err != nil {
		return nil, fmt.Errorf("convert: inspect: %w", err)
	}
	return p, nil
}

func inspect(ctx context.Context, dialect sqlsnow.Dialect, db *sql.DB, cfg InspectConfig) (p *plan.Plan, err error) {
	if dialect != sqlsnow.MySQL && dialect != sqlsnow.Postgres {
		return nil, &snow.FieldError{Field: "dialect", Value: dialect.String(), Bound: "want MySQL or PostgreSQL"}
	}
	if db == nil {
		return nil, errors.New("no database")
	}
	read := merge.Inspect
	if cfg.DeclaredOnly {
		read = merge.ReadSchema
	}
	found, err := read(ctx, dialect, merge.Source{Name: "database", DB: db})
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, readFailed("connect", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	s, err := schema.Read(ctx, dialect, conn)
	if err != nil {
		return nil, readFailed("read the schema", err)
	}
	p = propose.Plan(dialect, s, found)
	if dialect == sqlsnow.Postgres {
		if err := postgres.Judge(ctx, conn, p); err != nil {
			return nil, readFailed("look for what a method can't do", err)
		}
	}
	if cfg.Layout == (snow.Layout{}) {
		cfg.Layout = snow.DefaultLayout()
	}
	if err := checkFit(ctx, dialect, conn, s, p, cfg.Layout); err != nil {
		return nil, err
	}
	if err := choose(ctx, dialect, conn, p); err != nil {
		return nil, readFailed("look whether tables can change", err)
	}
	if !cfg.DeclaredOnly {
		if err := estimate(ctx, dialect, conn, p); err != nil {
			return nil, readFailed("read a sample", err)
		}
	}
	return p, describeAll(dialect, p)
}

// checkFit returns a [*report.UnfitError] if the database can't be converted as it is.
func checkFit(ctx context.Context, d sqlsnow.Dialect, conn *sql.Conn, s *schema.Schema, p *plan.Plan, layout snow.Layout) error {
	reasons := s.Refusals
	first, err := firstID(layout, time.Now())
	if err != nil {
		return err
	}
	if slices.ContainsFunc(p.Tables, func(t *plan.Table) bool { return t.Method == plan.Online }) {
		for _, right := range slices.Sorted(maps.Keys(s.OnlineLacks)) {
			reasons = append(reasons, fmt.Sprintf("the account lacks a right to change tables online: GRANT %s ON %s TO it", right, s.OnlineLacks[right]))
		}
	}
	for _, t := range p.Tables {
		if t.Key == "" {
			continue
		}
		next := next(s, t)
		if next >= int64(first) {
			reasons = append(reasons, fmt.Sprintf("table %q has counted up to %d, and snow ids begin with %d: set its counter back below that first", t.Name, next-1, first))
		}
		if int64(first) < usualLimit || next >= usualLimit {
			t.First = int64(first)
		}
		var highest sql.NullString
		text := "SELECT MAX(" + d.Quote(t.Key) + ") FROM " + d.Quote(t.Name)
		if err := conn.QueryRowContext(ctx, text).Scan(&highest); err != nil {
			return readFailed("look for the highest id", err)
		}
		if reaches(highest.String, first) {
			reasons = append(reasons, fmt.Sprintf("table %q has the id %s, and new snow ids begin with %d: they could be the same", t.Name, highest.String, first))
		}
	}
	if len(reasons) > 0 {
		return &report.UnfitError{Reasons: reasons}
	}
	return nil
}

// usualLimit is the limit between counted numbers and snow ids where a plan has none.
const usualLimit = 1 << 40

// choose alters the tables that can't change online on PostgreSQL, and notes those that can't be altered either.
func choose(ctx context.Context, d sqlsnow.Dialect, conn *sql.Conn, p *plan.Plan) error {
	if d != sqlsnow.Postgres {
		return nil
	}
	unfit, err := postgres.Unfits(ctx, conn, p)
	if err != nil {
		return err
	}
	for _, u := range unfit {
		if t := p.Table(u.Table); t != nil && u.Method == plan.Online {
			t.Method = plan.Alter
			t.Why = strings.TrimPrefix(t.Why+"; "+reasonOf(u), "; ")
		}
	}
	if unfit, err = postgres.Unfits(ctx, conn, p); err != nil {
		return err
	}
	for _, u := range unfit {
		p.Notes = append(p.Notes, fmt.Sprintf("by hand, before anything: table %s can't change: %s", u.Table, reasonOf(u)))
	}
	return nil
}

func reasonOf(u *postgres.Unfit) string { return strings.TrimPrefix(u.Column+": "+u.Reason, ": ") }

// firstID returns the lowest id that can be made at a time.
func firstID(layout snow.Layout, at time.Time) (snow.ID, error) {
	for first := range layout.Between(at, at.Add(cmp.Or(layout.Tick(), time.Millisecond))) {
		return first, nil
	}
	return 0, &snow.FieldError{Field: "Layout", Value: layout.String(), Bound: fmt.Sprintf("want one with ids of %s", at.UTC().Format(time.DateOnly))}
}

// reaches reports whether an id is as high as the first new one. An unsigned one may have 64 bits.
func reaches(id string, first snow.ID) bool {
	low := fmt.Sprint(int64(first))
	if id == "" || id[0] == '-' {
		return false
	}
	return len(id) > len(low) || len(id) == len(low) && id >= low
}

// next returns about the next number of a table's counter, or 0.
func next(s *schema.Schema, t *plan.Table) int64 {
	if of := s.Table(t.Name); of != nil {
		for _, c := range of.Counted {
			if c.Column == t.Key {
				return c.Next
			}
		}
	}
	return 0
}

func readFailed(op string, err error) error {
	return &sqlsnow.DatabaseError{Op: op, Code: sqldialect.Code(err), Err: err}
}
