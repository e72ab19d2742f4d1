// Package edges shows in its tests how ids pass through routers, caches, encodings
// and generators of code, and what can go wrong there. The code in docs/edges.md is
// from here.
package edges
