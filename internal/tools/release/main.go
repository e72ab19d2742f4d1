// Command release builds what a release of the command snow is downloaded as. It needs no network but for modules
// that are not in the cache yet:
//
//	go run ./internal/tools/release -out dist
//	go run ./internal/tools/release -out dist linux/amd64
//
// For each system it writes an archive with a static program, the licence and the licences of others, and beside it
// an SBOM, a list of the modules in the program in the form of CycloneDX. SHA256SUMS has the checksums of all. The
// same commit and the same version of Go make the same files, bit by bit, in any folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := flag.String("out", "dist", "the `folder` to write to; it must not exist")
	flag.Parse()
	if err := release(ctx, ".", *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// systems returns what a release is for.
func systems() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}
}

// release builds the commit that is checked out in a repository, for some systems or for all.
func release(ctx context.Context, repository, out string, wanted []string) error {
	if len(wanted) == 0 {
		wanted = systems()
	}
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	var files []string
	for _, s := range wanted {
		system, arch, ok := strings.Cut(s, "/")
		if !ok {
			return fmt.Errorf("%q: want a system and a processor, such as linux/amd64", s)
		}
		b, err := build(ctx, repository, system, arch)
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		names, err := b.write(repository, out)
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		files = append(files, names...)
		fmt.Println(strings.Join(names, "\n"))
	}
	if len(files) == 0 {
		return errors.New("there is nothing to release")
	}
	return writeSums(out, files)
}
