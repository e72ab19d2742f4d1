package versioned

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

const (
	namespaces = "namespaces/"
	workers    = "workers/"
)

// namespaceKey returns the key of a namespace's constants.
func namespaceKey(name string) string { return namespaces + escape(name) }

// workersPrefix returns what the keys of a namespace's numbers begin with.
func workersPrefix(name string) string { return workers + escape(name) + "/" }

// workerKey returns the key of a worker number. The digits make the order of the keys the order of the numbers.
func workerKey(name string, worker int64) string {
	return fmt.Sprintf("%s%010d", workersPrefix(name), worker)
}

// numberOf returns the worker number in a key that begins with a prefix.
func numberOf(prefix, key string) (int64, error) {
	digits, ok := strings.CutPrefix(key, prefix)
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || fmt.Sprintf("%010d", n) != digits {
		return 0, &DamagedError{Key: key, Err: errKey}
	}
	return n, nil
}

// escape makes a name one part of a path. Names of dots alone mean something else in paths.
func escape(name string) string {
	if strings.Trim(name, ".") == "" {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return url.PathEscape(name)
}

// nameOf returns the name of the namespace in a key.
func nameOf(key string) (string, error) {
	name, err := url.PathUnescape(strings.TrimPrefix(key, namespaces))
	if err != nil || namespaceKey(name) != key {
		return "", &DamagedError{Key: key, Err: errKey}
	}
	return name, nil
}
