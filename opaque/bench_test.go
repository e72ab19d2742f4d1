package opaque_test

import (
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/opaque"
)

var (
	sinkID   opaque.ID
	sinkSnow snow.ID
)

func BenchmarkEncode(b *testing.B) {
	for _, bytes := range []int{16, 32} {
		codec := newType(b, "ord", newKey(b, 1, bytes, 1))
		b.Run(map[int]string{16: "AES-128", 32: "AES-256"}[bytes], func(b *testing.B) {
			b.ReportAllocs()
			for i := 1; b.Loop(); i++ {
				sinkID = codec.Encode(snow.ID(i))
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	codec := newType(b, "ord", newKey(b, 1, 16, 1))
	text := codec.Encode(286467607756828714).Text()
	b.ReportAllocs()
	for b.Loop() {
		sinkSnow, _ = codec.Parse(text)
	}
}
