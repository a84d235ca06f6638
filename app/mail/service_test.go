package mail_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/internal/mails"
	"causeway/app/mail"
	"causeway/core/platform"
	"causeway/ports"
)

// fakeMailer records mails, and fails as a test says.
type fakeMailer struct {
	mu   sync.Mutex
	sent []ports.Mail
	send func(ctx context.Context, m ports.Mail) error
}

func (f *fakeMailer) Send(ctx context.Context, m ports.Mail) error {
	if f.send != nil {
		if err := f.send(ctx, m); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, m)
	return nil
}

// fakeMetrics counts outcomes.
type fakeMetrics struct {
	mu     sync.Mutex
	counts map[ports.MailStatus]int // failed attempts by the empty status
}

func (f *fakeMetrics) count(status ports.MailStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[status]++
}
func (f *fakeMetrics) Ended(_ ports.MailKind, status ports.MailStatus, _ time.Duration) {
	f.count(status)
}
func (f *fakeMetrics) Failed(ports.MailKind) { f.count("") }

type env struct {
	*apptest.Env
	t       *testing.T
	mailer  *fakeMailer
	sms     *fakeSMS
	metrics *fakeMetrics
	service *mail.Service
	queue   *mails.Queue
}

// fakeSMS records text messages, and fails as a test says.
type fakeSMS struct {
	mu   sync.Mutex
	sent []ports.SMS
	err  error
}

func (f *fakeSMS) Send(_ context.Context, m ports.SMS) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.sent = append(f.sent, m)
	}
	return f.err
}

func newEnv(t *testing.T) *env {
	e := &env{Env: apptest.New(t), t: t, mailer: &fakeMailer{}, sms: &fakeSMS{}, metrics: &fakeMetrics{counts: map[ports.MailStatus]int{}}}
	mailers := ports.MailersByEnvironment{platform.Sandbox: e.mailer}
	senders := ports.SMSSendersByEnvironment{platform.Sandbox: e.sms}
	e.service = mail.New(mail.Config{
		Store: e.Store, Jobs: e.Store, Mailers: mailers, SMS: senders, Clock: e.Clock, Log: e.Log, Metrics: e.metrics})
	e.queue = mails.New(mails.Config{IDs: e.IDs, Mailers: mailers, SMS: senders, From: "wallet@example.com",
		MaxPerHour: 1000, MaxSMSPerHour: 1000})
	return e
}

// add queues a mail of a platform.
func (e *env) add(p platform.Platform, to string, m mails.Message) {
	e.t.Helper()
	if err := e.Store.Do(e.t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return e.queue.Add(ctx, tx, p, to, m, e.Clock.Now())
	}); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) sendDue() {
	e.t.Helper()
	if err := e.service.SendDue(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

// want fails the test unless the only mail has the status and the reason, and waits if a job is left.
func (e *env) want(status ports.MailStatus, reason string) {
	e.t.Helper()
	listed, err := e.Store.Mails(e.t.Context(), ports.MailFilter{Limit: 10})
	if err != nil || len(listed) != 1 || listed[0].Status != status || listed[0].Reason != reason {
		e.t.Errorf("mails %+v, %v; want one that is %s because %q", listed, err, status, reason)
	}
	jobs, err := e.Store.ListJobs(e.t.Context(), ports.JobFilter{Step: listed[0].Kind.Step(), Limit: 10})
	if err != nil || (len(jobs) == 1) != (status == ports.MailWaiting) {
		e.t.Errorf("jobs %+v, %v of a mail that is %s", jobs, err, status)
	}
}

func TestService_SendsQueuedMail(t *testing.T) {
	t.Parallel()
	// A mail is sent once, and then neither its content nor its job is left.
	e := newEnv(t)
	e.add(e.Platform, "ana@example.com", mails.Code("123456", 5*time.Minute))

	e.sendDue()
	e.sendDue()

	if len(e.mailer.sent) != 1 || e.mailer.sent[0].To != "ana@example.com" || e.mailer.sent[0].FromAddress != "wallet@example.com" ||
		e.metrics.counts[ports.MailSent] != 1 {
		t.Errorf("sent %+v, counted %v", e.mailer.sent, e.metrics.counts)
	}
	e.want(ports.MailSent, "")
}

func TestService_SendsSMS(t *testing.T) {
	t.Parallel()
	// A text message is sent to its number, and no mail. A provider that fails is asked again; one that refuses is not, and its code is kept.
	for name, test := range map[string]struct {
		err    error
		status ports.MailStatus
		reason string
	}{
		"sent":    {nil, ports.MailSent, ""},
		"failed":  {errors.New("503"), ports.MailWaiting, ""},
		"refused": {&ports.MessageRefusedError{Reason: "INVALID_NUMBER"}, ports.MailRefused, "INVALID_NUMBER"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.sms.err = test.err
			e.add(e.Platform, "+447700900123", mails.SMSCode("482916", "", 5*time.Minute))

			e.sendDue()

			e.want(test.status, test.reason)
			if len(e.mailer.sent) != 0 || test.err == nil && (len(e.sms.sent) != 1 || e.sms.sent[0].To != "+447700900123") {
				t.Errorf("sent %+v and %+v", e.mailer.sent, e.sms.sent)
			}
			e.sms.err = nil
			e.Clock.Advance(time.Minute)
			e.sendDue()
			if want := test.status != ports.MailRefused; (len(e.sms.sent) == 1) != want {
				t.Errorf("after a minute %d were sent", len(e.sms.sent))
			}
		})
	}
}

func TestService_SendsNoticeAsSMS(t *testing.T) {
	t.Parallel()
	// Who has only a number gets a notice as a text message.
	e := newEnv(t)
	if err := e.Store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return e.queue.AddNotice(ctx, tx, e.Platform, mails.Recipient{Phone: "+447700900123"}, mails.WalletExported(e.Clock.Now()), e.Clock.Now())
	}); err != nil {
		t.Fatal(err)
	}

	e.sendDue()

	if len(e.mailer.sent) != 0 || len(e.sms.sent) != 1 || e.sms.sent[0].To != "+447700900123" {
		t.Errorf("sent %+v and %+v", e.mailer.sent, e.sms.sent)
	}
}

