// Package mail sends the mails and text messages that units of work have queued (app/internal/mails).
//
// Each is sent in a job, again and again until the mail server or the provider takes or refuses it, or it is of no use any
// more. If a process stops between the sending and the commit, it is sent twice, with the same id.
package mail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/app/internal/jobs"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

const (
	// sendTimeout is longer than what a mailer allows the mail server, and a sender of text messages its provider.
	sendTimeout = 75 * time.Second
	// maxConcurrency and maxPerPlatform are how many mails a process sends at the same time, and how many text messages,
	// so that a slow one does not hold up the others.
	maxConcurrency = 8
	maxPerPlatform = 4
	// maxAttempts is more than the attempts until any mail expires.
	maxAttempts = 10_000
)

// Metrics records what became of mails and text messages.
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
	SMS     ports.SMSSendersByEnvironment
	Clock   ports.Clock
	Log     *logrus.Entry
	// JobMetrics and Metrics may be nil.
	JobMetrics jobs.Metrics
	Metrics    Metrics
}

// Service sends mails and text messages.
type Service struct {
	Config
	workers *jobs.Workers
}

// New returns a Service.
func New(c Config) *Service {
	s := &Service{Config: c}
	handler := func(step transaction.Step) jobs.Handler {
		return jobs.Handler{Step: step, Do: s.send, MaxBatch: 1, MaxConcurrency: maxConcurrency, MaxPerPlatform: maxPerPlatform,
			Timeout: sendTimeout}
	}
	s.workers = jobs.New(jobs.Config{Jobs: c.Jobs, Clock: c.Clock, Log: c.Log, Retry: jobs.RetryPolicy{MaxAttempts: maxAttempts},
		Metrics: c.JobMetrics}, handler(ports.StepSendMail), handler(ports.StepSendSMS), handler(ports.StepSendSMSNotice))
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
			outcome.Reason).Warn("a " + noun(m.Kind) + " was refused: see causeway mails list")
	}
	if s.Metrics != nil {
		s.Metrics.Ended(m.Kind, outcome.Status, outcome.At.Sub(m.CreatedAt))
	}
	return nil
}

// The errors of what cannot be sent, because the setting was removed since it was queued.
var (
	errNoMailer = errors.New("no mailer is configured; set CAUSEWAY_SMTP_URL")
	errNoSMS    = errors.New("no provider of text messages is configured; set CAUSEWAY_SMS_URL")
)

// attempt returns the outcome of a mail, or an error if it is to be tried again.
func (s *Service) attempt(ctx context.Context, environment platform.Environment, m ports.QueuedMail) (ports.MailOutcome, error) {
	now := s.Clock.Now()
	if !now.Before(m.ExpiresAt) {
		return ports.MailOutcome{Status: ports.MailExpired, Reason: "it could not be sent in time", At: now}, nil
	}
	err := s.sendTo(ctx, environment, m)
	var refused *ports.MessageRefusedError
	var later *ports.TryLaterError
	switch {
	case errors.As(err, &refused):
		return ports.MailOutcome{Status: ports.MailRefused, Reason: refused.Reason, At: s.Clock.Now()}, nil
	case errors.As(err, &later) && !now.Add(later.After).Before(m.ExpiresAt):
		return ports.MailOutcome{Status: ports.MailExpired, Reason: "it could not be sent in time", At: s.Clock.Now()}, nil
	case err != nil:
		return ports.MailOutcome{}, fmt.Errorf("send a %s: %w", noun(m.Kind), err)
	}
	return ports.MailOutcome{Status: ports.MailSent, At: s.Clock.Now()}, nil
}

// sendTo gives a mail to the mailer of the environment, or a text message to its sender.
func (s *Service) sendTo(ctx context.Context, environment platform.Environment, m ports.QueuedMail) error {
	if m.Kind.IsSMS() {
		if sender := s.SMS[environment]; sender != nil {
			return sender.Send(ctx, m.SMS())
		}
		return errNoSMS
	}
	if mailer := s.Mailers[environment]; mailer != nil {
		return mailer.Send(ctx, m.Mail)
	}
	return errNoMailer
}

func noun(k ports.MailKind) string {
	if k.IsSMS() {
		return "text message"
	}
	return "mail"
}

func (s *Service) failed(m ports.QueuedMail) {
	if s.Metrics != nil {
		s.Metrics.Failed(m.Kind)
	}
}
