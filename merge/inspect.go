package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// Inspect reads the schemas and samples of the rows of sources, the first of
// which has precedence, and returns a plan to merge them:
//
//   - A primary key of one integer is a key. Sources whose keys are small, as
//     those are that a database counts up, mint new ones; those whose keys are
//     2^40 or more, as snowflakes are, keep them.
//   - Columns of foreign keys are references. Those that are not declared are
//     proposed by their name, type and values, and so are ids in JSON, in
//     delimited texts and beside a column that names their table.
//   - Unique keys in which sources clash, tables that look like dictionaries,
//     and what differs between the schemas.
//
// Whatever is not certain is a suspect, for people to decide on before
// [plan.Plan.Check] passes. Values are sampled, about a thousand rows of a table, so
// a plan without suspects is no proof: [Merge.DryRun] looks at all rows.
//
// Inspect only reads, and may be called while the sources are in use. It
// returns a [*sqlsnow.DatabaseError] where a source can't be read.
func Inspect(ctx context.Context, d sqlsnow.Dialect, sources ...Source) (*plan.Plan, error) {
	p, err := inspect(ctx, d, sources)
	if err != nil {
		return nil, fmt.Errorf("merge: inspect: %w", err)
	}
	return p, nil
}

// An inspector is one call of Inspect.
type inspector struct {
	*dialect.Dialect
	names    []string
	sessions map[string]*chunk.Session
	catalogs map[string]*catalog.Catalog
	plan     *plan.Plan
	ranges   map[tableOf]keyRange
	samples  map[tableOf]*sample
}

// tableOf is a table of a source.
type tableOf struct{ source, table string }

