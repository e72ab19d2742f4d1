package command_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/shardsnow/snow/cmd/snow/command"
)

func Example() {
	layout := []string{"layout", "fit", "--years", "50", "--workers", "1000", "--rate", "100000", "--json"}
	var out strings.Builder
	status := command.Run(context.Background(), layout, command.Streams{In: strings.NewReader(""), Out: &out, Err: os.Stderr})
	fmt.Println(status, strings.Contains(out.String(), `"layout"`))
	// Output: 0 true
}

func ExampleRun() {
	args := []string{"id", "range", "2026-01-01", "2026-02-01", "--column", "id"}
	command.Run(context.Background(), args, command.Streams{In: strings.NewReader(""), Out: os.Stdout, Err: os.Stderr})
	// Output: 2026-01-01 00:00:00  2026-02-01 00:00:00  id >= 264905529753600000 AND id < 276139553587200000
}
