package merge

import (
	"strconv"
	"sync"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

var postgresEngine = sync.OnceValue(func() *engine {
	plain := []string{
		"SET TimeZone = 'UTC'", "SET DateStyle = 'ISO, YMD'", "SET IntervalStyle = 'postgres'", "SET extra_float_digits = 3",
		"SET bytea_output = 'hex'", "SET standard_conforming_strings = on",
	}
	carrier := func(c *plan.Column) carrier {
		switch sqltype.Of(sqlsnow.Postgres, c.Type).Kind {
		case sqltype.Integer:
			return carryInteger
		case sqltype.Bytes:
			return carryBytes
		}
		return carryText
	}
	return &engine{
		dialect:   sqlsnow.Postgres,
		quotation: `"`,
		number:    func(n int) string { return "$" + strconv.Itoa(n) },
		now:       "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
		maxParams: 65535,
		writers:   16,
		rowValues: true,
		read: func(column string, c *plan.Column) string {
			if carrier(c) == carryText {
				return column + "::text"
			}
			return column
		},
		carrier: carrier,
		held:    "SELECT fence FROM snow_merge_lease WHERE id = 1 AND fence = $1 FOR SHARE",
		begin:   "BEGIN",
		source: append([]string{
			"SET default_transaction_isolation = 'repeatable read'", "SET default_transaction_read_only = on",
			"SET row_security = off", // which is an error where rows would be left out
		}, plain...),
		target: append([]string{
			"SET default_transaction_isolation = 'read committed'", "SET default_transaction_read_only = off",
			"SET synchronous_commit = on",
		}, plain...),
		unchecked: "SET session_replication_role = 'replica'",
		absent:    func(code string) bool { return code == "42P01" || code == "42703" },
		busy: func(code string) bool {
			return code == "40001" || code == "40P01" || code == "55P03" // serialization, deadlock, lock
		},
		ifMissing: "IF NOT EXISTS",
		types: map[string]string{
			"name":      `VARCHAR(255) COLLATE "C"`,
			"code":      `VARCHAR(255) COLLATE "C"`,
			"text":      `TEXT COLLATE "C"`,
			"list":      "TEXT",
			"end":       "",
			"clustered": "",
		},
	}
})
