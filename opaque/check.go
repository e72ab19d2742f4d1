package opaque

// The check character is a sum over GF(32), the field of the 32 digits. The symbol at
// place i, counted from the end, has the weight x^i, and the weights of all places are different and
// not 0. So the sum changes if one symbol changes, and if two different symbols
// change places. The letters of a type are symbols, too: a is 1, and z is 26.
const field = 0b100101 // x^5 + x^2 + 1, for which x generates all 31 numbers but 0

// timesX returns the product of s and x.
func timesX(s byte) byte {
	s <<= 1
	return s ^ (s>>5)*field
}

// sum adds the symbols of a prefix and of digits.
func sum(prefix string, digits []byte) (s byte) {
	for i := range len(prefix) {
		s = timesX(s) ^ (prefix[i] - 'a' + 1)
	}
	for _, d := range digits {
		s = timesX(s) ^ d
	}
	return timesX(s)
}
