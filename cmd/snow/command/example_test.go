package command_test

import (
	"context"
	"os"
	"strings"

	"github.com/shardsnow/snow/cmd/snow/command"
)

func ExampleRun() {
	args := []string{"id", "range", "2026-01-01", "2026-02-01", "--column", "orders.id"}
	command.Run(context.Background(), args, command.Streams{In: strings.NewReader(""), Out: os.Stdout, Err: os.Stderr})
	// Output: 2026-01-01 00:00:00  2026-02-01 00:00:00  orders.id >= 264905529753600000 AND orders.id < 276139553587200000
}
