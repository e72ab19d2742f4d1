//go:build unix

package merge_test

import (
	"testing"

	"github.com/shardsnow/snow/internal/mergetest"
	"github.com/shardsnow/snow/internal/testscale"
)

func TestCrashOnPostgreSQL(t *testing.T) {
	testscale.NeedLong(t)
	mergetest.Crash(t, postgres(t))
}

func TestCrashOnSQLite(t *testing.T) {
	testscale.NeedLong(t)
	mergetest.Crash(t, sqlite)
}
