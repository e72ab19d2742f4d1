package rekey

import (
	"cmp"
	"strings"
)

// A list is a column whose values are lists of ids.
type list struct{ column }

func (f list) edit(r *Row, by editor) (value any, lost bool, err error) {
	v, text, has := f.text(r)
	if !has {
		return v, false, nil
	}
	if strings.HasSuffix(f.Column.Type, "[]") {
		text, lost = f.array(text, by)
	} else {
		text, lost = f.split(text, by)
	}
	return like(v, text), lost, nil
}

// split edits a delimited text. Space around an id, and what is empty, stays.
func (f list) split(text string, by editor) (string, bool) {
	separator := cmp.Or(f.Column.Separator, ",")
	lost := false
	var out []string
	for _, part := range strings.Split(text, separator) {
		id := strings.TrimSpace(part)
		if id == "" || f.none[id] {
			out = append(out, part)
			continue
		}
		after, keep := by(0, id)
		if !keep {
			lost = true
			continue
		}
		start := strings.Index(part, id)
		out = append(out, part[:start]+after+part[start+len(id):])
	}
	return strings.Join(out, separator), lost
}

// array edits an array as PostgreSQL writes it. What is lost becomes NULL.
func (f list) array(text string, by editor) (string, bool) {
	var out strings.Builder
	if start := strings.IndexByte(text, '='); start >= 0 { // its bounds
		out.WriteString(text[:start+1])
		text = text[start+1:]
	}
	lost := false
	for text != "" {
		end := strings.IndexAny(text, "{},")
		if end < 0 {
			end = len(text)
		}
		if id := text[:end]; id == "" || id == "NULL" || f.none[id] {
			out.WriteString(id)
		} else if after, keep := by(0, id); keep {
			out.WriteString(after)
		} else {
			lost = true
			out.WriteString("NULL")
		}
		out.WriteString(text[end:min(end+1, len(text))])
		text = text[min(end+1, len(text)):]
	}
	return out.String(), lost
}