func TestService_NewerCodeReplacesUnsentOne(t *testing.T) {
	t.Parallel()
	// A code that was not sent yet is not sent after a newer one about the same was made, but one about something else is, and so is one
	// of another platform. One that was sent stays as it is, and a unit of work that fails replaces nothing.
	e := newEnv(t)
	other := e.NewPlatform()
	code := func(text string, topic ...string) mails.Message {
		return mails.SMSCode(text, "", 5*time.Minute).About(topic...)
	}
	e.add(e.Platform, "+447700900123", code("sent", "sign in", "one"))
	e.sendDue()
	e.add(e.Platform, "+447700900123", code("older", "sign in", "one"))
	e.add(e.Platform, "+447700900123", code("else", "sign in", "two"))
	e.add(other, "+447700900123", code("other", "sign in", "one"))
	if err := e.Store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(e.queue.Add(ctx, tx, e.Platform, "+447700900123", code("undone", "sign in", "two"), e.Clock.Now()),
			errors.New("the unit of work fails"))
	}); err == nil {
		t.Fatal("it did not fail")
	}
	e.Clock.Advance(time.Second)
	e.add(e.Platform, "+447700900123", code("newer", "sign in", "one"))

	e.sendDue()

	var sent []string
	for _, text := range []string{"sent", "older", "else", "other", "undone", "newer"} {
		if slices.ContainsFunc(e.sms.sent, func(m ports.SMS) bool { return strings.Contains(m.Text, text) }) {
			sent = append(sent, text)
		}
	}
	if want := []string{"sent", "else", "other", "newer"}; !slices.Equal(sent, want) || len(e.sms.sent) != len(want) {
		t.Errorf("sent %v, want %v", e.sms.sent, want)
	}
	listed, err := e.Store.Mails(e.t.Context(), ports.MailFilter{Status: ports.MailExpired, Limit: 10})
	if err != nil || len(listed) != 1 || listed[0].Reason != "a newer one takes its place" {
		t.Errorf("%+v, %v", listed, err)
	}
}

func TestService_RepeatsFailedMailUntilItExpires(t *testing.T) {
	t.Parallel()
	// A failed mail is tried again, later and later. Its last error is that of the job. When the code has
	// expired, the mail is dropped.
	e := newEnv(t)
	e.mailer.send = func(context.Context, ports.Mail) error { return errors.New("451 try later") }
	e.add(e.Platform, "ana@example.com", mails.Code("123456", 5*time.Minute))

	e.sendDue()

	e.want(ports.MailWaiting, "")
	jobs, err := e.Store.ListJobs(t.Context(), ports.JobFilter{Step: ports.StepSendMail, Limit: 10})
	if err != nil || jobs[0].LastError != "send a mail: 451 try later" {
		t.Errorf("jobs %+v, %v", jobs, err)
	}
	e.sendDue()
	if e.metrics.counts[""] != 1 {
		t.Errorf("%d attempts without a delay", e.metrics.counts[""])
	}
	for range 60 { // the attempts until the expiry
		e.Clock.Advance(5 * time.Second)
		e.sendDue()
	}
	if e.metrics.counts[""] < 6 || e.metrics.counts[""] > 20 {
		t.Errorf("%d attempts in five minutes", e.metrics.counts[""])
	}
	e.mailer.send = nil
	e.Clock.Advance(15 * time.Minute)
	e.sendDue()
	e.want(ports.MailExpired, "it could not be sent in time")
	if len(e.mailer.sent) != 0 || e.metrics.counts[ports.MailExpired] != 1 {
		t.Errorf("sent %+v, counted %v", e.mailer.sent, e.metrics.counts)
	}
}

