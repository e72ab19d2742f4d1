package command

import (
	"fmt"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/licences"
	"github.com/shardsnow/snow/cmd/snow/internal/manual"
)

func (a *app) version() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "version", Short: "Show the version and the commit, or the licences", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if all {
				return a.print(shownLicences{licences.Text})
			}
			info, _ := debug.ReadBuildInfo()
			return a.print(versionOf(info))
		},
	}
	c.Flags().BoolVar(&all, "licences", false, "show the licences of all that is in this program")
	return c
}

// shownLicences is the result of version --licences.
type shownLicences struct {
	Text string `json:"licences"`
}

func (l shownLicences) writeText(w io.Writer) { _, _ = io.WriteString(w, l.Text) }

type version struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Changed bool   `json:"changed,omitempty"` // the working tree differed from the commit
	Go      string `json:"go"`
}

// pseudoVersion matches the version of a commit that has no tag. go install writes no other commit into a program:
// a tag names it.
var pseudoVersion = regexp.MustCompile(`[-.]\d{14}-([0-9a-f]{12})(?:\+|$)`)

// versionOf reads what the Go tool wrote into the program, if it did.
func versionOf(info *debug.BuildInfo) version {
	v := version{Version: "unknown", Go: runtime.Version()}
	if info == nil {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	if m := pseudoVersion.FindStringSubmatch(v.Version); m != nil {
		v.Commit = m[1]
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Changed = s.Value == "true"
		}
	}
	return v
}

func (v version) writeText(w io.Writer) {
	fmt.Fprintf(w, "snow %s", v.Version)
	if v.Commit != "" {
		fmt.Fprintf(w, ", commit %s", v.Commit)
	}
	if v.Changed {
		fmt.Fprint(w, " with changes")
	}
	fmt.Fprintf(w, ", %s\n", v.Go)
}

const aboutMan = `Write the manual pages of all commands to a folder, such as /usr/local/share/man/man1:

  snow man /usr/local/share/man/man1
  man snow-id-show`

func (a *app) man() *cobra.Command {
	return &cobra.Command{
		Use: "man FOLDER", Short: "Write the manual pages", Long: aboutMan, Args: someArgs(1, 1, "a folder"),
		RunE: func(c *cobra.Command, args []string) error {
			names, err := manual.Write(c.Root(), args[0])
			if err != nil {
				return err
			}
			return a.print(done{Done: fmt.Sprintf("%s in %s", count(names, "page"), args[0])})
		},
	}
}
