package main

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/payments"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

// The jobs of the test database.
const (
	deadForward = "0199f0a2-0000-7000-8000-0000000000f1"
	deadSurplus = "0199f0a2-0000-7000-8000-0000000000f2"
	retriedJob  = "0199f0a2-0000-7000-8000-0000000000f3"
)

// jobsDatabase returns a database with two dead jobs and a failing one.
func jobsDatabase(t *testing.T) string {
	t.Helper()
	url := pgtest.New(t)
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2,
		Clock: portstest.NewFakeClock(noon)})
	job := func(id string, step transaction.Step) ports.Job {
		return ports.Job{ID: uuid.MustParse(id), Platform: must(ident.ParsePlatform(fakePlatform)), Step: step,
			Subjects: []uuid.UUID{{15: 1}, {15: 2}}, Due: noon,
			Attempts: 30, LastError: "no such account\n(tried \"000123\")", Dead: id != retriedJob}
	}
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.AddJobs(ctx, []ports.Job{job(deadForward, transaction.StepForward), job(deadSurplus, transaction.StepSendBack),
			job(retriedJob, transaction.StepDeliver)})
	})
	return url
}

// runJobs runs a jobs command on a database.
func runJobs(t *testing.T, url string, args ...string) (out, errOut string, status int) {
	t.Helper()
	var stdout, stderr strings.Builder
	status = run(t.Context(), append(append([]string{"jobs"}, args...), "--database-url", url), &stdout, &stderr)
	return stdout.String(), stderr.String(), status
}

func TestJobsCommands(t *testing.T) {
	t.Parallel()
	// Dead jobs are listed with what an operator needs, retried, and discarded if no money is stranded.
	url := jobsDatabase(t)

	out, errOut, status := runJobs(t, url, "list", "--state", "dead")
	if status != 0 || strings.Count(out, "\n") != 3 || strings.Contains(out, retriedJob) {
		t.Fatalf("status %d\n%s%s", status, out, errOut)
	}
	for _, want := range []string{deadForward + "  forward    dead         30", fakePlatform,
		"Transaction:00000000-0000-0000-0000-000000000001 and 1 more",
		"Receipt:00000000-0000-0000-0000-000000000001 and 1 more", `"no such account\n(tried \"000123\")"`} {
		if !strings.Contains(out, want) {
			t.Errorf("the list does not contain %q:\n%s", want, out)
		}
	}
	if out, _, status = runJobs(t, url, "list", "--limit", "1"); status != 0 || !strings.Contains(out, "There are more.") {
		t.Errorf("status %d\n%s", status, out)
	}

	if _, errOut, status = runJobs(t, url, "discard", deadForward, deadSurplus, "--actor", "ana", "--reason", "paid by hand"); status != 1 ||
		!strings.Contains(errOut, "is the next step of money that has not arrived") {
		t.Errorf("discard stranded money: status %d, %s", status, errOut)
	}
	if out, errOut, status = runJobs(t, url, "discard", deadForward, "--actor", "ana", "--reason", "paid by hand"); status != 0 ||
		out != "1 jobs are discarded.\n" {
		t.Errorf("discard: status %d, %s%s", status, out, errOut)
	}
	if out, errOut, status = runJobs(t, url, "retry", "--all", "--step", "send-back"); status != 0 || out != "1 jobs are due now.\n" {
		t.Errorf("retry: status %d, %s%s", status, out, errOut)
	}
	if out, _, _ = runJobs(t, url, "list", "--state", "dead"); out != "There are no such jobs.\n" {
		t.Errorf("dead jobs left:\n%s", out)
	}
}

func TestJobsCommands_ReportInvalidFlags(t *testing.T) {
	t.Parallel()
	// Invalid arguments are reported by name, with what to do.
	url := jobsDatabase(t)
	for args, want := range map[string]string{
		"list --platform 17":         "--platform: must be an id of the form PlatformConfig:<uuid>",
		"list --limit 0":             "--limit must be from 1 to 10000",
		"list --state gone":          "--state",
		"retry":                      "give the ids of jobs, or --all",
		"retry --all " + deadForward: "give the ids of jobs, or --all",
		"retry 17":                   `"17" is not the id of a job`,
		"discard " + deadForward + " --actor ana":    "--reason",
		"retry 0199f0a2-0000-7000-8000-0000000000ff": "list the jobs again",
	} {
		if _, errOut, status := runJobs(t, url, strings.Fields(args)...); status == 0 || !strings.Contains(errOut, want) {
			t.Errorf("jobs %s: status %d, %s", args, status, errOut)
		}
	}
}

func TestCountDeadJobs(t *testing.T) {
	t.Parallel()
	// The metric counts the dead jobs of each step, also where there are none.
	db := openDB(t, postgres.Options{URL: jobsDatabase(t), AllPlatforms: true, MaxConnections: 2,
		Clock: portstest.NewFakeClock(noon), TxOf: newTx})
	registry := prometheus.NewRegistry()
	a := &app{db: db, jobMetrics: newJobMetrics(registry), payments: payments.New(payments.Config{
		Store: db, Jobs: db})}

	if err := a.countDeadJobs(t.Context()); err != nil {
		t.Fatal(err)
	}

	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		got[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
	}
	if len(got) != 30 || got["send-back"] != 1 || got["forward"] != 1 || got["deliver"] != 0 || families[0].GetName() != "causeway_jobs_dead" {
		t.Errorf("%s: %v", families[0].GetName(), got)
	}
}
