package backups_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"causeway/app/backups"
	"causeway/core/backup"
	"causeway/ports"
)

// fakeSource restores nothing.
type fakeSource struct {
	found      []backup.Backup
	err        error // of the restore
	archived   backup.Segments
	closed     int
	closeError error
}

func (s *fakeSource) Backups(context.Context) ([]backup.Backup, error) { return s.found, nil }

func (s *fakeSource) Restore(context.Context, backup.Backup) (ports.RestoredBackup, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s, nil
}

func (s *fakeSource) Recovery() backup.Recovery {
	return backup.Recovery{System: "1", Position: "0/5000148", Segment: "000000010000000000000005"}
}
func (s *fakeSource) Archived() backup.Segments  { return s.archived }
func (s *fakeSource) URL(database string) string { return "postgres:///" + database }
func (s *fakeSource) Close() error               { s.closed++; return s.closeError }

// fakeClock goes on by a second with each reading.
type fakeClock struct{ now time.Time }

func (c *fakeClock) Now() time.Time {
	c.now = c.now.Add(time.Second)
	return c.now
}

func TestVerifier_Results(t *testing.T) {
	t.Parallel()
	// A backup that is restored and whose ledger passes is usable. Whatever prevents that is the problem of the result, except an
	// interruption and another verification, of which nothing is to be recorded. Each copy is closed.
	at := time.Date(2026, 11, 28, 2, 0, 0, 0, time.UTC)
	found := []backup.Backup{{Label: "a", Began: at.Add(-time.Hour)}, {Label: "b", Began: at.Add(-time.Minute)}}
	interrupted := errors.New("interrupted by the operator")
	for name, c := range map[string]struct {
		source  fakeSource
		audited error
		cancel  bool
		problem string
		other   error // nothing was verified
	}{
		"usable":        {source: fakeSource{found: found, archived: backup.Segments{"000000010000000000000005"}}},
		"none":          {problem: "there is no backup"},
		"not restored":  {source: fakeSource{found: found, err: errors.New("checksum mismatch")}, problem: "checksum mismatch"},
		"missing log":   {source: fakeSource{found: found, archived: backup.Segments{"000000010000000000000007"}}, problem: "missing or damaged"},
		"other version": {source: fakeSource{found: found}, audited: errors.New("not migrated"), problem: "not migrated"},
		"not removed":   {source: fakeSource{found: found, closeError: errors.New("busy")}, problem: "busy"},
		"another runs":  {source: fakeSource{found: found, err: ports.ErrRestoreRuns}, other: ports.ErrRestoreRuns},
		"interrupted":   {source: fakeSource{found: found, err: context.Canceled}, cancel: true, other: interrupted},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if c.cancel {
			cancel(interrupted)
		}
		var url string
		verifier := backups.Verifier{Source: &c.source, Database: "causeway", Clock: &fakeClock{at}, Step: func(string, ...any) {},
			Audit: func(_ context.Context, of string) (backups.Check, error) {
				url = of
				return backups.Check{Postings: 12, Rules: 39}, c.audited
			}}

		result, err := verifier.Verify(ctx)
		cancel(nil)

		if c.other != nil {
			if !errors.Is(err, c.other) || errors.Is(err, backups.ErrNotUsable) || result.Problem != "" {
				t.Errorf("%s: %v, %+v", name, err, result)
			}
			continue
		}
		if (c.problem != "") != errors.Is(err, backups.ErrNotUsable) || (c.problem == "") != (result.Problem == "") ||
			!strings.Contains(result.Problem, c.problem) {
			t.Errorf("%s: %v, problem %q, want %q", name, err, result.Problem, c.problem)
		}
		restored := len(c.source.found) > 0 && c.source.err == nil
		if restored && (c.source.closed != 1 || result.Backup.Label != "b" || result.Restored != time.Second || result.Recovery.System != "1") {
			t.Errorf("%s: closed %d times, %+v", name, c.source.closed, result)
		}
		if c.problem == "" && (result.Postings != 12 || url != "postgres:///causeway") {
			t.Errorf("%s: %d postings of %s", name, result.Postings, url)
		}
	}
}

func TestVerifier_LedgerThatFails(t *testing.T) {
	t.Parallel()
	// The problem of a copy whose ledger violates rules names their number and the first finding.
	source := fakeSource{found: []backup.Backup{{Label: "a"}}}
	verifier := backups.Verifier{Source: &source, Clock: &fakeClock{}, Step: func(string, ...any) {},
		Audit: func(context.Context, string) (backups.Check, error) {
			return backups.Check{Postings: 12, Unreached: 3, Rules: 39, Failed: 2, Finding: "posting 7 was changed"}, nil
		}}

	result, err := verifier.Verify(t.Context())

	if want := "does not pass 2 of 39 rules: posting 7 was changed"; !errors.Is(err, backups.ErrNotUsable) ||
		!strings.Contains(result.Problem, want) || result.Postings != 12 || result.Unreached != 3 || source.closed != 1 {
		t.Errorf("%v, %+v", err, result)
	}
}
