// Package jsonpath replaces the values at paths of a JSON text, and leaves the rest of the text as it is, to the byte.
package jsonpath
