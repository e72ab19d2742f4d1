// Package opaque turns ids into texts for people outside, and back. An id, a
// [github.com/shardsnow/snow.ID], shows when it was made, by which worker, and about
// how many are made. Its text hides these from everybody who does not have the key:
//
//	keys, err := opaque.ReadKeys("/run/secrets/ids")
//	orders, err := keys.Type("ord")
//	orders.Encode(286467607756828714)   // ord_11m6bp6t15r7nr7
//	id, err := orders.Parse(r.PathValue("id"))
//
// The database keeps ids as they are. An [ID] of this package is what goes out: into
// paths, JSON, forms and logs. It is no value for a database.
//
// # The text
//
//	ord_  1    1m6bp6t15r7nr  7
//	type  key  63 bits        check character
//
// The 15 characters after the type are Crockford's base32 in lower case; either
// case is read. The type is 1 to 11 letters, or absent with its underscore. The
// check character finds every wrong character and every swap of two neighbours,
// also in the type, before any database is asked. It needs no key, and is no
// protection against people who choose their texts.
//
// A text means the same for ever: a golden file holds the package to that.
//
// # The cipher
//
// The 63 bits are encrypted with FF1, a method for format-preserving encryption of
// NIST SP 800-38G (March 2016), with AES-128, AES-192 or AES-256, as a string of
// radix 2. The tweak is the type, so order 1 and user 1 have different texts.
// The second public draft of Revision 1 (February 2025) removes FF3, keeps FF1, and
// requires at least 1,000,000 possible values; here they are 2^63.
//
// FF1 is a permutation: each id has one text for each key and type, and no text is
// of two ids. Every text with a correct check character is the text of some number, so
// [Codec.Parse] may return an id that nobody has made. Look it up, and check
// whether the caller may see it: a text is a name, not a permission.
//
// # Keys
//
// A key has a version from 0 to 15, which is the first character after the type.
// The newest key encodes, and all keys decode. A new key is given to all processes
// with [Key.DecodeOnly] first, and encodes in a second step: so each process reads
// what any other one writes. docs/opaque.md has the steps.
//
// # Time
//
// How long [Codec.Encode] and Codec.Parse take does not depend on the id or the
// key where the processor has instructions for AES, which amd64 and arm64 have: FF1
// over bits is AES, additions and shifts. Elsewhere package crypto/aes uses tables, and
// its time may tell something about the key to programs on the same machine. Checks
// of the text are not constant in time: they look only at what the caller sent.
//
// All types are safe for concurrent use.
//
// # Inside
//
//	codec.go           Codec: between ids and texts of one type
//	id.go              ID, and its forms outside
//	text.go check.go   the form of the text, and its check character
//	keys.go            Keys and the versions
//	key.go keyfile.go  one key, and files of keys
//	ff1.go             the permutation
//	errors.go
package opaque
