package work

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shardsnow/snow/merge/internal/sqlvalue"
)

// A sample has the different values of a column whose hashes are the least, in the order of the hashes. So a dry run
// and a verification have the same one, in whatever order and portions they read rows.
type sample []sampled

// A sampled value is what [sampleOf] says of it.
type sampled struct {
	hash uint64
	id   int64
	may  bool
}

// mostSamples is how many different values of a column are kept.
const mostSamples = 500

// look adds a value. NULL is none.
func (s sample) look(v any) sample {
	if v == nil {
		return s
	}
	h := hashOf(v)
	if len(s) == mostSamples && h > s[len(s)-1].hash {
		return s
	}
	one := sampled{hash: h}
	one.id, one.may = sampleOf(v)
	return s.add(one)
}

// add adds a sampled value. Of two with one hash the lesser id stays.
func (s sample) add(v sampled) sample {
	at, has := slices.BinarySearchFunc(s, v.hash, func(one sampled, h uint64) int { return cmp.Compare(one.hash, h) })
	switch {
	case has:
		s[at].id, s[at].may = min(s[at].id, v.id), s[at].may || v.may
		return s
	case at == mostSamples:
		return s
	}
	s = slices.Insert(s, at, v)
	return s[:min(len(s), mostSamples)]
}

// ids returns the different ids in ascending order, and whether any value may have ids.
func (s sample) ids() (all []int64, any bool) {
	for _, v := range s {
		if any = any || v.may; v.may && v.id > 0 {
			all = append(all, v.id)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), any
}

// hashedBytes is how much of a text goes into its hash.
const hashedBytes = 64

// hashOf returns the same for the same value in each process: FNV-1a, and the finalizer of MurmurHash3 behind it.
func hashOf(v any) uint64 {
	h := uint64(14695981039346656037)
	if n, ok := v.(int64); ok {
		h ^= uint64(n)
	} else {
		text := sqlvalue.Text(v)
		h ^= uint64(len(text))
		for i := range min(len(text), hashedBytes) {
			h = (h ^ uint64(text[i])) * 1099511628211
		}
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

var (
	listed = regexp.MustCompile(`^[\[({" ]*([0-9]{1,19})(?:[", ;|#]+[0-9]{1,19})*[\])}", ;|#]*$`)
	inJSON = regexp.MustCompile(`[:\[,]\s*"?([1-9][0-9]{0,18})"?\s*[,\]}]`)
	opaque = regexp.MustCompile(`^[0-9A-Za-z+/=_-]{20,}$`) // UUIDs, hashes, tokens
)

// longestSample is how much of a value is looked at, in bytes.
const longestSample = 4096

// sampleOf returns the first positive integer of a value that is one, or a list or JSON of some. It returns 0 for
// another value that may have ids in it, and false for one that has none.
func sampleOf(v any) (id int64, may bool) {
	if id, ok := sqlvalue.ID(v); ok {
		return max(id, 0), true
	}
	text := sqlvalue.Text(v)
	if _, ok := v.([]byte); ok && !utf8.ValidString(text) {
		return 0, !slices.Contains([]int{16, 20, 32, 64}, len(text)) // UUIDs and hashes
	}
	text = strings.TrimSpace(text[:min(len(text), longestSample)])
	first := listed.FindStringSubmatch(text)
	if first == nil && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) {
		first = inJSON.FindStringSubmatch(text)
	}
	if first != nil {
		if id, ok := sqlvalue.ParseID(first[1]); ok {
			return id, true
		}
		return 0, true
	}
	return 0, strings.ContainsAny(text, "0123456789") && !(opaque.MatchString(text) && strings.ContainsFunc(text, unicode.IsLetter))
}
