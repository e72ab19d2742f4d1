package mergecommand

import (
	"maps"
	"testing"

	"github.com/spf13/pflag"
)

func TestParseDatabases(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"auth:eu_auth,characters:eu_characters": {"auth": "eu_auth", "characters": "eu_characters"},
		"auth,characters":                       {"auth": "auth", "characters": "characters"},
		"auth:a:b":                              {"auth": "a:b"},
		"":                                      nil,
		"auth:":                                 nil,
		":eu_auth":                              nil,
		"auth,auth:other":                       nil,
	} {
		got, err := parseDatabases(text)
		if !maps.Equal(got, want) || (err != nil) != (want == nil) {
			t.Errorf("%q: got %v and %v, want %v", text, got, err, want)
		}
	}
	flags := pflag.NewFlagSet("inspect", pflag.ContinueOnError)
	New(Steps()[0], flags)
	if err := flags.Parse([]string{"--databases", "eu=auth", "--databases", "eu=auth"}); err == nil {
		t.Error("a source is given twice, and no error")
	}
}
