//go:build !race

package snow

const raceDetector = false
