package dbserver

// A Statement is SQL whose parameters have names.
type Statement struct {
	Text  string
	names []string
}

// NoLimit ends a query of all rows. A MySQL session can have a sql_select_limit, which cuts off queries that have no limit.
const NoLimit = " LIMIT 9223372036854775807"

// Names returns the names of the statement's parameters in their order.
func (s Statement) Names() []string { return s.names }

// Args returns the values of the statement's parameters in their order.
func (s Statement) Args(values map[string]any) []any {
	args := make([]any, len(s.names))
	for i, name := range s.names {
		args[i] = values[name]
	}
	return args
}
