//go:build unix

package merge_test

import (
	"testing"

	"github.com/shardsnow/snow/internal/mergetest"
)

func TestCrashOnPostgreSQL(t *testing.T) { mergetest.Crash(t, postgres(t)) }

func TestCrashOnSQLite(t *testing.T) { mergetest.Crash(t, sqlite) }
