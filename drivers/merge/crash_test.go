//go:build unix

package merge_test

import (
	"testing"

	"github.com/shardsnow/snow/internal/testkit/mergetest"
	"github.com/shardsnow/snow/internal/testkit/testscale"
)

func TestCrashOnPostgreSQL(t *testing.T) {
	testscale.NeedLong(t)
	mergetest.Crash(t, postgres(t), 0, 3)
}

func TestCrashOnSQLite(t *testing.T) {
	testscale.NeedLong(t)
	mergetest.Crash(t, sqlite, 2, 3)
}
