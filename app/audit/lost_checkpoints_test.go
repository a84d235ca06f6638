package audit_test

import (
	"context"
	"strings"
	"testing"

	"causeway/core/platform"
	"causeway/ports"
)

func TestRecordLost_PublishedCheckpointThatIsNotStored(t *testing.T) {
	t.Parallel()
	// A database that has what was published last has lost nothing. One without it has: that is recorded once, and nothing is posted until
	// it is reviewed, also if the same checkpoint is then found again.
	env := newLogEnv(t)
	log := env.newLogService()
	env.mustPostDeposits(3)
	ctx := ports.ForAllPlatforms(t.Context())
	seal := func() {
		t.Helper()
		if err := log.SealDue(ctx); err != nil {
			t.Fatal(err)
		}
		if err := log.PublishDue(ctx); err != nil {
			t.Fatal(err)
		}
	}
	seal()
	wantLost := func(want int) {
		t.Helper()
		if lost, err := log.RecordLost(ctx); err != nil || lost != want {
			t.Fatalf("%d lost, %v; want %d", lost, err, want)
		}
	}
	wantLost(0)

	env.publisher.last[env.platform] = strings.Replace(env.publisher.last[env.platform], "\n3\n", "\n4\n", 1)
	wantLost(1)
	wantLost(0)

	if err := env.postDeposits(env.platform, 1); err == nil || !strings.Contains(err.Error(), "the database has lost commits") {
		t.Errorf("posted after a loss: %v", err)
	}
	findings, err := env.Store.LostCommitFindings(ctx)
	if err != nil || len(findings) != 1 || findings[0].Lost != 1 || !findings[0].ReviewedAt.IsZero() {
		t.Fatalf("found %+v, %v", findings, err)
	}
	lost, err := env.Store.LostCommits(ctx, findings[0].ID, 10)
	if err != nil || len(lost) != 1 || lost[0].Platform != env.platform || lost[0].Kind != ports.LostCheckpoint ||
		!strings.HasPrefix(lost[0].Reference, "causeway.ledger/"+env.platform.UUID().String()+" 4 ") {
		t.Errorf("lost %+v, %v", lost, err)
	}
	if err := env.Store.SaveLostCommitReview(context.Background(), findings[0].ID, platform.Author{Actor: "ana"}, "Compared",
		env.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	wantLost(0)
	env.mustPostDeposits(1)
}
