package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// neverTagged are the directories of modules that nobody imports.
var neverTagged = []string{"bench", "drivers", "examples", "internal"}

var (
	moduleLine  = regexp.MustCompile(`(?m)^module (\S+)`)
	headingLine = regexp.MustCompile(`(?m)^## (?:v?(\d+\.\d+\.\d+))?`)
)

// A module is one that is tagged.
type module struct {
	dir  string // "." for the root
	path string
	mod  string // the text of its go.mod
}

// tag returns the tag of a version of the module.
func (m module) tag(version string) string { return path.Join(m.dir, version) }

// published returns the modules for import in the order that their tags must be pushed
// in: a proxy that is asked for a module before the modules that it requires remembers
// that they are not there.
func (r *repository) published() (list []module, err error) {
	var all []module
	for _, dir := range r.modules() {
		if slices.ContainsFunc(neverTagged, func(never string) bool { return dir == never || strings.HasPrefix(dir, never+"/") }) {
			continue
		}
		text, err := r.read(path.Join(dir, "go.mod"))
		if err != nil {
			return nil, err
		}
		name := moduleLine.FindStringSubmatch(text)
		if name == nil {
			return nil, fmt.Errorf("%s has no module line", path.Join(dir, "go.mod"))
		}
		all = append(all, module{dir, name[1], text})
	}
	for len(all) > 0 {
		i := slices.IndexFunc(all, func(m module) bool {
			return !slices.ContainsFunc(all, func(other module) bool { return other.path != m.path && m.requires(other.path) })
		})
		if i < 0 {
			return nil, fmt.Errorf("modules require each other in a circle, among them %s", all[0].path)
		}
		list, all = append(list, all[i]), slices.Delete(all, i, i+1)
	}
	return list, nil
}

func (m module) requires(path string) bool {
	return regexp.MustCompile(`(?m)^(?:require\s+|\s+)` + regexp.QuoteMeta(path) + ` v`).MatchString(m.mod)
}

// requiring returns the text of a go.mod that requires version of every module of this
// repository that it requires.
func requiring(mod, root, version string) string {
	return regexp.MustCompile(`(?m)^(require\s+|\s+)(`+regexp.QuoteMeta(root)+`(?:/\S+)?) v\S+`).ReplaceAllString(mod, "${1}${2} "+version)
}

// withoutReplace returns the text of a go.mod without the replacement of modules of this
// repository: so a module with commands is tagged, because go install refuses others.
func withoutReplace(mod, root string) string {
	return regexp.MustCompile(`(?m)^(replace\s+|\s+)`+regexp.QuoteMeta(root)+`(?:/\S+)? => \S+\n`).ReplaceAllString(mod, "")
}

// require writes a version into every go.mod. It is the last commit before the tags.
func (r *repository) require(version string) error {
	list, err := r.published()
	if err != nil {
		return err
	}
	for _, dir := range r.modules() {
		name := path.Join(dir, "go.mod")
		text, err := r.read(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(r.path(name), []byte(requiring(text, list[0].path, version)), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// next returns the version that the CHANGELOG begins with, or nothing if that is not
// above the last tag.
func (r *repository) next() (string, error) {
	text, err := r.read("CHANGELOG.md")
	if err != nil {
		return "", err
	}
	if m := headingLine.FindStringSubmatch(text); m != nil && m[1] != "" && "v"+m[1] != r.tag {
		return "v" + m[1], nil
	}
	return "", nil
}

// unprepared finds what a release lacks in the CHANGELOG, and prints the tags.
func unprepared(_ context.Context, r *repository) (found []string, err error) {
	version, err := r.next()
	if err != nil {
		return nil, err
	}
	if version == "" {
		return []string{fmt.Sprintf("CHANGELOG.md does not begin with a section of a version after %q", r.tag)}, nil
	}
	list, err := r.published()
	if err != nil {
		return nil, err
	}
	var tags []string
	for _, m := range list {
		tags = append(tags, m.tag(version))
	}
	fmt.Println("       tags to push, in this order:", strings.Join(tags, ", "))
	return nil, nil
}
