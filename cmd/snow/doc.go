// Command snow is for the people who run programs with ids of snow: it reads and
// makes ids, computes layouts, looks after the worker numbers in a database,
// merges databases, and gives ids over HTTP.
//
//	CGO_ENABLED=0 go install github.com/shardsnow/snow/cmd/snow@latest
//	snow help
//
// The work is done by [github.com/shardsnow/snow/cmd/snow/command], which other programs
// can run.
package main
