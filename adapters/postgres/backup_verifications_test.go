package postgres_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/backup"
	"causeway/ports/portstest"
)

func TestBackupVerifications_AreKept(t *testing.T) {
	t.Parallel()
	// A result is kept as it is, and read newest first; the metrics have the last one and the last that passed. One of another server
	// is refused. Nobody changes them.
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db := openWith(t, postgres.Options{URL: pgtest.New(t), AllPlatforms: true, MaxConnections: 2,
		Clock: portstest.NewFakeClock(now)})
	var system string
	if err := db.SQL().QueryRow("SELECT system_identifier::text FROM pg_control_system()").Scan(&system); err != nil {
		t.Fatal(err)
	}
	operations := func() postgres.Backups {
		t.Helper()
		o, err := db.Operations(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return o.Backups
	}
	if b := operations(); b.Last != nil || b.LastPassed != nil {
		t.Errorf("before the first: %+v", b)
	}
	passed := backup.Verification{Began: now,
		Backup: backup.Backup{Label: "20260301-020000F", Began: now.Add(-10 * time.Hour), Bytes: 1 << 40},
		Recovery: backup.Recovery{System: system, Position: "0/5000148", Segment: "000000010000000000000005", LastCommit: now.Add(-time.Minute),
			Bytes: 1 << 40}, Restored: 90*time.Minute + 1500*time.Millisecond, Postings: 1 << 33, Unreached: 3}
	failed := backup.Verification{Began: now.Add(time.Hour), Problem: "there is no backup\x00" + strings.Repeat("é", 3000)}

	for _, v := range []backup.Verification{passed, failed} {
		if err := db.SaveBackupVerification(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	other := passed
	other.Recovery.System = "1" + system
	if err := db.SaveBackupVerification(t.Context(), other); !errors.Is(err, postgres.ErrOtherServer) {
		t.Errorf("of another server: %v", err)
	}

	list, err := db.BackupVerifications(t.Context(), 10)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	passed.Recovery.System = ""
	if !reflect.DeepEqual(list[1], passed) || list[0].Began != failed.Began ||
		!strings.HasPrefix(list[0].Problem, "there is no backup\uFFFDé") {
		t.Errorf("read %+v", list)
	}
	if b := operations(); b.Last == nil || b.LastPassed == nil || b.Last.Began != failed.Began || !reflect.DeepEqual(*b.LastPassed, passed) {
		t.Errorf("the metrics have %+v", b)
	}
	if _, err := db.SQL().Exec("DELETE FROM backup_verifications"); err == nil {
		t.Error("results were deleted")
	}
}
