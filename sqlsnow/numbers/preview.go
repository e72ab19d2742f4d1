package numbers

import (
	"fmt"
	"time"
)

// Preview returns the text of the n-th number at a time, and the scope of its counter, without a database. It checks
// all of c but Series, and returns the errors of [OpenGapFree].
func (c Config) Preview(at time.Time, n int64, partitions ...string) (text, scope string, err error) {
	s := &series{}
	if err := s.configure(c); err != nil {
		return "", "", fmt.Errorf("numbers: preview: %w", err)
	}
	at = at.In(s.zone)
	if text, err = s.pattern.Format(at, n, partitions...); err != nil {
		return "", "", fmt.Errorf("numbers: preview: %w", err)
	}
	return text, s.scope(window{day: at}, partitions), nil
}