func TestService_SendsNoticeAfterLongOutage(t *testing.T) {
	t.Parallel()
	// A notice is still sent after two days without a mail server, however many attempts failed.
	e := newEnv(t)
	e.mailer.send = func(context.Context, ports.Mail) error { return errors.New("connection refused") }
	e.add(e.Platform, "ana@example.com", mails.WalletExported(apptest.Noon))
	for range 48 * 4 {
		e.sendDue()
		e.Clock.Advance(15 * time.Minute)
	}
	if e.metrics.counts[""] < 100 {
		t.Fatalf("%d attempts", e.metrics.counts[""])
	}

	e.mailer.send = nil
	e.Clock.Advance(15 * time.Minute)
	e.sendDue()

	e.want(ports.MailSent, "")
}

func TestService_RecordsRefusedMail(t *testing.T) {
	t.Parallel()
	// A mail that the server refuses is not tried again, and the reason is kept.
	e := newEnv(t)
	attempts := 0
	e.mailer.send = func(context.Context, ports.Mail) error {
		attempts++
		return &ports.MessageRefusedError{Reason: "550 no such mailbox"}
	}
	e.add(e.Platform, "ana@example.com", mails.Code("123456", 5*time.Minute))

	e.sendDue()
	e.Clock.Advance(time.Minute)
	e.sendDue()

	e.want(ports.MailRefused, "550 no such mailbox")
	if attempts != 1 || e.metrics.counts[ports.MailRefused] != 1 {
		t.Errorf("%d attempts, counted %v", attempts, e.metrics.counts)
	}
}

func TestService_SendsAgainAfterCrashBeforeCommit(t *testing.T) {
	t.Parallel()
	// If the process ends between the sending and the commit, another one sends the same mail again when
	// the lease ends. A process that lost its lease changes nothing.
	e := newEnv(t)
	e.add(e.Platform, "ana@example.com", mails.Code("123456", 5*time.Minute))
	jobs, err := e.Store.TakeJobs(t.Context(), ports.StepSendMail, e.Clock.Now(), 30*time.Second, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%+v, %v", jobs, err)
	}
	m, _, _, err := e.Store.WaitingMail(t.Context(), e.Platform.ID, jobs[0].Subjects[0])
	if err != nil {
		t.Fatal(err)
	}
	_ = e.mailer.Send(t.Context(), m.Mail) // and the process ends

	e.sendDue()
	if len(e.mailer.sent) != 1 {
		t.Fatal("the mail was sent during the lease")
	}
	e.Clock.Advance(31 * time.Second)
	e.sendDue()

	if len(e.mailer.sent) != 2 || e.mailer.sent[0] != e.mailer.sent[1] {
		t.Errorf("sent %+v", e.mailer.sent)
	}
	e.want(ports.MailSent, "")
}

func TestService_SlowMailsDoNotBlockOthers(t *testing.T) {
	t.Parallel()
	// While mails of one platform hang, those of another are sent, and further ones of the first: as many
	// as may be sent at the same time less those that hang.
	e := newEnv(t)
	other := e.NewPlatform(func(*platform.Platform) {})
	release := make(chan struct{})
	started := make(chan string, 100)
	e.mailer.send = func(ctx context.Context, m ports.Mail) error {
		started <- m.To
		if m.To != "slow@example.com" {
			return nil
		}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for range 3 {
		e.add(e.Platform, "slow@example.com", mails.Code("1", 5*time.Minute))
	}
	e.Run(e.service.Run)
	for range 3 {
		if to := <-started; to != "slow@example.com" {
			t.Fatalf("started %s", to)
		}
	}

	e.add(other, "bo@example.com", mails.Code("2", 5*time.Minute))
	e.add(e.Platform, "ana@example.com", mails.Code("3", 5*time.Minute))

	if got := []string{<-started, <-started}; !slices.Contains(got, "bo@example.com") || !slices.Contains(got, "ana@example.com") {
		t.Errorf("started %q", got)
	}
	close(release)
}

func TestService_WithoutMailerWaits(t *testing.T) {
	t.Parallel()
	// A mail that was queued while there was a mailer waits for one.
	e := newEnv(t)
	e.add(e.Platform, "ana@example.com", mails.WalletExported(apptest.Noon))
	without := mail.New(mail.Config{Store: e.Store, Jobs: e.Store, Clock: e.Clock, Log: e.Log})

	if err := without.SendDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.want(ports.MailWaiting, "")
	e.Clock.Advance(time.Minute)
	e.sendDue()

	e.want(ports.MailSent, "")
}

func TestService_JobWithoutMailIsFinished(t *testing.T) {
	t.Parallel()
	// A job whose mail has ended, or is deleted, is finished, and nothing is sent.
	e := newEnv(t)
	now := e.Clock.Now()
	if err := e.Store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return tx.AddJobs(ctx, []ports.Job{{ID: e.IDs.New(now), Platform: e.Platform.ID, Step: ports.StepSendMail,
			Subjects: []uuid.UUID{e.IDs.New(now)}, Due: now}})
	}); err != nil {
		t.Fatal(err)
	}

	e.sendDue()

	jobs, err := e.Store.ListJobs(t.Context(), ports.JobFilter{Limit: 10})
	if err != nil || len(jobs) != 0 || len(e.mailer.sent) != 0 {
		t.Errorf("jobs %+v, %v, sent %+v", jobs, err, e.mailer.sent)
	}
}
