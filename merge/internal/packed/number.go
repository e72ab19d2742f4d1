package packed

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// bits is the codec of integers whose lower bits are an id. Places are the numbers of the other bits.
type bits struct {
	low    int
	places []string
}

func newBits(low int, places []string) (Codec, error) {
	for _, place := range places {
		n, err := strconv.ParseUint(place, 10, 64)
		if err != nil || strconv.FormatUint(n, 10) != place || n > 1<<(64-low)-1 {
			return nil, fmt.Errorf("place %q: want the number of the upper %d bits", place, 64-low)
		}
	}
	return bits{low, slices.Clone(places)}, nil
}

func (b bits) Replace(value string, by func(place, id string) (string, error)) (string, error) {
	v, err := strconv.ParseUint(value, 10, 64)
	signed := strings.HasPrefix(value, "-")
	if signed {
		var n int64
		n, err = strconv.ParseInt(value, 10, 64)
		v = uint64(n)
	}
	if err != nil {
		return "", fmt.Errorf("%s is no integer of 64 bits", sample(value))
	}
	place := strconv.FormatUint(v>>b.low, 10)
	if !slices.Contains(b.places, place) {
		return "", fmt.Errorf("%s has the upper bits %s, which the plan does not name", value, place)
	}
	id := strconv.FormatUint(v&(1<<b.low-1), 10)
	after, err := by(place, id)
	if err != nil || after == id {
		return value, err
	}
	n, err := strconv.ParseUint(after, 10, 64)
	if err != nil || n>>b.low != 0 {
		return "", tooWide(place, after, strconv.FormatUint(1<<b.low-1, 10))
	}
	v = v>>b.low<<b.low | n
	if signed {
		return strconv.FormatInt(int64(v), 10), nil
	}
	return strconv.FormatUint(v, 10), nil
}

// halves is the codec of two integers with a space between them: the upper bits of an id, and the low ones of so
// many bits.
type halves struct {
	low    int
	signed [2]bool // a half is the negative number of the same bits where its highest bit is set
}

func (h halves) Replace(value string, by func(place, id string) (string, error)) (string, error) {
	upper, lower, _ := strings.Cut(value, " ")
	high, err := half(upper, 64-h.low, h.signed[0])
	if err != nil {
		return "", err
	}
	low, err := half(lower, h.low, h.signed[1])
	if err != nil {
		return "", err
	}
	if high>>(63-h.low) != 0 {
		return "", fmt.Errorf("halves %s: together they have more than 63 bits", value)
	}
	id := strconv.FormatUint(high<<h.low|low, 10)
	after, err := by("id", id)
	if err != nil || after == id {
		return value, err
	}
	n, err := strconv.ParseInt(after, 10, 64)
	if err != nil || n < 0 {
		return "", tooWide("id", after, "9223372036854775807")
	}
	return unhalf(uint64(n)>>h.low, 64-h.low, h.signed[0]) + " " + unhalf(uint64(n)&(1<<h.low-1), h.low, h.signed[1]), nil
}

func half(text string, width int, signed bool) (uint64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && signed && n < 0 && n >= -1<<(width-1) {
		return uint64(n) & (1<<width - 1), nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n>>width != 0 || signed && n>>(width-1) != 0 {
		return 0, fmt.Errorf("%s is no half of %d bits", sample(text), width)
	}
	return n, nil
}

func unhalf(n uint64, width int, signed bool) string {
	if signed && n>>(width-1) != 0 {
		return strconv.FormatInt(int64(n)-1<<width, 10)
	}
	return strconv.FormatUint(n, 10)
}
