package processes_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/app/processes"
	"causeway/ports"
)

func TestProcesses_SayWhetherTheyRun(t *testing.T) {
	t.Parallel()
	// Each process has one record, which it renews. One that ends says so, one that vanishes is seen as such after a minute, and records
	// are deleted a week after the last renewal.
	env := apptest.New(t)
	ctx := ports.ForAllPlatforms(t.Context())
	one := processes.New(env.Store, env.Clock, env.IDs, "host-1", "1.2.3", nil)
	two := processes.New(env.Store, env.Clock, env.IDs, "host-2", "1.2.4", []string{"none"})
	states := func() map[string]processes.State {
		t.Helper()
		found := map[string]processes.State{}
		for _, p := range mustProcesses(t, one, ctx) {
			if _, twice := found[p.Host]; twice || p.Version == "" || p.StartedAt.IsZero() {
				t.Errorf("%+v", p)
			}
			found[p.Host] = processes.StateOf(p, env.Clock.Now())
		}
		return found
	}
	renew := func(s *processes.Service) {
		t.Helper()
		if err := s.Renew(ctx); err != nil {
			t.Fatal(err)
		}
	}
	renew(one)
	renew(two)
	renew(one)
	for _, p := range mustProcesses(t, one, ctx) {
		if says := len(p.OwnershipLimits) == 1; says != (p.Host == "host-2") {
			t.Errorf("%s has the limits %v", p.Host, p.OwnershipLimits)
		}
	}
	if got := states(); len(got) != 2 || got["host-1"] != processes.Running || got["host-2"] != processes.Running {
		t.Errorf("both run: %v", got)
	}
	env.Clock.Advance(2 * time.Minute)
	renew(one)
	if got := states(); got["host-1"] != processes.Running || got["host-2"] != processes.Vanished {
		t.Errorf("one vanished: %v", got)
	}
	if err := one.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if got := states(); got["host-1"] != processes.Stopped {
		t.Errorf("one has stopped: %v", got)
	}
	env.Clock.Advance(8 * 24 * time.Hour)
	renew(processes.New(env.Store, env.Clock, env.IDs, "host-3", "1.2.5", nil))
	if got := states(); len(got) != 1 || got["host-3"] != processes.Running {
		t.Errorf("after a week: %v", got)
	}
	if b, err := one.WebhookBacklog(ports.ForPlatform(t.Context(), env.Platform.ID), env.Platform.ID); err != nil ||
		b != (ports.WebhookBacklog{}) {
		t.Errorf("nothing waits: %+v, %v", b, err)
	}
	hours, err := one.LastHours(ports.ForPlatform(t.Context(), env.Platform.ID), env.Platform.ID, 24)
	if err != nil || len(hours) != 24 || !hours[23].From.Equal(env.Clock.Now().Truncate(time.Hour)) ||
		!hours[0].From.Equal(hours[23].From.Add(-23*time.Hour)) {
		t.Errorf("the last hours: %+v, %v", hours, err)
	}
	platform := env.Platform.ID.UUID().String()
	if err := env.Exec("INSERT INTO webhook_queue SELECT '"+platform+"', n, gen_random_uuid(), gen_random_uuid() FROM generate_series(1, 3) n",
		"INSERT INTO webhook_backlog SELECT '"+platform+"', gen_random_uuid(), n, gen_random_uuid(), now(), now(), 1, 1 FROM generate_series(1, 2) n",
	); err != nil {
		t.Fatal(err)
	}
	if b, err := one.WebhookBacklog(ports.ForPlatform(t.Context(), env.Platform.ID), env.Platform.ID); err != nil || b.Waiting != 3 ||
		b.Failing != 2 || b.FailingSince.IsZero() {
		t.Errorf("some wait: %+v, %v", b, err)
	}
}

func mustProcesses(t *testing.T, s *processes.Service, ctx context.Context) []ports.Process { //nolint:revive // t is first in helpers
	t.Helper()
	all, err := s.Processes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTakeSample_OnceInAMinute(t *testing.T) {
	t.Parallel()
	// Of two processes, one counts the queues in a minute. Both add their calls, also those that one could not store at first, and the last
	// when it stops. Another platform has none of it.
	env := apptest.New(t)
	ctx, own := ports.ForAllPlatforms(t.Context()), env.Platform.ID
	one := processes.New(env.Store, env.Clock, env.IDs, "host-1", "1", nil)
	two := processes.New(env.Store, env.Clock, env.IDs, "host-2", "1", nil)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(env.Exec("INSERT INTO webhook_queue SELECT '" + own.UUID().String() +
		"', n, gen_random_uuid(), gen_random_uuid() FROM generate_series(1, 3) n"))
	must(one.TakeSample(ctx))
	must(env.Exec("DELETE FROM webhook_queue"))
	one.CountCall(own, "bank", []ports.Outcome{{Verdict: ports.Done}, {Verdict: ports.Unknown}}, 20*time.Millisecond)
	one.CountCall(own, "bank", []ports.Outcome{{Verdict: ports.Waiting}}, 5*time.Millisecond)
	two.CountCall(own, "bank", []ports.Outcome{{Verdict: ports.Refused}, {Verdict: ports.CancelledByUser}}, 30*time.Millisecond)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := one.TakeSample(cancelled); err == nil {
		t.Error("calls are stored without a database")
	}
	must(one.TakeSample(ctx))
	must(one.TakeSample(ctx))
	must(two.Stop(ctx))

	found, err := one.LastSamples(ports.ForPlatform(t.Context(), own), own, time.Hour, 2)
	must(err)
	last := map[ports.SampleKind]processes.Point{}
	for _, s := range found {
		last[s.Kind] = s.Points[1]
	}
	if len(found) != 4 || last[ports.WebhookSamples].Minutes != 1 || !slices.Equal(last[ports.WebhookSamples].Counts, []int64{3, 0}) ||
		!slices.Equal(last[ports.RailCallSamples].Counts, []int64{2, 2, 1, 105, 30}) || found[3].Name != "bank" {
		t.Errorf("samples: %+v", found)
	}
	if p := found[0].Points[0]; p.Minutes != 0 || p.Counts != nil {
		t.Errorf("the hour before: %+v", p)
	}
	env.Clock.Advance(time.Minute)
	must(two.TakeSample(ctx))
	found, err = one.LastSamples(ports.ForPlatform(t.Context(), own), own, time.Hour, 2)
	must(err)
	if p := found[1].Points[1]; p.Minutes != 2 || p.Counts[0] != 3 {
		t.Errorf("after another minute: %+v", p)
	}
}
