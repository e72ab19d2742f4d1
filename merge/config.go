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
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A Source is a database whose tables are merged. It is only read.
type Source struct {
	// Name tells the source from the others, in the plan, in suffixes of names and in every later look-up: 1 to 40
	// letters, digits, dots, underscores or hyphens of ASCII.
	Name string

	// DB is a pool of the database, with any settings of its driver. On MySQL its DSN names the database; on PostgreSQL
	// the tables are the ones in current_schema().
	DB *sql.DB

	// Databases are several databases of the server of DB whose tables are merged together, with the references
	// between them: their names there, by the names that the plan has for them, such as auth: eu_auth. All sources
	// have the same names in the plan. The names of tables begin with them: auth.account. On PostgreSQL they are
	// schemas of one database, and have the names of the plan. SQLite has none. Nil means that the source is the
	// one database that DB is in.
	Databases map[string]string
}

// Config configures [New]. All of it may be zero if the plan gives no rows new ids of [plan.IDsSnow].
type Config struct {
	// Namespace is the id space of new ids that are no numbers, see [sqlsnow.Init]. Each source whose rows get new
	// ids takes a worker number of it for good. A run that is resumed keeps its number; a run into a target that
	// was made again takes another one.
	Namespace string

	// Databases maps the plan's names of databases to the target's, see [Source]. Nil means the names
	// of the plan. They exist, and are on the target's server. The tables of the ledger are in the database that
	// the target's pool is in.
	Databases map[string]string

	// Registry is the database that has the namespace. Nil means the target.
	Registry *sql.DB

	// Datacenter is part of every new id, see [sqlsnow.LeaseConfig].
	Datacenter uint64

	// Holder tells people who is merging. Zero means the host's name and the process id.
	Holder string

	// Lease is how long a run that died keeps the next one waiting: 1 s to 1 h. Zero means 10 s.
	Lease time.Duration

	// Writers is how many transactions run at the same time, at most 16. Each takes a connection of the target and
	// one of each source, and the lease takes one more of the target. Zero means 2; on SQLite there is always one.
	// A dry run takes one of each.
	Writers int

	// ChunkTime is how long a transaction should take: 1 ms to 1 h. A run adapts the number of rows in a chunk to that,
	// up to ChunkRows, at most 1,000,000. Zero means 500 ms and 10,000 rows.
	ChunkTime time.Duration
	ChunkRows int

	// PackRows is the number of rows at which a table's new ids begin to be stored in lists, one row of
	// snow_merge_packs for each range of the table instead of one row of snow_merge_map for each id. That takes
	// less time and room. It is done on MySQL and MariaDB, for tables whose rows are not merged, and whose new ids
	// are not needed to decide which rows of other tables are copied. A table that others refer to may have up to
	// 1,048,576 rows. [Lookup] and [Export] read both. Zero means 10,000, and -1 no lists.
	PackRows int

	// Throttle is how many rows of the sources [Merge.DryRun] reads in a second, at most 1,000,000,000: so it may
	// look at servers that are in use. Each statement then reads the rows of a quarter of a second, in a
	// transaction of its own, and gives up after 5 s where it has to wait for a lock. What it looks up for these
	// rows by keys is not counted. It tries no rows in temporary tables, which would be long transactions: such
	// tables are left open in the forecast. Zero means no limit. Run and Verify do not go by it.
	Throttle int

	// PauseFile stops the run, between two transactions, for as long as a file of this name exists. See also
	// [Merge.Pause].
	PauseFile string

	// Events, if not nil, is called with the progress of the run, by one goroutine at a time. The run waits for it.
	Events func(report.Event)

	// Assertions are numbers that a run must not change.
	Assertions []Assertion

	// WithoutForeignKeys turns off the target's checks of foreign keys while rows are copied. It is for foreign
	// keys that form a circle without a nullable column, and takes about a tenth of the time off a run.
	// References are verified in any case. PostgreSQL allows it only to superusers, and runs no triggers then.
	WithoutForeignKeys bool

	// Codecs find the ids in columns of [plan.RolePacked] whose format is codec and a name.
	Codecs map[string]Codec

	// WitnessAll makes [Merge.Verify] compare the contents of the rows that all references lead to, and not only
	// about 20,000 rows of each table.
	WitnessAll bool
}

