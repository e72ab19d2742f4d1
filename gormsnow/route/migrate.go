package route

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
)

// MigrateAcross calls AutoMigrate with the models in every database, one after the other. It stops at the first
// error, which wraps a [*snow.ShardError]; the call may be repeated.
//
// For migrations in files, run goose or golang-migrate on each database, and compare the versions of all when a
// program starts. drivers/goose and drivers/golangmigrate in the repository have tests that do both.
func MigrateAcross(ctx context.Context, shards *snow.Shards[*gorm.DB], models ...any) error {
	if shards == nil || shards.Len() == 0 {
		return fmt.Errorf("route: migrate across: there are no shards: make them with snow.NewShards")
	}
	for i := range shards.Len() {
		if err := Scatter(shards.At(uint64(i)).WithContext(ctx)).AutoMigrate(models...); err != nil {
			return fmt.Errorf("route: migrate across: %w", &snow.ShardError{Index: i, Err: err})
		}
	}
	return nil
}
