// Package packed finds ids inside of values, and puts others in their places. It asks no database.
//
//	codec.go     what a codec is; Replace, which reads back what a codec wrote
//	format.go    the formats that a plan names
//	number.go    ids in integers: below high bits, and in halves
//	digits.go    how an id is written inside of a text
//	text.go      ids in texts: at fixed places, in delimited fields, found by a regular expression
//	php.go       serialised values of PHP; lua.go: tables of Lua
package packed
