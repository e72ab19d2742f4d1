package command

import (
	"runtime/debug"
	"testing"

	"github.com/shardsnow/snow/cmd/snow/internal/licences"
)

func TestVersionOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		info *debug.BuildInfo
		want version
	}{
		{"nothing", nil, version{Version: "unknown"}},
		{"a tag", &debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, version{Version: "v0.1.0"}},
		{
			"a commit without a tag", &debug.BuildInfo{Main: debug.Module{Version: "v0.1.1-0.20261123043000-0123456789ab"}},
			version{Version: "v0.1.1-0.20261123043000-0123456789ab", Commit: "0123456789ab"},
		},
		{
			"a working tree", &debug.BuildInfo{
				Main:     debug.Module{Version: "v0.0.0-20261123043000-0123456789ab+dirty"},
				Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}},
			},
			version{Version: "v0.0.0-20261123043000-0123456789ab+dirty", Commit: "0123456789abcdef", Changed: true},
		},
	} {
		tt.want.Go = versionOf(nil).Go
		if got := versionOf(tt.info); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestLicences(t *testing.T) {
	if got := execute(t, "version", "--licences"); got.status != 0 || got.stdout != licences.Text {
		t.Errorf("exit status %d, %.200q, %s", got.status, got.stdout, got.stderr)
	}
}
