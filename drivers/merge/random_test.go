//go:build unix

package merge_test

import (
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/shardsnow/snow/internal/testkit/mergetest"
)

func TestRandomOnPostgreSQL(t *testing.T) { mergetest.Run(t, postgres(t)) }

func TestRandomOnSQLite(t *testing.T) { mergetest.Run(t, sqlite) }
