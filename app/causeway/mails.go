package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"causeway/adapters/mail/folder"
	"causeway/adapters/mail/smtp"
	"causeway/app/mail"
	"causeway/core/party"
	"causeway/core/platform"
	"causeway/ports"
)

// mailFlags say how mails to customers are sent.
type mailFlags struct {
	SMTPURL      string `name:"smtp-url" env:"CAUSEWAY_SMTP_URL" secret:"" help:"Mail server for mails to customers of production platforms: smtps://user:password@host:465 (TLS) or smtp://user:password@host:587 (STARTTLS); smtp://localhost:25?tls=none for one on the same machine. Without it, and without --mail-folder, they get no one-time codes." placeholder:"URL"`
	MailFrom     string `name:"mail-from" env:"CAUSEWAY_MAIL_FROM" help:"Sender address of mails, where undeliverable ones are reported; required with --smtp-url. A platform can set another address to be shown." placeholder:"ADDRESS"`
	MailFolder   string `name:"mail-folder" env:"CAUSEWAY_MAIL_FOLDER" type:"path" help:"Folder into which mails are written instead of being sent: those of sandbox platforms, and without --smtp-url those of production platforms too. The newest 1000 are kept. Without it, sandbox platforms send no mails; causeway dev uses a folder in the data folder." placeholder:"FOLDER"`
	MailsPerHour int    `name:"mails-per-hour" env:"CAUSEWAY_MAILS_PER_HOUR" default:"1000" help:"Maximum number of one-time codes that are mailed to the customers of one platform in each hour of the clock. A request for a further one gets 429. Notices, for example of exports, have a limit of their own, which is the same."`
	// mailWritten is called after each mail that was written into the folder; it may be nil.
	mailWritten func(path string, m ports.Mail) `kong:"-"`
}

// defaultMailFrom is the sender of mails that are never sent.
const defaultMailFrom = "no-reply@localhost"

// checkMail reports invalid values with the name of their setting, and not that of the secret.
func (f mailFlags) checkMail(refuse func(setting, must string, got any)) {
	if f.SMTPURL != "" {
		if _, err := smtp.ParseServer(f.SMTPURL); err != nil {
			refuse("--smtp-url (CAUSEWAY_SMTP_URL)", err.Error(), "the one that is set")
		}
		if f.MailFrom == "" {
			refuse("--mail-from (CAUSEWAY_MAIL_FROM)", "set with --smtp-url: it is the sender address of mails", "empty")
		}
	}
	if f.MailFrom != "" && !party.IsEmail(f.MailFrom) {
		refuse("--mail-from (CAUSEWAY_MAIL_FROM)", "an e-mail address such as wallet@example.com", f.MailFrom)
	}
	if f.MailsPerHour < 1 || f.MailsPerHour > 1_000_000 {
		refuse("--mails-per-hour (CAUSEWAY_MAILS_PER_HOUR)", "from 1 to 1000000", f.MailsPerHour)
	}
}

// openMailers returns the mailers by the environment of the platform. Sandbox platforms never send mails.
func (f mailFlags) openMailers() (ports.MailersByEnvironment, error) {
	mailers := ports.MailersByEnvironment{}
	if f.MailFolder != "" {
		written, err := folder.New(folder.Config{Path: f.MailFolder, Written: f.mailWritten})
		if err != nil {
			return nil, fmt.Errorf("--mail-folder (CAUSEWAY_MAIL_FOLDER): %w", err)
		}
		mailers[platform.Sandbox], mailers[platform.Production] = written, written
	}
	if f.SMTPURL != "" {
		server, err := smtp.ParseServer(f.SMTPURL)
		if err != nil {
			return nil, fmt.Errorf("--smtp-url (CAUSEWAY_SMTP_URL) must be %w", err)
		}
		mailers[platform.Production] = smtp.New(smtp.Config{Server: server, From: f.MailFrom})
	}
	return mailers, nil
}

// sender returns the sender address of platforms that have set none.
func (f mailFlags) sender() string {
	if f.MailFrom == "" {
		return defaultMailFrom
	}
	return f.MailFrom
}

// mailMetrics records what became of mails.
type mailMetrics struct {
	ended   *prometheus.HistogramVec
	failed  *prometheus.CounterVec
	waiting prometheus.Gauge
	oldest  prometheus.Gauge
}

var _ mail.Metrics = (*mailMetrics)(nil)

func newMailMetrics(registry *prometheus.Registry) *mailMetrics {
	m := &mailMetrics{
		ended: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "causeway_mail_seconds", Help: "Time from the commit of a mail until it was sent, refused or expired, by kind and outcome.",
			Buckets: []float64{0.5, 1, 2, 5, 15, 60, 300, 3600, 86400},
		}, []string{"kind", "outcome"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_mail_failures_total", Help: "Failed attempts to send a mail that are repeated, by kind.",
		}, []string{"kind"}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "causeway_mails_waiting", Help: "Mails that wait to be sent, counted up to 10000.",
		}),
		oldest: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "causeway_mail_oldest_waiting_seconds", Help: "Age of the oldest mail that waits to be sent.",
		}),
	}
	registry.MustRegister(m.ended, m.failed, m.waiting, m.oldest)
	for _, kind := range ports.MailKinds {
		m.failed.WithLabelValues(string(kind))
		for _, status := range []ports.MailStatus{ports.MailSent, ports.MailRefused, ports.MailExpired} {
			m.ended.WithLabelValues(string(kind), string(status))
		}
	}
	return m
}

// Ended records what became of a mail.
func (m *mailMetrics) Ended(kind ports.MailKind, status ports.MailStatus, after time.Duration) {
	m.ended.WithLabelValues(string(kind), string(status)).Observe(after.Seconds())
}

// Failed counts a failed attempt.
func (m *mailMetrics) Failed(kind ports.MailKind) { m.failed.WithLabelValues(string(kind)).Inc() }

// maxCountedMails bounds what is counted for the metrics of each platform.
const maxCountedMails = 10_000

// countWaitingMails updates how many mails wait.
func (a *app) countWaitingMails(ctx context.Context) error {
	n, oldest, err := a.db.WaitingMails(ctx, maxCountedMails)
	if err != nil {
		return err
	}
	age := time.Duration(0)
	if !oldest.IsZero() {
		age = max(systemClock{}.Now().Sub(oldest), 0)
	}
	a.mailMetrics.waiting.Set(float64(min(n, maxCountedMails)))
	a.mailMetrics.oldest.Set(age.Seconds())
	return nil
}
