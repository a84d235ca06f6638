package mails_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/internal/mails"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
)

type noMailer struct{}

func (noMailer) Send(context.Context, ports.Mail) error { return errors.New("not called") }

type noSMS struct{}

func (noSMS) Send(context.Context, ports.SMS) error { return errors.New("not called") }

// addMail adds a mail with a code in a unit of work of its own.
func addMail(env *apptest.Env, queue *mails.Queue, p platform.Platform) error {
	return env.Store.Do(context.Background(), func(ctx context.Context, tx *postgres.Unit) error {
		return queue.Add(ctx, tx, p, "ana@example.com", mails.Code("123456", 5*time.Minute), env.Clock.Now())
	})
}

func TestQueue_AddStoresMailWithItsJob(t *testing.T) {
	t.Parallel()
	// A mail is added with the unit of work: what is rolled back adds none. Its job is due at once.
	env := apptest.New(t)
	queue := mails.New(mails.Config{IDs: env.IDs, Mailers: ports.MailersByEnvironment{platform.Sandbox: noMailer{}},
		From: "service@example.com", MaxPerHour: 10})
	rollback := errors.New("rolled back")
	if err := env.Store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(queue.Add(ctx, tx, env.Platform, "ana@example.com", mails.Code("1", time.Minute), env.Clock.Now()), rollback)
	}); !errors.Is(err, rollback) {
		t.Fatal(err)
	}

	if err := addMail(env, queue, env.Platform); err != nil {
		t.Fatal(err)
	}

	jobs, err := env.Store.TakeJobs(t.Context(), ports.StepSendMail, env.Clock.Now(), time.Minute, 10)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("jobs %+v, %v", jobs, err)
	}
	m, environment, waits, err := env.Store.WaitingMail(t.Context(), env.Platform.ID, jobs[0].Subjects[0])
	if err != nil || !waits || environment != platform.Sandbox || m.To != "ana@example.com" || m.FromAddress != "service@example.com" ||
		m.Subject != "123456 is your code for "+env.Platform.Name ||
		m.Kind != ports.MailCode || !m.ExpiresAt.Equal(apptest.Noon.Add(5*time.Minute)) {
		t.Errorf("%+v, %s, %t, %v", m, environment, waits, err)
	}
}

func TestQueue_AddLimitsMailsPerHour(t *testing.T) {
	t.Parallel()
	// A platform may send so many mails in an hour. Further ones are refused until the next, and those of
	// other platforms are not.
	env := apptest.New(t)
	queue := mails.New(mails.Config{IDs: env.IDs, Mailers: ports.MailersByEnvironment{platform.Sandbox: noMailer{}}, MaxPerHour: 2})
	other := env.NewPlatform(func(*platform.Platform) {})
	env.Clock.Advance(20 * time.Minute)
	for range 2 {
		if err := addMail(env, queue, env.Platform); err != nil {
			t.Fatal(err)
		}
	}

	for range 2 {
		if f, _ := fault.As(addMail(env, queue, env.Platform)); f == nil || f.Code != fault.RateLimited || f.RetryAfter != 40*time.Minute {
			t.Fatalf("the third mail: %+v", f)
		}
	}
	if err := addMail(env, queue, other); err != nil {
		t.Errorf("another platform: %v", err)
	}
	env.Clock.Advance(40 * time.Minute)
	if err := addMail(env, queue, env.Platform); err != nil {
		t.Errorf("in the next hour: %v", err)
	}

	// Notices have a limit of their own, and leave that of codes as it is.
	for i, want := range []bool{true, true, false} {
		if err := env.Store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			return queue.Add(ctx, tx, env.Platform, "ana@example.com", mails.WalletExported(apptest.Noon), env.Clock.Now())
		}); (err == nil) != want || err != nil && !fault.Is(err, fault.RateLimited) {
			t.Errorf("notice %d: %v", i, err)
		}
	}
	if err := addMail(env, queue, env.Platform); err != nil {
		t.Errorf("a code after all notices: %v", err)
	}
	listed, err := env.Store.Mails(t.Context(), ports.MailFilter{Platform: env.Platform.ID, Limit: 10})
	if err != nil || len(listed) != 6 {
		t.Errorf("%d mails, %v", len(listed), err)
	}
}

