package questions

import (
	"fmt"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// roleText says what a column is.
func roleText(c *plan.Column) string {
	var whose []string
	for _, r := range c.Refers {
		table := r.Table
		if table == "" {
			table = "no ids"
		}
		switch c.Role {
		case plan.RoleReference, plan.RoleList:
			whose = append(whose, table)
		default:
			whose = append(whose, strings.TrimSpace(r.Path+r.Value+": "+table))
		}
	}
	tables := strings.Join(whose, ", ")
	switch c.Role {
	case plan.RoleReference:
		return "ids of " + tables
	case plan.RoleList:
		return "lists of ids of " + tables
	case plan.RoleJSON:
		return "ids in JSON, " + tables
	case plan.RolePolymorphic:
		return fmt.Sprintf("ids by %s, %s", c.By, tables)
	case plan.RolePacked:
		return fmt.Sprintf("packed ids (%s), %s", c.Format, tables)
	case plan.RoleName:
		if len(c.Refers) == 1 {
			return "names of " + c.Refers[0].Table + "." + c.Refers[0].Path
		}
	case plan.RolePlain:
		return "no ids"
	case plan.RoleKey:
		return "ids of its own table"
	}
	return string(c.Role)
}

// listed lists the first n of some names, and how many more there are.
func listed(names []string, n int) string {
	if len(names) > n+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
	}
	return strings.Join(names, ", ")
}
