// Package sqlvalue writes the values of rows as text: ids, primary keys, and samples for people.
package sqlvalue
