package merge

import (
	"cmp"
	"database/sql"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/phases"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A Source is a database whose tables are merged. It is only read.
type Source struct {
	// Name tells it from the others, in the plan, in suffixes of names and in
	// lookups for ever after: 1 to 40 letters, digits, dots, underscores or
	// hyphens of ASCII.
	Name string

	// DB is a pool of the database, with its driver's default settings or any
	// others. On MySQL its DSN names the database; on PostgreSQL the tables are
	// those of current_schema().
	DB *sql.DB
}

// Config configures [New]. All of it may be zero where the plan mints no ids.
type Config struct {
	// Namespace is the id space that minted ids belong to, see [sqlsnow.Init]. Each
	// source that mints takes a worker number of it out of the lease for good. A run
	// that is resumed has the one that it had; on a target that was made anew it
	// takes another one.
	Namespace string

	// Registry is the database that has the namespace. Nil means the target.
	Registry *sql.DB

	// Datacenter goes into every minted id, see [sqlsnow.LeaseConfig].
	Datacenter uint64

	// Holder tells people who is merging. Zero means the names of the host and
	// the process id.
	Holder string

	// Lease is how long a run that died keeps the next one waiting: 1 s to 1 h.
	// Zero means 10 s.
	Lease time.Duration

	// Writers is how many transactions are under way at the same time, at most 16.
	// Each takes a connection of the target and one of each source, and the lease
	// one more. Zero means 2; on SQLite there is always one.
	Writers int

	// ChunkTime is how long a transaction should take. The number of its rows
	// follows from that, up to ChunkRows. Zero means 500 ms and 10,000 rows.
	ChunkTime time.Duration
	ChunkRows int

	// PackRows is how many rows a table has at least whose ids are kept in lists, a
	// row of snow_merge_packs for each range of the table, and not in a row of
	// snow_merge_map each. That takes less time and room. It is done where a MySQL
	// server itself mints ids for a table that nothing refers to, and that has no
	// JSON, no texts above 64 kB, no FLOAT and no rows that are merged. [Lookup] and
	// [Export] know both. Zero means 100,000, and -1 that there are no lists.
	PackRows int

	// PauseFile stops the run, between two transactions, for as long as a file of
	// this name exists. See also [Merge.Pause].
	PauseFile string

	// Events, if not nil, is told how the run goes on, by one goroutine at a time.
	// The run waits for it to return.
	Events func(report.Event)

	// Assertions are numbers that must add up.
	Assertions []Assertion

	// WithoutForeignKeys copies with the target's checks of foreign keys turned
	// off, where they go round in a circle that no NULL breaks. References are
	// verified in any case. PostgreSQL lets only superusers do so, and does
	// without triggers then.
	WithoutForeignKeys bool
}

// An Assertion is a number that a merge must not change: the sum over the
// sources, and over what the target had before, is that of the target
// afterwards. So it is one that adds up, such as SUM(gold) or COUNT(*), over
// rows that are all copied. What is rounded, such as the sum of a float, should
// be rounded in the statement.
type Assertion struct {
	Name string // for the report
	SQL  string // gives one row of one number; NULL counts as 0
}

// apply gives a job what is configured, with defaults for what is not. It
// refuses what is out of bounds.
func (c Config) apply(j *phases.Job) error {
	rekeys := slices.ContainsFunc(j.Plan.Tables, func(t *plan.Table) bool { return !t.Skip && len(t.NewIDs) > 0 })
	if rekeys && c.Namespace == "" {
		return &snow.FieldError{Field: "Namespace", Value: `""`, Bound: "want one: the plan gives rows new ids"}
	}
	var failed error
	j.LeaseTime = bounded("Lease", c.Lease, 10*time.Second, time.Second, time.Hour, &failed)
	j.ChunkTime = bounded("ChunkTime", c.ChunkTime, 500*time.Millisecond, time.Millisecond, time.Hour, &failed)
	j.ChunkRows = bounded("ChunkRows", c.ChunkRows, 10_000, 1, 1_000_000, &failed)
	j.Writers = bounded("Writers", c.Writers, 2, 1, 16, &failed)
	if c.PackRows != -1 {
		j.PackRows = bounded("PackRows", c.PackRows, 100_000, 1, math.MaxInt, &failed)
	}
	if failed != nil {
		return failed
	}
	j.Writers = min(j.Writers, j.Engine.Writers)
	for _, db := range j.Sources {
		if open := db.Stats().MaxOpenConnections; open > 0 {
			j.Writers = min(j.Writers, open)
		}
	}
	if open := j.Target.Stats().MaxOpenConnections; open > 0 && j.Engine.Writers > 1 {
		if open < 2 {
			return &snow.FieldError{Field: "target", Value: "of 1 connection", Bound: "want at least 2"}
		}
		j.Writers = min(j.Writers, open-1)
	}
	if j.Registry = c.Registry; j.Registry == nil {
		j.Registry = j.Target
	}
	if j.Holder = c.Holder; j.Holder == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown host"
		}
		j.Holder = host + " pid " + strconv.Itoa(os.Getpid())
	}
	if len(j.Holder) > 255 {
		return &snow.FieldError{Field: "Holder", Value: strconv.Quote(j.Holder[:80]), Bound: "want at most 255 characters"}
	}
	return nil
}

// bounded returns the value of a field or, if it is zero, the initial one. The first field out of its bounds is the failure.
func bounded[T int | time.Duration](field string, value, initial, low, high T, failed *error) T {
	value = cmp.Or(value, initial)
	if *failed == nil && (value < low || value > high) {
		*failed = &snow.FieldError{Field: field, Value: fmt.Sprint(value), Bound: fmt.Sprintf("want %v to %v", low, high)}
	}
	return value
}
