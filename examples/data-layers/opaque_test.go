package datalayers

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/shardsnow/snow/opaque"
)

// pgx stores what has a String in a text column. An opaque.ID has none: a table has the snow.ID.
func TestPgxRefusesAnOpaqueID(t *testing.T) {
	id, err := opaque.ParseID("ord_11m6bp6t15r7nr7")
	if err != nil {
		t.Fatal(err)
	}
	for name, oid := range map[string]uint32{"bigint": pgtype.Int8OID, "text": pgtype.TextOID, "varchar": pgtype.VarcharOID, "uuid": pgtype.UUIDOID, "bytea": pgtype.ByteaOID} {
		for _, v := range []any{id, &id, []opaque.ID{id}} {
			for _, format := range []int16{pgtype.TextFormatCode, pgtype.BinaryFormatCode} {
				if b, err := pgtype.NewMap().Encode(oid, format, v, nil); err == nil {
					t.Errorf("a %T becomes %q in a column of %s", v, b, name)
				}
			}
		}
	}
	if err := pgtype.NewMap().Scan(pgtype.TextOID, pgtype.TextFormatCode, []byte("ord_11m6bp6t15r7nr7"), &id); err == nil {
		t.Error("pgx reads a text into an opaque.ID")
	}
}
