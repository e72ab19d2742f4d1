package opaque

import (
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ReadKeys reads a file of keys: see [ParseKeys] for its form. It is small enough for
// a secret of Kubernetes or a credential of systemd. An error is what os.ReadFile
// returns, or a [*KeyError].
func ReadKeys(path string) (*Keys, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("opaque: read keys: %w", err)
	}
	list, err := parseKeys(string(text))
	if err == nil {
		var keys *Keys
		if keys, err = newKeys(list); err == nil {
			return keys, nil
		}
	}
	return nil, fmt.Errorf("opaque: read keys: %s: %w", path, err)
}

// ParseKeys parses the text of a file of keys. Each line has a version and a secret in
// hexadecimal digits, and may end with the word decode, which is [Key.DecodeOnly].
// Empty lines and lines that begin with # are skipped:
//
//	# openssl rand -hex 32
//	1 8d4c…
//	2 01fe… decode
//
// The error is a [*KeyError] with the line. It has nothing of the text, which may be
// secret.
func ParseKeys(text []byte) ([]Key, error) {
	list, err := parseKeys(string(text))
	if err != nil {
		return nil, fmt.Errorf("opaque: %w", err)
	}
	return list, nil
}

func parseKeys(text string) ([]Key, error) {
	var list []Key
	n := 0
	for line := range strings.Lines(text) {
		n++
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		if len(fields) < 2 || len(fields) > 3 || len(fields) == 3 && fields[2] != "decode" {
			return nil, &KeyError{Version: -1, Line: n, Reason: "want a version, a secret and perhaps the word decode"}
		}
		version, err := strconv.Atoi(fields[0])
		if err != nil || version < 0 || version >= mostVersions || strconv.Itoa(version) != fields[0] {
			return nil, &KeyError{Version: -1, Line: n, Reason: "want a version from 0 to 15"}
		}
		secret, err := hex.DecodeString(fields[1])
		if err != nil {
			return nil, &KeyError{Version: version, Line: n, Reason: "want a secret of hexadecimal digits"}
		}
		k, wrong := newKey(version, secret)
		if wrong != nil {
			wrong.Line = n
			return nil, wrong
		}
		k.decodeOnly = len(fields) == 3
		list = append(list, k)
	}
	return list, nil
}
