package main

import (
	"bytes"
	"os"
	"testing"
)

func TestCommittedFileIsWhatGenWrites(t *testing.T) {
	want, err := os.ReadFile("../orders.csv")
	if err != nil {
		t.Fatal(err)
	}
	if got := file(); !bytes.Equal(got, want) {
		t.Errorf("gen writes %d bytes that differ from the %d of orders.csv: run go generate", len(got), len(want))
	}
}
