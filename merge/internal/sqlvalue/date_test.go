package sqlvalue

import (
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2024, 6, 1, 12, 30, 45, 0, time.UTC)
	for _, test := range []struct {
		value any
		zone  *time.Location
		want  time.Time // zero for none
	}{
		{"2024-06-01 12:30:45", time.UTC, day},
		{"2024-06-01T12:30:45Z", berlin, day},
		{"2024-06-01 14:30:45", berlin, day},
		{"2024-06-01 12:30:45.123456", time.UTC, day.Add(123456 * time.Microsecond)},
		{"2024-06-01 14:30:45+02", time.UTC, day},
		{"2024-06-01 18:00:45+05:30", time.UTC, day},
		{"2024-06-01 14:30:45 +0200 CEST", time.UTC, day},
		{"2024-06-01", time.UTC, day.Truncate(24 * time.Hour)},
		{" 2024-06-01 12:30 ", time.UTC, day.Truncate(time.Minute)},
		{[]byte("2024-06-01 12:30:45"), time.UTC, day},
		{day.Unix(), berlin, day},
		{day.UnixMilli(), berlin, day},
		{day.UnixMicro(), berlin, day},
		{day.UnixNano(), berlin, day},
		{"1717245045", time.UTC, day},
		{float64(day.Unix()) + 0.5, time.UTC, day.Add(500 * time.Millisecond)},
		{"0000-00-00 00:00:00", time.UTC, time.Time{}},
		{"0001-01-01 00:00:00", time.UTC, time.Time{}},
		{"2024-02-31 00:00:00", time.UTC, time.Time{}},
		{"yesterday", time.UTC, time.Time{}},
		{"", time.UTC, time.Time{}},
		{int64(0), time.UTC, time.Time{}},
		{int64(-5), time.UTC, time.Time{}},
		{nil, time.UTC, time.Time{}},
	} {
		got, ok := ParseDate(test.value, test.zone)
		if ok != !test.want.IsZero() || ok && !got.Equal(test.want) {
			t.Errorf("%v in %v: got %v, %t; want %v", test.value, test.zone, got, ok, test.want)
		}
	}
}
