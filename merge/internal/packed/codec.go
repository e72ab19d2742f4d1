package packed

import (
	"fmt"
	"slices"
	"strconv"
)

// A Codec finds the ids in values of one format. It is safe for concurrent use.
type Codec interface {
	// Replace calls by for each id in value with the place that it is at, as the plan names it, and returns the
	// value with what by returned in their places. Ids have their decimal digits; what stands in the place of one
	// is passed as it is written. A value that is not of the format, or an id that does not fit in its place, is an
	// error. An error of by is returned.
	Replace(value string, by func(place, id string) (string, error)) (string, error)
}

// Replace calls c.Replace, and then reads the ids of the value that it returned: if they differ from what by
// returned, in the same order, it is an error. So nothing is written that can't be read. With the same ids a value
// stays as it is.
func Replace(c Codec, value string, by func(place, id string) (string, error)) (string, error) {
	type found struct{ place, id string }
	var want, got []found
	same := true
	after, err := c.Replace(value, func(place, id string) (string, error) {
		next, err := by(place, id)
		want, same = append(want, found{place, next}), same && next == id
		return next, err
	})
	switch {
	case err != nil:
		return "", err
	case same:
		return value, nil
	}
	_, err = c.Replace(after, func(place, id string) (string, error) {
		got = append(got, found{place, id})
		return id, nil
	})
	if err == nil && slices.Equal(got, want) {
		return after, nil
	}
	reason := ""
	if err != nil {
		reason = ": " + err.Error()
	}
	return "", fmt.Errorf("with new ids, %s becomes a value in which they are not found again%s", sample(value), reason)
}

// A Hook is a codec that the program gives.
type Hook interface {
	Replace(value []byte, by func(place string, id int64) (int64, error)) ([]byte, error)
}

// Hooked returns the Codec of a hook.
func Hooked(h Hook) Codec { return hooked{h} }

type hooked struct{ Hook }

func (h hooked) Replace(value string, by func(place, id string) (string, error)) (string, error) {
	after, err := h.Hook.Replace([]byte(value), func(place string, id int64) (int64, error) {
		text, err := by(place, strconv.FormatInt(id, 10))
		if err != nil {
			return 0, err
		}
		return strconv.ParseInt(text, 10, 64)
	})
	return string(after), err
}

// A span is where an id is in a text.
type span struct {
	place      string
	start, end int
	id         string                          // its decimal digits, or what is there
	write      func(id string) (string, error) // nil: as the digits are
}

// A finder finds the ids in a text, in order. No two places overlap.
type finder interface {
	find(text string) ([]span, error)
}

// spans is the Codec of a finder: what is between the ids stays as it is.
type spans struct{ finder }

func (s spans) Replace(value string, by func(place, id string) (string, error)) (string, error) {
	found, err := s.find(value)
	if err != nil {
		return "", err
	}
	var out []byte
	at := 0
	for _, f := range found {
		after, err := by(f.place, f.id)
		if err != nil {
			return "", err
		}
		if after == f.id {
			continue // however it is spelled
		}
		if f.write != nil {
			if after, err = f.write(after); err != nil {
				return "", err
			}
		}
		out = append(append(out, value[at:f.start]...), after...)
		at = f.end
	}
	if at == 0 {
		return value, nil
	}
	return string(append(out, value[at:]...)), nil
}

// A WidthError says that an id does not fit in its place. Most is the highest one that does.
type WidthError struct{ Place, ID, Most string }

func (e *WidthError) Error() string {
	return fmt.Sprintf("the id %s does not fit at place %q, which takes ids up to %s", e.ID, e.Place, e.Most)
}

func tooWide(place, id, most string) error { return &WidthError{place, id, most} }

func sample(text string) string {
	const most = 60
	if len(text) > most {
		return fmt.Sprintf("%d bytes that begin with %q", len(text), text[:most])
	}
	return strconv.Quote(text)
}
