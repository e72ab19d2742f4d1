package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/merge"
)

// parseDatabases reads NAME:DATABASE,…, where NAME alone is both: the names of databases by those of the plan.
func parseDatabases(text string) (map[string]string, error) {
	all := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		name, is, ok := strings.Cut(part, ":")
		if !ok {
			is = name
		}
		if name == "" || is == "" || all[name] != "" {
			return nil, errors.New("want NAME:DATABASE,NAME:DATABASE, each name once")
		}
		all[name] = is
	}
	return all, nil
}

// addDatabases reads what -databases says of one source, or of all that have no such flag of their own.
func (c *command) addDatabases(text string) error {
	source, list, ok := strings.Cut(text, "=")
	if !ok {
		source, list = "", text
	}
	if c.databases[source] != nil {
		return errors.New("want each source once")
	}
	databases, err := parseDatabases(list)
	if c.databases == nil {
		c.databases = map[string]map[string]string{}
	}
	c.databases[source] = databases
	return err
}

// withDatabases gives sources their databases.
func (c *command) withDatabases(sources []merge.Source) error {
	for source := range c.databases {
		known := source == ""
		for _, s := range sources {
			known = known || s.Name == source
		}
		if !known {
			return fmt.Errorf("-databases: no source %s", source)
		}
	}
	for i, s := range sources {
		if sources[i].Databases = c.databases[s.Name]; sources[i].Databases == nil {
			sources[i].Databases = c.databases[""]
		}
	}
	return nil
}
