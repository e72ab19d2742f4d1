package rows

import "time"

// poolSize is the size of the buffer pool, in bytes, for a table of that many rows.
func poolSize(rows int) int64 {
	const mib = 1 << 20
	return min(max(64*int64(rows)/defaultRows, 8), 64) * mib
}

// rate returns the rows per second of the statements from the given one on. Marks are the times at which statements
// were done.
func rate(marks []time.Duration, from int) float64 {
	if from >= len(marks) {
		return 0
	}
	took := marks[len(marks)-1]
	if from > 0 {
		took -= marks[from-1]
	}
	return float64((len(marks)-from)*batch) / took.Seconds()
}

// points returns the rate for each group of that many statements. The rest at the end belongs to the last group,
// which has up to twice as many.
func points(marks []time.Duration, statements int) []Point {
	var points []Point
	for from := 0; from < len(marks); {
		to := from + statements
		if len(marks)-to < statements {
			to = len(marks)
		}
		points = append(points, Point{
			Rows:      to * batch,
			Seconds:   marks[to-1].Seconds(),
			PerSecond: rate(marks[:to], from),
		})
		from = to
	}
	return points
}

// percentile returns the smallest of the sorted values that p percent of them don't exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}
