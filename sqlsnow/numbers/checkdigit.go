package numbers

// luhnDigit returns Luhn's check digit of the digits in text (ISO/IEC 7812-1). Other characters do not count.
func luhnDigit(text []byte) byte {
	sum, double := 0, true
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] < '0' || text[i] > '9' {
			continue
		}
		d := int(text[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum, double = sum+d, !double
	}
	return '0' + byte((10-sum%10)%10)
}

// mod1110Digit returns the check digit of the digits in text by ISO/IEC 7064, MOD 11,10. Other characters do not
// count.
func mod1110Digit(text []byte) byte {
	product := 10
	for _, c := range text {
		if c < '0' || c > '9' {
			continue
		}
		sum := (product + int(c-'0')) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	return '0' + byte((11-product)%10)
}
