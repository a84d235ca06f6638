package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// rigOn is a rig whose service is a fake.
func rigOn(t *testing.T, f *fake) *rig {
	t.Helper()
	r, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.sent.Wait(); r.close() })
	return &rig{target: f.target(), receiver: r}
}

func TestRamps(t *testing.T) {
	// A crew plays as many ramps as asked for, each to its webhook, and measures every
	// step; what it made is what the service saw.
	t.Parallel()
	service := newFake(t)
	r := rigOn(t, service)
	customers, err := r.setUp(t.Context(), 20)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{rig: *r, customers: customers, options: options{keys: true}}

	all, err := crew(t.Context(), 8, b.hire(phase{}), upTo(200), (*worker).ramp)
	if err != nil {
		t.Fatal(err)
	}
	service.sent.Wait()

	if got := service.seen.quotes.Load(); len(all) != 200 || got != 200 || service.seen.payments.Load() != 200 {
		t.Errorf("%d ramps measured; the service saw %d quotes and %d payments; want 200", len(all), got, service.seen.payments.Load())
	}
	for _, m := range all {
		if !m.due.Before(m.quoted) || !m.quoted.Before(m.paid) || !m.quoted.Before(m.completed) {
			t.Fatalf("moments out of order: %+v", m)
		}
	}
	counts := []int64{r.receiver.pending.Load(), r.receiver.processing.Load(), r.receiver.completed.Load(), r.receiver.other.Load(), r.receiver.unclaimed.Load()}
	for i, want := range []int64{200, 200, 200, 0, 0} {
		if counts[i] != want {
			t.Errorf("webhooks counted %v; want 200 of each and no others", counts)
		}
	}
	if len(service.keys) != 400 {
		t.Errorf("%d idempotency keys for 400 requests", len(service.keys))
	}
	if service.seen.customers.Load() != 20 || service.seen.accounts.Load() != 20 {
		t.Errorf("%d customers, %d accounts; want 20", service.seen.customers.Load(), service.seen.accounts.Load())
	}
}

func TestQuotesAlone(t *testing.T) {
	// Quotes alone are quotes and nothing else.
	t.Parallel()
	service := newFake(t)
	b := &bench{rig: *rigOn(t, service), customers: []customer{newCustomer("Customer:1", "ExternalAccount:1")}}

	all, err := crew(t.Context(), 3, b.hire(phase{}), upTo(30), (*worker).quoteOnly)

	if err != nil || len(all) != 30 || service.seen.quotes.Load() != 30 || service.seen.payments.Load() != 0 {
		t.Errorf("%d quotes, %d seen, %d paid, %v; want 30, 30, none", len(all), service.seen.quotes.Load(), service.seen.payments.Load(), err)
	}
}

func TestRampsFail(t *testing.T) {
	// A refused request, a failed payment and a run that is called off each end the
	// crew, and say why.
	t.Parallel()
	calledOff := errors.New("called off")
	for name, c := range map[string]struct {
		change func(f *fake, callOff func())
		want   string
	}{
		"quote refused":   {func(f *fake, _ func()) { f.refuse = "/quotes" }, "POST /quotes was answered 500"},
		"payment refused": {func(f *fake, _ func()) { f.refuse = "/sandbox/send" }, "POST /sandbox/send was answered 500"},
		"payment failed":  {func(f *fake, _ func()) { f.ending = "OUTGOING_PAYMENT.FAILED" }, "a payment failed"},
		"no webhook, called off": {
			func(f *fake, callOff func()) { f.ending, f.paid = "OUTGOING_PAYMENT.OTHER", callOff }, calledOff.Error(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newFake(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			c.change(service, func() { cancel(calledOff) })
			r := rigOn(t, service)
			customers, err := r.setUp(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			b := &bench{rig: *r, customers: customers}

			_, err = crew(ctx, 4, b.hire(phase{}), asFast(nil), (*worker).ramp)

			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v; want %q", err, c.want)
			}
		})
	}
}

func TestEvery(t *testing.T) {
	// Work at a fixed rate is due at equal distances, however late it is asked for, and
	// ends when it is stopped.
	t.Parallel()
	stop := make(chan struct{})
	p := every(time.Hour, stop)

	first, _ := p()
	for i := 1; i <= 3; i++ {
		if due, more := p(); !more || due.Sub(first) != time.Duration(i)*time.Hour {
			t.Errorf("piece %d is due %s after the first", i, due.Sub(first))
		}
	}
	close(stop)
	if _, more := p(); more {
		t.Error("there is more after the stop")
	}
}

func TestFiguresOf(t *testing.T) {
	// Only what ended in the measured time counts; times are counted from the moment the
	// work was due; a webhook that overtakes the answer took no time.
	t.Parallel()
	begin := time.Unix(1000, 0)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	all := []moments{
		{due: at(-50), quoted: at(-40), paid: at(-30), completed: at(-1)}, // before
		{due: at(-5), quoted: at(5), paid: at(15), completed: at(12)},
		{due: at(100), quoted: at(130), paid: at(140), completed: at(190)},
		{due: at(1990), quoted: at(1992), paid: at(1995), completed: at(2000)}, // after
	}

	f, err := figuresOf(phase{}, all, reading{at: at(0)}, reading{at: at(2000), server: 400 * time.Microsecond, commits: 8, walBytes: 3000})

	want := figures{
		perSecond: 1, started: 4, completed: 2,
		whole:   latency{17 * time.Millisecond, 90 * time.Millisecond, 90 * time.Millisecond, 90 * time.Millisecond},
		quote:   latency{10 * time.Millisecond, 30 * time.Millisecond, 30 * time.Millisecond, 30 * time.Millisecond},
		send:    latency{10 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond},
		webhook: latency{0, 50 * time.Millisecond, 50 * time.Millisecond, 50 * time.Millisecond},
		cost:    cost{server: 200 * time.Microsecond, commits: 4, walBytes: 1500},
	}
	if err != nil || f != want {
		t.Errorf("got  %+v, %v\nwant %+v", f, err, want)
	}
	if _, err := figuresOf(phase{}, all[:1], reading{at: at(0)}, reading{at: at(2000)}); err == nil {
		t.Error("a phase in which nothing was finished has figures")
	}
}
