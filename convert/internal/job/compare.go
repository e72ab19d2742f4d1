package job

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mostDifferences is how many differences of two plans are told.
const mostDifferences = 10

// compare says in what two plans, as JSON, differ.
func compare(stored, given string) ([]string, error) {
	if stored == given {
		return nil, nil
	}
	a, err := flatten(stored)
	if err != nil {
		return nil, err
	}
	b, err := flatten(given)
	if err != nil {
		return nil, err
	}
	var differences []string
	for _, key := range keysOf(a, b) {
		va, ina := a[key]
		vb, inb := b[key]
		switch {
		case !inb:
			differences = append(differences, fmt.Sprintf("%s is %s there, and missing here", key, va))
		case !ina:
			differences = append(differences, fmt.Sprintf("%s is missing there, and %s here", key, vb))
		case va != vb:
			differences = append(differences, fmt.Sprintf("%s is %s there, and %s here", key, va, vb))
		}
	}
	if more := len(differences) - mostDifferences; more > 0 {
		differences = append(differences[:mostDifferences], fmt.Sprintf("%d more", more))
	}
	return differences, nil
}

func keysOf(maps ...map[string]string) (keys []string) {
	for _, m := range maps {
		for key := range m {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// flatten returns the values of JSON by their paths.
func flatten(text string) (map[string]string, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	flat := map[string]string{}
	flattenInto(flat, "", v)
	return flat, nil
}

func flattenInto(flat map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			flattenInto(flat, strings.TrimPrefix(path+"."+key, "."), value)
		}
	case []any:
		for i, value := range v {
			flattenInto(flat, path+"["+nameOf(value, i)+"]", value)
		}
	default:
		text, _ := json.Marshal(v) // of what JSON was decoded to
		flat[path] = string(text)
	}
}

// nameOf tells the element of a list by its name where it has one, so that one more table is one difference.
func nameOf(v any, i int) string {
	if m, ok := v.(map[string]any); ok {
		for _, key := range []string{"Name", "Column"} {
			if name, ok := m[key].(string); ok {
				return name
			}
		}
	}
	return strconv.Itoa(i)
}
