package dialect

import (
	"sync"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

var postgres = sync.OnceValue(func() *Dialect {
	plain := []string{
		"SET TimeZone = 'UTC'", "SET DateStyle = 'ISO, YMD'", "SET IntervalStyle = 'postgres'", "SET extra_float_digits = 3",
		"SET bytea_output = 'hex'", "SET standard_conforming_strings = on",
	}
	carrier := func(c *plan.Column) Carrier {
		switch sqltype.Of(sqlsnow.Postgres, c.Type).Kind {
		case sqltype.Integer:
			return CarryInteger
		case sqltype.Bytes:
			return CarryBytes
		}
		return CarryText
	}
	return &Dialect{
		Kind:      sqlsnow.Postgres,
		Now:       "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
		MaxParams: 65535,
		Writers:   16,
		RowValues: true,
		read: func(column string, c *plan.Column) string {
			if carrier(c) == CarryText {
				return column + "::text"
			}
			return column
		},
		Carrier: carrier,
		Held:    "SELECT fence FROM snow_merge_lease WHERE id = 1 AND fence = $1 FOR SHARE",
		Begin:   "BEGIN",
		Source: append([]string{
			"SET default_transaction_isolation = 'repeatable read'", "SET default_transaction_read_only = on",
			"SET row_security = off", // which is an error where rows would be left out
		}, plain...),
		Target: append([]string{
			"SET default_transaction_isolation = 'read committed'", "SET default_transaction_read_only = off",
			"SET synchronous_commit = on",
		}, plain...),
		Unchecked: "SET session_replication_role = 'replica'",
		IfMissing: "IF NOT EXISTS",
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
