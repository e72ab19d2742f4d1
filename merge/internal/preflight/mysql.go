package preflight

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// wholeSets are character sets of MySQL in which the server takes no bytes that are no characters.
var wholeSets = []string{"utf8mb4", "utf8mb3", "utf8", "latin1", "binary", ""}

// characters returns an error for each column of a source with bytes that are no characters of its character set: the
// server returns them as question marks.
func (p *Check) characters(ctx context.Context, source string, t *plan.Table) (errs []error, err error) {
	found := p.Sources[source].TableLike(t.Name)
	if p.Engine.Kind != sqlsnow.MySQL || found == nil {
		return nil, nil
	}
	var columns []*plan.Column
	var sets, sums []string
	for _, c := range found.Columns {
		set, _, _ := strings.Cut(cmp.Or(c.Collation, strings.TrimPrefix(found.Options, "COLLATE=")), "_")
		if sqltype.Of(p.Engine.Kind, c.Type).Kind != sqltype.Text || c.Generated != "" || t.Column(c.Name) == nil || slices.Contains(wholeSets, set) {
			continue
		}
		name := p.Engine.Quote(c.Name)
		columns, sets = append(columns, c), append(sets, set)
		sums = append(sums, fmt.Sprintf("COALESCE(SUM(CHAR_LENGTH(REPLACE(%[1]s, '?', '')) <> CHAR_LENGTH(REPLACE(CONVERT(%[1]s USING utf8mb4), '?', ''))), 0)", name))
	}
	if len(columns) == 0 {
		return nil, nil
	}
	s, err := p.Conns.Source(ctx, source)
	if err != nil {
		return nil, err
	}
	err = chunk.Visit(ctx, s, "SELECT "+strings.Join(sums, ", ")+" FROM "+s.Engine.Table(t.Name), nil, func(rows *sql.Rows) error {
		counts, into := make([]int64, len(columns)), make([]any, len(columns))
		for i := range counts {
			into[i] = &counts[i]
		}
		err := rows.Scan(into...)
		for i, n := range counts {
			if n > 0 {
				errs = append(errs, &plan.Error{
					Table: t.Name, Column: columns[i].Name,
					Reason: fmt.Sprintf("in source %q it has %d values with bytes that are no characters of %s, and would become question marks: correct them there", source, n, sets[i]),
				})
			}
		}
		return err
	})
	return errs, p.Engine.Failed("look for characters in table "+strconv.Quote(t.Name), err)
}
