package functions

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
)

// Partition returns the statement that divides a table of MySQL or MariaDB by the months of its ids, which are in
// column:
//
//	ALTER TABLE `orders` PARTITION BY RANGE (`id`) (PARTITION p202601 VALUES LESS THAN (…), …)
//
// The first partition is for the month of first, in UTC, and has all ids of before. There are so many months. A
// row of a later month is an error until [AddPartitions] has added a partition for it. Each unique key of the table
// must have the column.
//
// A month begins with the first id that can be made in it. In a layout with lanes it begins with the next span, up
// to 2^Span ticks after midnight, because ids are in the order of time only from span to span: the ids of that time
// are in the partition before.
//
// A dialect other than MySQL, an empty name, a number of months that is not 1 to 1024, months that are not between
// the epoch and the end of the layout, and spans of more than a day are a [*snow.FieldError]. In PostgreSQL a table
// is divided when it is created, with PARTITION BY RANGE (id).
func Partition(d sqlsnow.Dialect, l snow.Layout, table, column string, first time.Time, months int) (string, error) {
	if d != sqlsnow.MySQL {
		return "", fmt.Errorf("functions: partition: %w", &snow.FieldError{Field: "dialect", Value: d.String(), Bound: "want MySQL"})
	}
	if column == "" {
		return "", fmt.Errorf("functions: partition: %w", &snow.FieldError{Field: "column", Value: `""`, Bound: "want its name"})
	}
	all, err := monthsOf(d, l, table, first, months)
	if err != nil {
		return "", fmt.Errorf("functions: partition: %w", err)
	}
	return "ALTER TABLE " + d.Quote(table) + " PARTITION BY RANGE (" + d.Quote(column) + ") (" + listOf(all) + ")", nil
}

// AddPartitions returns the statements that add monthly partitions to a table: for MySQL and MariaDB to one that
// [Partition] divided, with the first month that it does not have yet, and for PostgreSQL to one that was created
// with PARTITION BY RANGE (id), as tables named orders_p202601. Months and errors are as for Partition, except that
// PostgreSQL is no error here.
//
//	ALTER TABLE `orders` ADD PARTITION (PARTITION p202602 VALUES LESS THAN (…))
//	CREATE TABLE "orders_p202602" PARTITION OF "orders" FOR VALUES FROM (…) TO (…)
func AddPartitions(d sqlsnow.Dialect, l snow.Layout, table string, first time.Time, months int) ([]string, error) {
	all, err := monthsOf(d, l, table, first, months)
	if err != nil {
		return nil, fmt.Errorf("functions: add partitions: %w", err)
	}
	if d == sqldialect.MySQL {
		return []string{"ALTER TABLE " + d.Quote(table) + " ADD PARTITION (" + listOf(all) + ")"}, nil
	}
	var statements []string
	for _, m := range all {
		statements = append(statements, fmt.Sprintf("CREATE TABLE %s PARTITION OF %s FOR VALUES FROM (%d) TO (%d)",
			d.Quote(table+"_"+m.name), d.Quote(table), m.from, m.until))
	}
	return statements, nil
}

// A month is a partition with the ids [from, until).
type month struct {
	name        string
	from, until snow.ID
}

func listOf(months []month) string {
	var list []string
	for _, m := range months {
		list = append(list, fmt.Sprintf("PARTITION %s VALUES LESS THAN (%d)", m.name, m.until))
	}
	return strings.Join(list, ", ")
}

// maxMonths is how many partitions PostgreSQL and MySQL bear well.
const maxMonths = 1024

func monthsOf(d sqlsnow.Dialect, l snow.Layout, table string, first time.Time, months int) ([]month, error) {
	if _, err := arithmeticOf(d, l); err != nil {
		return nil, err
	}
	switch {
	case table == "" || d == sqldialect.Postgres && len(table) > 63-len("_p202601"):
		return nil, &snow.FieldError{Field: "table", Value: strconv.Quote(table), Bound: "want 1 to 55 bytes in PostgreSQL, and 1 or more in MySQL"}
	case months < 1 || months > maxMonths:
		return nil, &snow.FieldError{Field: "months", Value: strconv.Itoa(months), Bound: fmt.Sprint("want 1 to ", maxMonths)}
	}
	first = first.UTC()
	begin := func(n int) time.Time {
		return time.Date(first.Year(), first.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	}
	all := make([]month, months)
	for n := range all {
		from := begin(n)
		if n == 0 && from.Before(l.Epoch()) { // there are no older ids
			from = l.Epoch()
		}
		first, err := lowest(l, from)
		if err != nil {
			return nil, err
		}
		until, err := lowest(l, begin(n+1))
		if err != nil {
			return nil, err
		}
		all[n] = month{begin(n).Format("p200601"), first, until}
	}
	return all, nil
}

// lowest returns the lowest id of t, or of the next span.
func lowest(l snow.Layout, t time.Time) (snow.ID, error) {
	bits := l.Bits()
	if t.Before(l.Epoch()) || !t.Before(l.End().Add(-24*time.Hour)) || t.Sub(l.Epoch()) > 290*365*24*time.Hour {
		return 0, &snow.FieldError{Field: "first", Value: t.Format(time.RFC3339), Bound: "want " + l.Epoch().Format(time.RFC3339) + " or later, and before the end of the layout"}
	}
	span := l.Tick()
	for range bits.Span {
		if span *= 2; span > 24*time.Hour {
			return 0, &snow.FieldError{Field: "span", Value: strconv.Itoa(int(bits.Span)), Bound: "a span has more than a day"}
		}
	}
	if bits.Lane > 0 {
		t = l.Epoch().Add((t.Sub(l.Epoch()) + span - 1) / span * span)
	}
	for lo := range l.Between(t, t.Add(l.Tick())) {
		return lo, nil // the range that begins with the first lane
	}
	return 0, nil
}
