package postgres_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestJobs_Conformance(t *testing.T) {
	t.Parallel()
	c := newEnv(t)
	portstest.Jobs(t, c.DB, c.DB, c.platform.ID, func() uuid.UUID { return generator.New(noon) }, noon)
}

func TestTakeJobsInTurn_NoPlatformWaitsForAnother(t *testing.T) {
	t.Parallel()
	// Whatever is due longest, each platform gets at most its share of the jobs taken, beginning
	// after a platform, without those to skip. Jobs of other steps and later ones are not taken.
	c := newEnv(t)
	platforms := make([]ident.Platform, 4)
	var all []ports.Job
	add := func(p ident.Platform, step transaction.Step, due time.Time, n int) {
		for range n {
			all = append(all, ports.Job{ID: generator.New(noon), Platform: p, Step: step, Due: due})
		}
	}
	for i := range platforms {
		platforms[i] = ident.NewPlatform(generator.New, noon)
		add(platforms[i], transaction.StepRefund, noon, 3)
		add(platforms[i], transaction.StepDeliver, noon.Add(time.Minute), 3)
	}
	add(platforms[0], transaction.StepDeliver, noon.Add(-time.Hour), 500)
	add(platforms[1], transaction.StepDeliver, noon, 1)
	add(platforms[2], transaction.StepDeliver, noon, 20)
	portstest.MustDo(t, c.DB, func(ctx context.Context, tx *postgres.Unit) error { return tx.AddJobs(ctx, all) })

	for _, test := range []struct {
		turn ports.Turn
		want [4]int
	}{
		{ports.Turn{PerPlatform: 5, Limit: 100}, [4]int{5, 1, 5, 0}},
		{ports.Turn{PerPlatform: 5, Limit: 100, Except: platforms[:1]}, [4]int{0, 0, 5, 0}},
		{ports.Turn{PerPlatform: 5, Limit: 7}, [4]int{5, 0, 2, 0}},
		{ports.Turn{PerPlatform: 50, Limit: 100, After: platforms[0]}, [4]int{0, 0, 8, 0}},
		{ports.Turn{PerPlatform: 1, Limit: 100, After: platforms[3]}, [4]int{}},
	} {
		taken, err := c.TakeJobsInTurn(t.Context(), transaction.StepDeliver, noon, time.Minute, test.turn)
		if err != nil {
			t.Fatal(err)
		}
		var got [4]int
		for _, j := range taken {
			if j.Step != transaction.StepDeliver || j.Attempts != 1 || !j.Due.Equal(noon.Add(time.Minute)) {
				t.Errorf("taken %+v", j)
			}
			got[slices.Index(platforms, j.Platform)]++
		}
		if got != test.want {
			t.Errorf("%+v: %v jobs, want %v", test.turn, got, test.want)
		}
	}
}