func TestQueue_SMSHasLimitOfItsOwn(t *testing.T) {
	t.Parallel()
	// A text message is queued for a number with its job, on one line. The platform may send so many in an hour, however many mails it
	// sends.
	env := apptest.New(t)
	queue := mails.New(mails.Config{IDs: env.IDs, SMS: ports.SMSSendersByEnvironment{platform.Sandbox: noSMS{}},
		Mailers: ports.MailersByEnvironment{platform.Sandbox: noMailer{}}, MaxPerHour: 2, MaxSMSPerHour: 1})
	addSMS := func() error {
		return env.Store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			return queue.Add(ctx, tx, env.Platform, "+447700900123", mails.SMSCode("482916", "to pay\nMia", time.Minute), env.Clock.Now())
		})
	}
	for i, add := range []func() error{addSMS, func() error { return addMail(env, queue, env.Platform) }} {
		if err := add(); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}

	if err := addSMS(); !fault.Is(err, fault.RateLimited) {
		t.Errorf("the second text message: %v", err)
	}
	if err := addMail(env, queue, env.Platform); err != nil {
		t.Errorf("a mail after all text messages: %v", err)
	}
	jobs, err := env.Store.TakeJobs(t.Context(), ports.StepSendSMS, env.Clock.Now(), time.Minute, 10)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("jobs %+v, %v", jobs, err)
	}
	m, _, waits, err := env.Store.WaitingMail(t.Context(), env.Platform.ID, jobs[0].Subjects[0])
	want := ports.SMS{ID: m.ID, Platform: env.Platform.ID, To: "+447700900123", Sender: env.Platform.Name, Text: "482916 is your code for " +
		env.Platform.Name + " to pay Mia. It expires in 1 minute. Do not give it to anyone.", ExpiresAt: apptest.Noon.Add(time.Minute)}
	if err != nil || !waits || m.SMS() != want {
		t.Errorf("%+v, %t, %v; want %+v", m.SMS(), waits, err, want)
	}
}

func TestQueue_NoticesReachWhoHasOnlyAPhone(t *testing.T) {
	t.Parallel()
	// A notice is a mail if there is an address and a mail server, and else a text message, if there is a number; it counts among the
	// notices, and not among the codes by text message.
	email, phone := mails.Recipient{Email: "ana@example.com"}, mails.Recipient{Phone: "+447700900123"}
	both := mails.Recipient{Email: email.Email, Phone: phone.Phone}
	mailers := ports.MailersByEnvironment{platform.Sandbox: noMailer{}}
	senders := ports.SMSSendersByEnvironment{platform.Sandbox: noSMS{}}
	for name, test := range map[string]struct {
		to      mails.Recipient
		mailers ports.MailersByEnvironment
		senders ports.SMSSendersByEnvironment
		want    string // kind and recipient
	}{
		"address":                 {email, mailers, senders, "WALLET_EXPORTED ana@example.com"},
		"both":                    {both, mailers, senders, "WALLET_EXPORTED ana@example.com"},
		"both, no mail server":    {both, nil, senders, "SMS_WALLET_EXPORTED +447700900123"},
		"number":                  {phone, mailers, senders, "SMS_WALLET_EXPORTED +447700900123"},
		"number, no text message": {phone, mailers, nil, ""},
		"neither":                 {mails.Recipient{}, mailers, senders, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := apptest.New(t)
			queue := mails.New(mails.Config{IDs: env.IDs, Mailers: test.mailers, SMS: test.senders, MaxPerHour: 1})
			var errs []error
			for range 2 {
				errs = append(errs, env.Store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
					return queue.AddNotice(ctx, tx, env.Platform, test.to, mails.WalletExported(apptest.Noon), env.Clock.Now())
				}))
			}
			got := ""
			for _, id := range env.QueryStrings(`SELECT id::text FROM mails`) {
				m, _, _, err := env.Store.WaitingMail(t.Context(), env.Platform.ID, uuid.MustParse(id))
				if err != nil {
					t.Fatal(err)
				}
				got += string(m.Kind) + " " + m.To
			}
			// A process of the previous version takes no job of the step of a notice by text message, which it would mail.
			for _, step := range env.QueryStrings(`SELECT step FROM jobs`) {
				if want := map[bool]string{true: "send-sms-notice", false: "send-mail"}[strings.HasPrefix(test.want, "SMS_")]; step != want {
					t.Errorf("its step is %s, want %s", step, want)
				}
			}
			if got != test.want || errs[0] != nil || (errs[1] == nil) != (test.want == "") {
				t.Errorf("queued %q, %v; want %q once", got, errs, test.want)
			}
		})
	}
}

func TestQueue_WithoutMailer(t *testing.T) {
	t.Parallel()
	// Without a mailer no mail is added. A production platform gets an error, and a sandbox platform needs none.
	env := apptest.New(t)
	queue := mails.New(mails.Config{IDs: env.IDs, MaxPerHour: 1})
	for range 2 {
		if err := addMail(env, queue, env.Platform); err != nil {
			t.Fatal(err)
		}
	}

	if n, _, err := env.Store.WaitingMails(t.Context(), 10); n != 0 || err != nil {
		t.Errorf("%d mails wait, %v", n, err)
	}
	for name, check := range map[string]func(platform.Platform) error{"mails": queue.CheckAvailable,
		"text messages": queue.CheckSMSAvailable} {
		if err := check(env.Platform); err != nil {
			t.Errorf("%s of a sandbox: %v", name, err)
		}
		if err := check(platform.Platform{Environment: platform.Production}); !fault.Is(err, fault.NotImplemented) {
			t.Errorf("%s in production: %v", name, err)
		}
	}
}
