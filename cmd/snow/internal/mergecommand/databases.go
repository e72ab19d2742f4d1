package mergecommand

import (
	"fmt"
	"strings"

	"github.com/shardsnow/snow/merge"
)

// parseDatabases reads NAME:DATABASE,… into a map from the plan's names to names of databases. NAME alone is both.
func parseDatabases(text string) (map[string]string, error) {
	all := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		name, is, ok := strings.Cut(part, ":")
		if !ok {
			is = name
		}
		if name == "" || is == "" || all[name] != "" {
			return nil, usage("want NAME:DATABASE,NAME:DATABASE, each name once")
		}
		all[name] = is
	}
	return all, nil
}

// addDatabases reads --databases for one source, or for all sources without a flag of their own.
func (c *Command) addDatabases(text string) error {
	source, list, ok := strings.Cut(text, "=")
	if !ok {
		source, list = "", text
	}
	if c.databases[source] != nil {
		return usage("want each source once")
	}
	databases, err := parseDatabases(list)
	if c.databases == nil {
		c.databases = map[string]map[string]string{}
	}
	c.databases[source] = databases
	return err
}

// withDatabases gives sources their databases.
func (c *Command) withDatabases(sources []merge.Source) error {
	for source := range c.databases {
		known := source == ""
		for _, s := range sources {
			known = known || s.Name == source
		}
		if !known {
			return &UsageError{fmt.Errorf("--databases: no source %s", source)}
		}
	}
	for i, s := range sources {
		if sources[i].Databases = c.databases[s.Name]; sources[i].Databases == nil {
			sources[i].Databases = c.databases[""]
		}
	}
	return nil
}
