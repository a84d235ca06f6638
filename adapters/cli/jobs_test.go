package cli

import (
	"testing"
	"time"
)

func TestFormatJobAge(t *testing.T) {
	t.Parallel()
	// An age is shown in its two largest units.
	for age, want := range map[time.Duration]string{1500 * time.Millisecond: "2s", 90 * time.Second: "1m30s",
		3*time.Hour + 4*time.Minute: "3h04m", 49 * time.Hour: "2d"} {
		if got := formatJobAge(age); got != want {
			t.Errorf("%s: %s, want %s", age, got, want)
		}
	}
}
