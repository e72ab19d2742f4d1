// Package nearest finds the name that a mistyped one was meant to be.
package nearest

import "strings"

// Of returns the name that is nearest to a mistyped one, or nothing if none is near: the names begin with it, or
// differ from it in a third of its letters at most.
func Of(typed string, names []string) string {
	typed = strings.ToLower(typed)
	best, least := "", len(typed)/3+1
	for _, name := range names {
		d := distance(typed, name)
		if len(typed) > 1 && strings.HasPrefix(name, typed) {
			d = 0
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts the letters to add, to remove, to change and to swap with the next one that make b from a.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			changed := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			rows[i][j] = min(changed, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
