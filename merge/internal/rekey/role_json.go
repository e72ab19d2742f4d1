package rekey

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/merge/internal/jsonpath"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// An inJSON is a column whose values are JSON with ids in it.
type inJSON struct {
	column
	routes []jsonpath.Route
}

func newJSON(f *IDColumn) (role, error) {
	j := inJSON{column: column{f}}
	for i, r := range f.Column.Refers {
		steps, err := jsonpath.Parse(r.Path)
		if err != nil {
			return nil, &plan.Error{Table: f.table.Table.Name, Column: f.Column.Name, Reason: err.Error()}
		}
		j.routes = append(j.routes, jsonpath.Route{Ref: i, Steps: steps})
	}
	return j, nil
}

func (f inJSON) edit(r *Row, by editor) (value any, lost bool, err error) {
	v, text, has := f.text(r)
	if !has || strings.TrimSpace(text) == "" {
		return v, false, nil
	}
	if text, lost, err = f.json(text, by); err != nil {
		return nil, false, ColumnError(f.Column.Name, err)
	}
	return like(v, text), lost, nil
}

// json edits a JSON text.
func (f inJSON) json(text string, by editor) (_ string, lost bool, err error) {
	if f.Reached == nil {
		f.Reached = make([]bool, len(f.routes))
	}
	var structure error
	text, err = jsonpath.Edit(text, f.routes, func(ref int, value string) (string, bool) {
		f.Reached[ref] = true
		digits, quoted := value, value[0] == '"'
		if quoted {
			_ = json.Unmarshal([]byte(value), &digits) // its digits may be escaped
		}
		if value == "null" || f.none[digits] {
			return value, true
		}
		if value[0] == '{' || value[0] == '[' {
			structure = fmt.Errorf("at path %q it is %s, which is no id: say what is in it that is one", f.Column.Refers[ref].Path, sqlvalue.Sample(value))
			return value, true
		}
		after, keep := by(ref, digits)
		switch {
		case !keep:
			lost = true
			return "", false
		case after == digits:
			return value, true
		case quoted:
			after = `"` + after + `"`
		}
		return after, true
	})
	return text, lost, cmp.Or(err, structure)
}