func inspect(ctx context.Context, d sqlsnow.Dialect, sources []Source) (p *plan.Plan, err error) {
	e, err := dialect.Of(d)
	if err != nil {
		return nil, err
	}
	i := &inspector{
		Dialect: e, sessions: map[string]*chunk.Session{}, catalogs: map[string]*catalog.Catalog{},
		ranges: map[tableOf]keyRange{}, samples: map[tableOf]*sample{},
	}
	for _, s := range sources {
		i.names = append(i.names, s.Name)
	}
	if err := (&plan.Plan{Sources: i.names}).CheckSources(); err != nil {
		return nil, err
	}
	defer func() {
		for _, s := range i.sessions {
			err = errors.Join(err, s.Close())
		}
	}()
	var catalogs []*catalog.Catalog
	for _, s := range sources {
		if s.DB == nil {
			return nil, fmt.Errorf("source %q has no database", s.Name)
		}
		if i.sessions[s.Name], err = chunk.OpenSession(ctx, e, s.DB, e.Source); err != nil {
			delete(i.sessions, s.Name)
			return nil, fmt.Errorf("source %q: %w", s.Name, err)
		}
		if i.catalogs[s.Name], err = catalog.Read(ctx, e.Kind, i.sessions[s.Name]); err != nil {
			return nil, fmt.Errorf("source %q: %w", s.Name, e.Failed("inspect", err))
		}
		catalogs = append(catalogs, i.catalogs[s.Name])
	}
	i.plan = unite(d, i.names, catalogs)
	i.keys()
	for _, step := range []func(context.Context) error{
		i.survey, i.mint, i.dates, i.suspects, i.dictionaries, i.clashes,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	i.widen()
	return i.plan, nil
}

// keys sets the roles that the schemas declare: keys, and references by foreign
// keys to them.
func (i *inspector) keys() {
	var waiting []*plan.Table // those whose primary key may be a reference
	for _, t := range i.plan.Tables {
		if len(t.PrimaryKey) != 1 {
			continue
		}
		c := t.Column(t.PrimaryKey[0])
		if c == nil || c.Generated != "" || sqltype.Of(i.Kind, c.Type).Kind != sqltype.Integer {
			continue
		}
		if slices.ContainsFunc(t.ForeignKeys, func(k *plan.ForeignKey) bool { return slices.Contains(k.Columns, c.Name) }) {
			waiting = append(waiting, t)
		} else {
			c.Role = plan.RoleKey
		}
	}
	for {
		i.follow()
		at := slices.IndexFunc(waiting, func(t *plan.Table) bool { return t.Column(t.PrimaryKey[0]).Role == plan.RolePlain })
		if at < 0 {
			return
		}
		// Its foreign key leads to no key, or around in a circle.
		waiting[at].Column(waiting[at].PrimaryKey[0]).Role = plan.RoleKey
		waiting = slices.Delete(waiting, at, at+1)
	}
}

// follow makes references of the columns of foreign keys to keys and to other references.
func (i *inspector) follow() {
	for changed := true; changed; {
		changed = false
		for _, t := range i.plan.Tables {
			for _, k := range t.ForeignKeys {
				parent := i.plan.Table(k.Table)
				if parent == nil {
					continue
				}
				for n, name := range k.Columns {
					c := t.Column(name)
					if c == nil || c.Role != plan.RolePlain || c.Generated != "" {
						continue
					}
					if of := parent.IdsOf(k.Refers[n]); of != "" {
						c.Role, c.Refers = plan.RoleReference, []*plan.Reference{{Table: of}}
						changed = true
					}
				}
			}
		}
	}
}

// mint decides which sources get new ids.
func (i *inspector) mint(context.Context) error {
	for _, t := range i.plan.Tables {
		key := t.Key()
		for _, source := range i.plan.SourcesOf(t) {
			numbered := i.catalogs[source].Table(t.Name).Numbered
			if numbered != "" && (key == nil || key.Name != numbered) {
				t.AddNote("column %s: source %s counts it up; the target does not", numbered, source)
			}
			if key == nil {
				continue
			}
			r := i.ranges[tableOf{source, t.Name}]
			switch {
			case !r.any:
				if numbered == key.Name {
					t.Mint = append(t.Mint, source)
				}
				continue
			case r.max < sqlvalue.BigID:
				t.Mint = append(t.Mint, source)
			case r.min < sqlvalue.BigID:
				t.Mint = append(t.Mint, source)
				addSuspect(key, "ids of source %q are of two kinds, from %d to %d: if all of them get new ones, those that are snowflakes change too", source, r.min, r.max)
			}
			if r.min < 0 {
				addSuspect(key, "ids of source %q begin at %d: negative ones are no ids elsewhere", source, r.min)
			}
			if r.min == r.max && r.max <= 1 {
				addSuspect(key, "source %q has a single row, of id %d: do programs ask for it by that number? Then take it out of mint, and say what to do with the clash", source, r.max)
			}
		}
	}
	return nil
}

// dates finds the column that tells when a row was made.
func (i *inspector) dates(context.Context) error {
	rank := func(name string) int {
		return slices.Index([]string{
			"created at", "created", "create time", "created time", "creation time", "createtime", "createdat", "ctime", "create date", "created on", "date created",
			"created date", "registered at", "register time", "reg time", "registered", "inserted at", "insert time", "added at", "sent at", "send time", "add time", "joined at", "time",
		}, strings.Join(words(name), " "))
	}
	for _, t := range i.plan.Tables {
		if len(t.Mint) == 0 {
			continue
		}
		best := -1
		for _, c := range t.Columns {
			s := sqltype.Of(i.Kind, c.Type)
			everywhere := !slices.ContainsFunc(t.Mint, func(source string) bool { return !c.In(source) })
			dates := s.Kind == sqltype.Time || s.Kind == sqltype.Integer && s.Bits >= 32 || i.Kind == sqlsnow.SQLite && s.Kind == sqltype.Text
			at := rank(c.Name)
			if c.Role == plan.RolePlain && c.Generated == "" && dates && everywhere && at >= 0 && (best < 0 || at < best) {
				best, t.Created = at, c.Name
			}
		}
		if c := t.Column(t.Created); c != nil && sqltype.Of(i.Kind, c.Type).Kind != sqltype.Integer && !knowsZone(i.Kind, c.Type) {
			t.AddNote("column %s: has no time zone; where its times are not UTC, say so under zone", c.Name)
		}
	}
	return nil
}

// knowsZone reports whether values of a type are the same instant everywhere.
func knowsZone(d sqlsnow.Dialect, typ string) bool {
	typ = strings.ToLower(typ)
	switch d {
	case sqlsnow.MySQL:
		return strings.HasPrefix(typ, "timestamp")
	case sqlsnow.Postgres:
		return strings.HasSuffix(typ, "with time zone")
	}
	return false
}

// widen gives the columns that hold ids, or may, a type for 64 bits, and that
// of the key to what refers to it, as foreign keys want.
func (i *inspector) widen() {
	for _, t := range i.plan.Tables {
		for _, c := range t.Columns {
			if c.Role == plan.RoleKey {
				c.Type = sqltype.Wide(i.Kind, c.Type)
			}
		}
	}
	for _, t := range i.plan.Tables {
		for _, c := range t.Columns {
			if c.Role == plan.RoleReference || c.Role == plan.RolePolymorphic || c.Role == plan.RoleUndecided ||
				c.Role == plan.RoleList && strings.HasSuffix(c.Type, "[]") {
				c.Type = sqltype.Wide(i.Kind, c.Type)
			}
			if c.Role == plan.RoleReference && len(c.Refers) == 1 && sqltype.Of(i.Kind, c.Type).Kind == sqltype.Integer {
				c.Type = i.plan.Table(c.Refers[0].Table).Key().Type
			}
		}
	}
}
