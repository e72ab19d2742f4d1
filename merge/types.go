package merge

import (
	"strconv"
	"strings"

	"github.com/shardsnow/snow/sqlsnow"
)

// A kind is what values of a type are to a merge.
type kind int

const (
	kindOther   kind = iota
	kindInteger      // of bits
	kindText         // of at most length characters, where there is a limit
	kindJSON         // the database's own JSON; texts may hold JSON too
	kindTime         // a date with or without a time of day
	kindBytes
)

// A shape is what there is to know of a type.
type shape struct {
	kind     kind
	bits     int // of an integer
	unsigned bool
	length   int // of a text in characters, 0 for no limit; MySQL's texts count bytes
}

// shapeOf takes apart a type as the database writes it, and as people do.
func shapeOf(d sqlsnow.Dialect, typ string) shape {
	typ = strings.ToLower(strings.TrimSpace(typ))
	name, arguments, _ := strings.Cut(typ, "(")
	name = strings.TrimSpace(name)
	if strings.HasSuffix(typ, "]") { // an array of PostgreSQL
		return shape{}
	}
	if d == sqlsnow.SQLite {
		return affinity(name)
	}
	first, _, _ := strings.Cut(arguments, ")")
	length, _ := strconv.Atoi(strings.TrimSpace(first))
	word, _, _ := strings.Cut(name, " ")
	unsigned := strings.Contains(typ, "unsigned")
	switch word {
	case "tinyint":
		return shape{kind: kindInteger, bits: 8, unsigned: unsigned}
	case "smallint", "int2":
		return shape{kind: kindInteger, bits: 16, unsigned: unsigned}
	case "mediumint":
		return shape{kind: kindInteger, bits: 24, unsigned: unsigned}
	case "int", "integer", "int4":
		return shape{kind: kindInteger, bits: 32, unsigned: unsigned}
	case "bigint", "int8":
		return shape{kind: kindInteger, bits: 64, unsigned: unsigned}
	case "char", "varchar", "character", "nchar", "nvarchar", "bpchar":
		if strings.HasPrefix(word, "n") || word == "char" || name == "character" {
			length = max(length, 1)
		}
		return shape{kind: kindText, length: length}
	case "text", "citext":
		if d == sqlsnow.MySQL {
			return shape{kind: kindText, length: 1<<16 - 1}
		}
		return shape{kind: kindText}
	case "tinytext":
		return shape{kind: kindText, length: 255}
	case "mediumtext":
		return shape{kind: kindText, length: 1<<24 - 1}
	case "longtext":
		return shape{kind: kindText}
	case "json", "jsonb":
		return shape{kind: kindJSON}
	case "date", "datetime", "timestamp", "timestamptz":
		return shape{kind: kindTime}
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bytea":
		return shape{kind: kindBytes}
	}
	return shape{}
}

// elementOf returns the shape of an array's elements, and false for another type.
func elementOf(d sqlsnow.Dialect, typ string) (shape, bool) {
	element, array := strings.CutSuffix(strings.TrimSpace(typ), "[]")
	if d != sqlsnow.Postgres || !array {
		return shape{}, false
	}
	return shapeOf(d, strings.TrimRight(element, "[] ")), true
}

// affinity goes by SQLite's rules, which know neither lengths nor widths.
func affinity(name string) shape {
	switch {
	case strings.Contains(name, "int"):
		return shape{kind: kindInteger, bits: 64}
	case strings.Contains(name, "char"), strings.Contains(name, "clob"), strings.Contains(name, "text"):
		return shape{kind: kindText}
	case strings.HasPrefix(name, "json"):
		return shape{kind: kindJSON}
	case strings.HasPrefix(name, "date"), strings.HasPrefix(name, "timestamp"):
		return shape{kind: kindTime}
	case strings.Contains(name, "blob"), name == "":
		return shape{kind: kindBytes}
	}
	return shape{}
}

// idDigits is how many characters the longest id has.
const idDigits = 19

// holdsIDs says why values of the shape can't be minted ids, or "".
func (s shape) holdsIDs(typ string) string {
	switch {
	case s.kind == kindInteger && s.bits < 64:
		return "type " + strconv.Quote(typ) + " can't hold ids of 64 bits: want bigint"
	case s.kind == kindText && s.length > 0 && s.length < idDigits:
		return "type " + strconv.Quote(typ) + " can't hold ids of " + strconv.Itoa(idDigits) + " digits"
	case s.kind != kindInteger && s.kind != kindText:
		return "type " + strconv.Quote(typ) + " is neither an integer nor a text"
	}
	return ""
}
