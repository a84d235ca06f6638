package backup_test

import (
	"strings"
	"testing"
	"time"

	"causeway/core/backup"
)

func TestNewest_BeganLast(t *testing.T) {
	t.Parallel()
	// The newest backup is the one that was begun last, in any order; of two the one with the greater label. None has none.
	at := time.Date(2026, 11, 28, 2, 0, 0, 0, time.UTC)
	first, second, same := backup.Backup{Label: "b", Began: at}, backup.Backup{Label: "a", Began: at.Add(time.Second)},
		backup.Backup{Label: "c", Began: at.Add(time.Second)}
	for _, found := range [][]backup.Backup{{first, second, same}, {same, second, first}, {second, same, first}} {
		if got, ok := backup.Newest(found); !ok || got != same {
			t.Errorf("of %v: %v, %t", found, got, ok)
		}
	}
	if got, ok := backup.Newest(nil); ok {
		t.Errorf("of none: %v", got)
	}
}

func TestVerification_AgeAndExposure(t *testing.T) {
	t.Parallel()
	// What would be lost is the time since the last recovered commit, or since the backup was begun if no commit was recovered.
	// Clocks that differ make neither negative.
	at := time.Date(2026, 11, 28, 2, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		began, lastCommit time.Time
		age, exposure     time.Duration
	}{
		"with logs":    {at.Add(-5 * time.Hour), at.Add(-time.Minute), 5 * time.Hour, time.Minute},
		"without logs": {at.Add(-5 * time.Hour), time.Time{}, 5 * time.Hour, 5 * time.Hour},
		"ahead":        {at.Add(time.Second), at.Add(time.Minute), 0, 0},
		"no backup":    {time.Time{}, time.Time{}, 0, 0},
	} {
		v := backup.Verification{Began: at, Backup: backup.Backup{Began: c.began}, Recovery: backup.Recovery{LastCommit: c.lastCommit}}
		if v.Age() != c.age || v.Exposure() != c.exposure {
			t.Errorf("%s: %s and %s, want %s and %s", name, v.Age(), v.Exposure(), c.age, c.exposure)
		}
	}
}

func TestSegments_CheckReached(t *testing.T) {
	t.Parallel()
	// A later log of the same timeline shows that one is missing, and one of a higher timeline that a failover was not followed.
	// Earlier ones, those of a lower timeline, and other files do not.
	const last = "0000000200000001000000FF"
	for name, missing := range map[string]bool{
		last:                                       false,
		"0000000200000001000000FE":                 false,
		"000000020000000200000000":                 true,
		"000000020000000200000001":                 true,
		"000000010000000300000000":                 false, // of a server that was replaced
		"000000030000000300000000":                 true,
		"0000000A0000000100000100":                 true,
		"0000000300000001000000FF":                 false, // begins with what was recovered
		"0000000300000001000000FE":                 false,
		"000000030000000300000000.partial":         false,
		"00000003.history":                         false,
		"000000020000000200000000.00000028.backup": false,
		"000000020000000200000000.part":            false,
		"000000020000000200000000.partial":         false,
	} {
		err := backup.Segments{"0000000200000001000000FD", name}.CheckReached(last)
		if (err != nil) != missing {
			t.Errorf("an archive with %s: %v", name, err)
		}
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("the error does not name %s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "*.history") != (name[:8] != last[:8]) {
			t.Errorf("an archive with %s: %v", name, err)
		}
	}
}
