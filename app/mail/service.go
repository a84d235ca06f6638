// Package mail sends the mails that units of work have queued (app/internal/mails).
//
// A mail is sent in a job, again and again until the mail server takes or refuses it, or it is of no use any
// more. If a process stops between the sending and the commit, it is sent twice, with the same Message-ID.
package mail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/app/internal/jobs"
	"causeway/core/platform"
	"causeway/ports"
)

const (
	// sendTimeout is longer than what a mailer allows the mail server.
	sendTimeout = 75 * time.Second
	// maxConcurrency and maxPerPlatform are how many mails a process sends at the same time, so that a slow
	// mail does not hold up the others.
	maxConcurrency = 8
	maxPerPlatform = 4
	// maxAttempts is more than the attempts until any mail expires.
	maxAttempts = 10_000
)

// Metrics records what became of mails.
type Metrics interface {
	// Ended is called when a mail was sent, refused or expired, after so long.
	Ended(kind ports.MailKind, status ports.MailStatus, after time.Duration)
	// Failed is called for each attempt that is repeated.
	Failed(kind ports.MailKind)
}

// Config is what a Service needs.
type Config struct {
	Store   Store
	Jobs    ports.Jobs
	Mailers ports.MailersByEnvironment
	Clock   ports.Clock
	Log     *logrus.Entry
	// JobMetrics and Metrics may be nil.
	JobMetrics jobs.Metrics
	Metrics    Metrics
}

// Service sends mails.
type Service struct {
	Config
	workers *jobs.Workers
}

// New returns a Service.
func New(c Config) *Service {
	s := &Service{Config: c}
	s.workers = jobs.New(jobs.Config{Jobs: c.Jobs, Clock: c.Clock, Log: c.Log, Retry: jobs.RetryPolicy{MaxAttempts: maxAttempts},
		Metrics: c.JobMetrics},
		jobs.Handler{Step: ports.StepSendMail, Do: s.send, MaxBatch: 1, MaxConcurrency: maxConcurrency, MaxPerPlatform: maxPerPlatform,
			Timeout: sendTimeout})
	return s
}

// Run sends mails until ctx is done. Any number of processes may run it on one database.
func (s *Service) Run(ctx context.Context) { s.workers.Run(ctx) }

// SendDue runs jobs until none is due.
func (s *Service) SendDue(ctx context.Context) error { return s.workers.RunDue(ctx) }

// send sends the mail of one job.
func (s *Service) send(ctx context.Context, batch []ports.Job) error {
	job := batch[0]
	m, environment, waits, err := s.Store.WaitingMail(ctx, job.Platform, job.Subjects[0])
	if err != nil {
		return err
	}
	var outcome ports.MailOutcome
	if waits {
		if outcome, err = s.attempt(ctx, environment, m); err != nil {
			s.failed(m)
			return err
		}
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if waits {
			if err := tx.EndMail(ctx, m.Platform, m.ID, outcome); err != nil {
				return err
			}
		}
		return tx.FinishJobs(ctx, batch)
	})
	if err != nil || !waits {
		return err
	}
	if outcome.Status == ports.MailRefused {
		s.Log.WithField("mail", m.ID.String()).WithField("platform", m.Platform.String()).WithField("reason",
			outcome.Reason).Warn("a mail was refused: see causeway mails list")
	}
	if s.Metrics != nil {
		s.Metrics.Ended(m.Kind, outcome.Status, outcome.At.Sub(m.CreatedAt))
	}
	return nil
}

var errNoMailer = errors.New("no mailer is configured; set CAUSEWAY_SMTP_URL")

// attempt returns the outcome of a mail, or an error if it is to be tried again.
func (s *Service) attempt(ctx context.Context, environment platform.Environment, m ports.QueuedMail) (ports.MailOutcome, error) {
	now := s.Clock.Now()
	if !now.Before(m.ExpiresAt) {
		return ports.MailOutcome{Status: ports.MailExpired, Reason: "it could not be sent in time", At: now}, nil
	}
	mailer := s.Mailers[environment]
	if mailer == nil {
		return ports.MailOutcome{}, errNoMailer
	}
	err := mailer.Send(ctx, m.Mail)
	var refused *ports.MailRefusedError
	switch {
	case errors.As(err, &refused):
		return ports.MailOutcome{Status: ports.MailRefused, Reason: refused.Reason, At: s.Clock.Now()}, nil
	case err != nil:
		return ports.MailOutcome{}, fmt.Errorf("send a mail: %w", err)
	}
	return ports.MailOutcome{Status: ports.MailSent, At: s.Clock.Now()}, nil
}

func (s *Service) failed(m ports.QueuedMail) {
	if s.Metrics != nil {
		s.Metrics.Failed(m.Kind)
	}
}
