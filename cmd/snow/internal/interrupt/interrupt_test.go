package interrupt

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if got, err := Call(ctx, func() (int, error) { return 7, nil }); got != 7 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	never := make(chan int)
	cancel()
	if got, err := Call(ctx, func() (int, error) { return <-never, nil }); got != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v", got, err)
	}
	close(never)
	// An answer that comes with the end is no answer.
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := Call(ctx, func() (int, error) { cancel(); return 7, nil }); !errors.Is(err, context.Canceled) {
			t.Fatal("an answer counts although ctx has ended")
		}
	}
}

func TestReader(t *testing.T) {
	if err := iotest.TestReader(Reader(t.Context(), strings.NewReader("some text")), []byte("some text")); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	source, write := io.Pipe()
	r := Reader(ctx, source)
	go func() { _, _ = write.Write([]byte("first")) }()
	b := make([]byte, 10)
	if n, err := r.Read(b); n != 5 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	go cancel()
	if n, err := r.Read(b[5:]); n != 0 || !errors.Is(err, context.Canceled) {
		t.Fatalf("after the end: %d, %v", n, err)
	}
	_, _ = write.Write([]byte("later")) // taken by the Read that has ended
	if string(b) != "first\x00\x00\x00\x00\x00" {
		t.Errorf("%q", b)
	}
}
