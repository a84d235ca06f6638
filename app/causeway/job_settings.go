package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"causeway/app/internal/jobs"
	"causeway/core/transaction"
	"causeway/ports"
)

// jobFlags configure the jobs.
type jobFlags struct {
	JobAttempts int           `name:"job-attempts" env:"CAUSEWAY_JOB_ATTEMPTS" default:"30" help:"Attempts after which a failing job is dead and waits for causeway jobs retry. 30 attempts take about four hours."`
	RailTimeout time.Duration `name:"rail-timeout" env:"CAUSEWAY_RAIL_TIMEOUT" default:"20s" help:"Maximum duration of a call of a rail. Afterwards the call is repeated."`
}

// checkJobs reports invalid values with the name of their setting.
func (f jobFlags) checkJobs(refuse func(setting, must string, got any)) {
	if f.JobAttempts < 1 || f.JobAttempts > 1000 {
		refuse("--job-attempts (CAUSEWAY_JOB_ATTEMPTS)", "from 1 to 1000", f.JobAttempts)
	}
	if f.RailTimeout < time.Second || f.RailTimeout > 25*time.Second {
		refuse("--rail-timeout (CAUSEWAY_RAIL_TIMEOUT)", "from 1s to 25s", f.RailTimeout)
	}
}

// retryPolicy says when failed jobs are run again.
func (f jobFlags) retryPolicy() jobs.RetryPolicy { return jobs.RetryPolicy{MaxAttempts: f.JobAttempts} }

// jobMetrics records failed and dead jobs.
type jobMetrics struct {
	failures *prometheus.CounterVec
	dead     *prometheus.GaugeVec
}

var _ jobs.Metrics = (*jobMetrics)(nil)

func newJobMetrics(registry *prometheus.Registry) *jobMetrics {
	m := &jobMetrics{
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_job_failures_total", Help: "Failed attempts of jobs, by step.",
		}, []string{"step"}),
		dead: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "causeway_jobs_dead", Help: "Jobs that failed too often and wait for an operator, by step.",
		}, []string{"step"}),
	}
	registry.MustRegister(m.failures, m.dead)
	return m
}

// Failed counts a failed attempt.
func (m *jobMetrics) Failed(step transaction.Step, _ bool) {
	m.failures.WithLabelValues(string(step)).Inc()
}

// jobSteps returns the steps that have jobs.
func (a *app) jobSteps() []transaction.Step {
	return append(a.payments.Steps(), ports.StepOpenAccounts, ports.StepImportCustomers, ports.StepCheckIdentity, ports.StepCheckLiveness,
		ports.StepScreenCustomers, ports.StepScreenPlatform, ports.StepDeleteBlob, ports.StepWriteExport,
		ports.StepWriteList, ports.StepWriteAuditPack,
		ports.StepSendMail, ports.StepSendSMS, ports.StepSendSMSNotice, ports.StepSendUMAInvoice)
}

// countDeadJobs updates the number of dead jobs of each step.
func (a *app) countDeadJobs(ctx context.Context) error {
	steps := a.jobSteps()
	counts, err := a.db.CountDeadJobs(ctx, steps)
	if err != nil {
		return err
	}
	for _, step := range steps {
		a.jobMetrics.dead.WithLabelValues(string(step)).Set(float64(counts[step]))
	}
	return nil
}
