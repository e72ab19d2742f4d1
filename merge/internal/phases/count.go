package phases

import (
	"context"
	"errors"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
)

// CountSources counts the rows of the sources' tables that a run reads.
func CountSources(ctx context.Context, j *Job) (rows int64, err error) {
	c, err := j.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, t := range j.Order {
		if t.Empty {
			continue
		}
		for _, source := range j.Plan.SourcesOf(t) {
			s, err := c.Source(ctx, source)
			if err != nil {
				return 0, err
			}
			n, err := chunk.CountRows(ctx, s.Engine, s, t.Name)
			if err != nil {
				return 0, dialect.OfSource(source, err)
			}
			rows += n
		}
	}
	return rows, nil
}
