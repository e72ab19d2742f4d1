package dialect

import (
	"strings"
	"sync"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

var postgres = sync.OnceValue(func() *Dialect {
	// In one message, so that they come to one server connection even through a pooler.
	const plain = "; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL extra_float_digits = 3" +
		"; SET LOCAL bytea_output = 'hex'; SET LOCAL standard_conforming_strings = on" +
		// without it the server takes texts, and returns them, in the encoding of its database
		"; SET LOCAL client_encoding = 'UTF8'; SET LOCAL quote_all_identifiers = off"
	// a pause must not end it; a transaction that writes has the server's limit
	const idle = "; SET LOCAL idle_in_transaction_session_timeout = 0"
	carrier := func(c *plan.Column) Carrier {
		switch kind := sqltype.Of(sqlsnow.Postgres, c.Type).Kind; {
		case kind == sqltype.Integer, kind == sqltype.Decimal && isID(c):
			return CarryInteger
		case kind == sqltype.Bytes:
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
			if carrier(c) == CarryText || sqltype.Of(sqlsnow.Postgres, c.Type).Kind == sqltype.Decimal {
				return column + "::text"
			}
			return column
		},
		Carrier: carrier,
		content: func(columns []*plan.Column) string { // whatever the texts are, a record's is of these values alone
			parts := make([]string, len(columns))
			for i, c := range columns {
				parts[i] = sqlsnow.Postgres.Quote(c.Name) + "::text"
			}
			return "encode(sha256(convert_to(ROW(" + strings.Join(parts, ", ") + ")::text, getdatabaseencoding())), 'hex') COLLATE \"C\""
		},
		Held:   "SELECT fence FROM snow_merge_lease WHERE id = 1 AND fence = $1 FOR SHARE",
		Begin:  "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = on" + plain,
		Within: true,
		// Row-level security is turned off so that it is an error where rows would be left out.
		Source:    []string{"BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SET LOCAL row_security = off" + plain + idle},
		Target:    []string{"BEGIN ISOLATION LEVEL READ COMMITTED" + plain + idle}, // a standby may be verified
		Unchecked: "SET LOCAL session_replication_role = 'replica'",
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