// A Codec finds the ids inside of values, where nothing that a plan can say describes them. It must be safe for
// concurrent use.
type Codec interface {
	// Replace calls id for each id in value, with its place, which the plan's column names. It returns the value
	// with the results of id in these places, and all else as it was. NULL is not passed. Replace returns an error
	// if it can't read the value, if an id has no room, or if id returned one.
	//
	// A dry run calls it with ids of 63 bits instead of new ones. The result is read again by Replace: if its ids
	// differ from the expected ones, or are in another order, the row is an error.
	Replace(value []byte, id func(place string, id int64) (int64, error)) ([]byte, error)
}

// An Assertion is a number that a merge must not change: in the end the target's number is the sum of what the sources
// have and what the target had before. So it must be one that adds up over rows that are all copied, such as SUM(gold)
// or COUNT(*). The statement should round what is inexact, such as the sum of a float.
type Assertion struct {
	Name string // for the report
	// returns one row with one number; NULL counts as 0. {auth} is the name there of the database auth of the plan
	SQL string
}

// apply sets the fields of a job. Fields that are zero get their defaults.
func (c Config) apply(j *work.Job) error {
	rekeys := slices.ContainsFunc(j.Plan.Tables, func(t *plan.Table) bool { return !t.Skip && len(t.NewIDs) > 0 && !t.IDs.AreNumbers() })
	if rekeys && c.Namespace == "" {
		return &snow.FieldError{Field: "Namespace", Value: `""`, Bound: "want one: the plan gives rows new ids"}
	}
	var failed error
	j.LeaseTime = bounded("Lease", c.Lease, 10*time.Second, time.Second, time.Hour, &failed)
	j.ChunkTime = bounded("ChunkTime", c.ChunkTime, 500*time.Millisecond, time.Millisecond, time.Hour, &failed)
	j.ChunkRows = bounded("ChunkRows", c.ChunkRows, 10_000, 1, 1_000_000, &failed)
	if c.Throttle != 0 {
		j.Throttle = bounded("Throttle", c.Throttle, 1, 1, 1_000_000_000, &failed)
		j.Engine = j.Engine.Yielding()
	}
	j.Writers = bounded("Writers", c.Writers, 2, 1, 16, &failed)
	if c.PackRows != -1 {
		j.PackRows = bounded("PackRows", c.PackRows, 10_000, 1, math.MaxInt, &failed)
	}
	if failed != nil {
		return failed
	}
	j.Writers = min(j.Writers, j.Engine.Writers)
	for _, db := range j.Sources {
		if open := db.DB.Stats().MaxOpenConnections; open > 0 {
			j.Writers = min(j.Writers, open)
		}
	}
	if open := j.Target.DB.Stats().MaxOpenConnections; open > 0 && j.Engine.Writers > 1 {
		if open < 2 {
			return &snow.FieldError{Field: "target", Value: "of 1 connection", Bound: "want at least 2"}
		}
		j.Writers = min(j.Writers, open-1)
	}
	j.Registry = cmp.Or(c.Registry, j.Target.DB)
	host, _ := os.Hostname()
	j.Holder = cmp.Or(c.Holder, fmt.Sprintf("%s pid %d", cmp.Or(host, "unknown host"), os.Getpid()))
	if len(j.Holder) > 255 {
		return &snow.FieldError{Field: "Holder", Value: strconv.Quote(j.Holder[:80]), Bound: "want at most 255 characters"}
	}
	return nil
}

// bounded returns the value of a field or, if it is zero, the initial one. The first field out of its bounds is the
// failure.
func bounded[T int | time.Duration](field string, value, initial, low, high T, failed *error) T {
	value = cmp.Or(value, initial)
	if *failed == nil && (value < low || value > high) {
		*failed = &snow.FieldError{Field: field, Value: fmt.Sprint(value), Bound: fmt.Sprintf("want %v to %v", low, high)}
	}
	return value
}
