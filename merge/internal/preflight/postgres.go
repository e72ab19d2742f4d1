package preflight

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// encoding returns a [*plan.Error] for a target of PostgreSQL that has no room for all characters. The encodings of
// sources do not matter: servers send UTF-8, or an error for bytes of SQL_ASCII that are none.
func (p *Check) encoding(ctx context.Context) error {
	if p.Engine.Kind != sqlsnow.Postgres {
		return nil
	}
	var name string
	err := p.Conns.Target.QueryRowContext(ctx, "SELECT getdatabaseencoding()").Scan(&name)
	if err == nil && name != "UTF8" {
		return &plan.Error{Reason: fmt.Sprintf("the target has the encoding %s, which lacks characters: create it again, with ENCODING 'UTF8' TEMPLATE template0", name)}
	}
	return p.Engine.Failed("look at the encoding of the target", err)
}

// extension finds the name of an extension in a statement of plan.Plan.Types.
var extension = regexp.MustCompile(`^CREATE EXTENSION IF NOT EXISTS (?:"((?:[^"]|"")*)"|(\S+))`)

// extensions returns an error for each extension of PostgreSQL that the target lacks and its missing tables need.
func (p *Check) extensions(ctx context.Context) (errs []error, err error) {
	missing := slices.ContainsFunc(p.Order, func(t *plan.Table) bool { return p.Target.TableLike(t.Name) == nil })
	if p.Engine.Kind != sqlsnow.Postgres || !missing {
		return nil, nil
	}
	for _, statement := range p.Plan.Types {
		m := extension.FindStringSubmatch(statement)
		if m == nil {
			continue
		}
		name, there := strings.ReplaceAll(m[1], `""`, `"`)+m[2], false
		if err := p.Conns.Target.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = $1)", name).Scan(&there); err != nil {
			return nil, p.Engine.Failed("look for extensions of the target", err)
		}
		if !there {
			errs = append(errs, &plan.Error{Reason: fmt.Sprintf("the target lacks the extension %q, which columns, defaults or indexes of its tables need: %s", name, statement)})
		}
	}
	return errs, nil
}

// largeObjects returns an error for each column of a source whose values are large objects of PostgreSQL: a merge
// would copy their numbers, and not the objects.
func (p *Check) largeObjects(ctx context.Context, source string, t *plan.Table) (errs []error, err error) {
	found := p.Sources[source].TableLike(t.Name)
	if p.Engine.Kind != sqlsnow.Postgres || found == nil {
		return nil, nil
	}
	s, err := p.Conns.Source(ctx, source)
	if err != nil {
		return nil, err
	}
	for _, c := range found.Columns {
		if c.Type != "oid" && c.Type != "lo" || t.Column(c.Name) == nil {
			continue
		}
		var n int64
		text := "SELECT COUNT(*) FROM " + s.Engine.Table(t.Name) + " AS t JOIN pg_largeobject_metadata AS o ON o.oid = t." + p.Engine.Quote(c.Name)
		if err := s.QueryRowContext(ctx, text).Scan(&n); err != nil {
			return nil, p.Engine.Failed("look for large objects in table "+strconv.Quote(t.Name), err)
		}
		if n > 0 {
			errs = append(errs, &plan.Error{
				Table: t.Name, Column: c.Name,
				Reason: fmt.Sprintf("in source %q its values are %d large objects, which a merge does not copy: give the source a column of type bytea with lo_get(%s), and name this one in the table's without", source, n, c.Name),
			})
		}
	}
	return errs, nil
}
