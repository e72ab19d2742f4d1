package main

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// marks matches notes of unfinished work, but not context.TODO.
var marks = regexp.MustCompile(`(?:^|[^.\w])(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME"}, "|") + `)\b`)

// leftovers finds lines with such marks.
func leftovers(_ context.Context, r *repository) (found []string, err error) {
	for _, name := range r.files {
		text, err := r.read(name)
		if err != nil {
			return nil, err
		}
		if strings.ContainsRune(text, 0) {
			continue // not text
		}
		for n, line := range strings.Split(text, "\n") {
			if marks.MatchString(line) {
				found = append(found, fmt.Sprintf("%s:%d: %s", name, n+1, strings.TrimSpace(line)))
			}
		}
	}
	return found, nil
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
)

// brokenLinks finds links of pages to files and headings that do not exist. It
// does not follow links to other sites.
func brokenLinks(_ context.Context, r *repository) (found []string, err error) {
	pages := make(map[string]string)
	for _, name := range r.files {
		if path.Ext(name) == ".md" {
			if pages[name], err = r.read(name); err != nil {
				return nil, err
			}
			pages[name] = fenced.ReplaceAllString(pages[name], "")
		}
	}
	for _, name := range r.files {
		for _, l := range link.FindAllStringSubmatch(pages[name], -1) {
			target, anchor, _ := strings.Cut(l[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			switch {
			case !slices.ContainsFunc(r.files, func(f string) bool { return f == to || strings.HasPrefix(f, to+"/") }):
				found = append(found, fmt.Sprintf("%s: %s: there is no %s", name, l[1], to))
			case anchor != "" && !slices.Contains(anchors(pages[to]), anchor):
				found = append(found, fmt.Sprintf("%s: %s: the heading does not exist", name, l[1]))
			}
		}
	}
	return found, nil
}

// anchors returns the anchors of the headings of a page.
func anchors(page string) (all []string) {
	for _, h := range heading.FindAllStringSubmatch(page, -1) {
		anchor := strings.Map(func(c rune) rune {
			switch {
			case c == ' ':
				return '-'
			case c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c > 127 && !unicode.IsPunct(c):
				return c
			}
			return -1
		}, strings.ToLower(h[1]))
		all = append(all, anchor)
	}
	return all
}

// golden are files that only grow: their lines stay.
var golden = []string{"testdata/golden.csv", "testdata/hashshard.csv", "opaque/testdata/golden.csv", "migrations/frozen.sum"}

// changedGolden finds lines that are missing from golden files.
func changedGolden(ctx context.Context, r *repository) (found []string, err error) {
	for _, name := range golden {
		before, err := r.run(ctx, "", "git", "show", r.base()+":"+name)
		if err != nil {
			return nil, err
		}
		now, err := r.read(name)
		if err != nil {
			return nil, err
		}
		lines := strings.Split(now, "\n")
		for line := range strings.SplitSeq(before, "\n") {
			if !slices.Contains(lines, line) {
				found = append(found, fmt.Sprintf("%s: since %s this line is gone: %s", name, r.base(), line))
			}
		}
	}
	return found, nil
}

var (
	uses   = regexp.MustCompile(`(?m)^\s*(?:- )?uses:\s*(.*)$`)
	pinned = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
)

// unpinned finds actions in workflows that are named by a tag, which others can move, and not by a digest with the
// version as a comment.
func unpinned(_ context.Context, r *repository) (found []string, err error) {
	for _, name := range r.files {
		if path.Dir(name) != ".github/workflows" {
			continue
		}
		text, err := r.read(name)
		if err != nil {
			return nil, err
		}
		for _, m := range uses.FindAllStringSubmatch(text, -1) {
			if action := strings.TrimSpace(m[1]); !strings.HasPrefix(action, "./") && !pinned.MatchString(action) {
				found = append(found, fmt.Sprintf("%s: %s: want a digest and # with the version", name, action))
			}
		}
	}
	return found, nil
}
