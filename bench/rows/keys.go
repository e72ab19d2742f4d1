package rows

import (
	"context"

	"github.com/google/uuid"
	"github.com/shardsnow/snow"
)

// A key is a kind of primary key.
type key struct {
	name     string
	random   bool // the keys are not in the order of the rows
	database bool // the database makes the keys

	// fill sets values to the keys of the rows that follow the first done rows. If the database makes the keys,
	// these are the keys that it will make.
	fill fill
}

type fill func(ctx context.Context, done int, values []any) error

// keys returns the kinds of keys, in the order of the results.
func keys(gen *snow.Generator) []key {
	return []key{
		{name: AutoIncrement, database: true, fill: count},
		{name: Snow, fill: fillSnow(gen)},
		{name: UUIDv7, fill: fillUUID(uuid.NewV7, binary)},
		{name: UUIDv4, random: true, fill: fillUUID(uuid.NewRandom, binary)},
		{name: UUIDv4Text, random: true, fill: fillUUID(uuid.NewRandom, text)},
	}
}

// count makes the numbers that a database gives to the rows of a new table if nobody else inserts.
func count(_ context.Context, done int, values []any) error {
	for i := range values {
		values[i] = int64(done + i + 1)
	}
	return nil
}

func fillSnow(gen *snow.Generator) fill {
	return func(ctx context.Context, _ int, values []any) error {
		var batch [batch]snow.ID
		ids := batch[:len(values)]
		if err := gen.Fill(ctx, ids); err != nil {
			return err
		}
		for i, id := range ids {
			values[i] = int64(id)
		}
		return nil
	}
}

func fillUUID(generate func() (uuid.UUID, error), form func(uuid.UUID) any) fill {
	return func(_ context.Context, _ int, values []any) error {
		for i := range values {
			id, err := generate()
			if err != nil {
				return err
			}
			values[i] = form(id)
		}
		return nil
	}
}

func binary(id uuid.UUID) any { return id[:] }

func text(id uuid.UUID) any { return id.String() }
