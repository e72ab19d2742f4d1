package mergecommand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/report"
)

// canKeep finds out before a merge, which may take hours, that files can be written where --report says.
func (c *Command) canKeep() error {
	if c.report == "" {
		return nil
	}
	if info, err := os.Stat(c.report); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("--report: %s is no file", c.report)
	}
	f, err := os.CreateTemp(filepath.Dir(c.report), ".report-*")
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// keep writes the report as a page, and beside it the lists of rows that the page shows some of.
func (c *Command) keep(ctx context.Context, found *report.Report) error {
	if c.report == "" {
		return nil
	}
	base := strings.TrimSuffix(c.report, filepath.Ext(c.report))
	var lists pageLists
	var written []string
	write := func(file string, do func(io.Writer) error) error {
		written = append(written, file)
		return replaceFile(file, do)
	}
	if slices.ContainsFunc(found.LeftOut, func(row report.LeftOut) bool { return row.Reason != "empty" }) {
		file := base + "-left-out.csv"
		lists.LeftOut = filepath.Base(file)
		if err := write(file, func(w io.Writer) error { return merge.ExportLeftOut(ctx, c.dialect, c.merged, w) }); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(found.Tables, func(row report.Table) bool { return row.Renamed > 0 }) {
		file := base + "-renamed.csv"
		lists.Renamed = filepath.Base(file)
		if err := write(file, func(w io.Writer) error { return merge.ExportRenamed(ctx, c.dialect, c.merged, w) }); err != nil {
			return err
		}
	}
	if err := write(c.report, func(w io.Writer) error { return writePage(w, found, lists) }); err != nil {
		return err
	}
	if !c.quiet {
		_, _ = fmt.Fprintln(c.stderr, "written:", strings.Join(written, ", "))
	}
	return nil
}

// replaceFile writes a file, or leaves it as it was. Only its owner may read it: it has names of players.
func replaceFile(file string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".report-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", file, err), os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
