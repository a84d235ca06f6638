package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// newFakeEnv returns an environment whose service is a fake.
func newFakeEnv(t *testing.T, f *fakeService) *benchEnv {
	t.Helper()
	r, err := startReceiver()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.sending.Wait(); r.close() })
	return &benchEnv{target: f.target(), receiver: r}
}

// limitedTo makes n pieces of work due now.
func limitedTo(n int64) schedule {
	var next atomic.Int64
	return func() (time.Time, bool) { return time.Now(), next.Add(1) <= n }
}

func TestRunWorkers_Ramps(t *testing.T) {
	// Workers make as many ramps as scheduled, each until its webhook, and measure every step;
	// the service receives exactly their requests.
	t.Parallel()
	service := newFakeService(t)
	r := newFakeEnv(t, service)
	customers, err := r.createCustomers(t.Context(), 20)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{env: *r, customers: customers, options: options{idempotencyKeys: true}}

	all, err := b.runWorkers(t.Context(), phase{inFlight: 8}, limitedTo(200))
	if err != nil {
		t.Fatal(err)
	}
	service.sending.Wait()

	if got := service.counts.quotes.Load(); len(all) != 200 || got != 200 || service.counts.payments.Load() != 200 {
		t.Errorf("%d ramps measured; the service received %d quotes and %d payments; want 200", len(all), got, service.counts.payments.Load())
	}
	for _, m := range all {
		if !m.due.Before(m.quoted) || !m.quoted.Before(m.paid) || !m.quoted.Before(m.completed) {
			t.Fatalf("times out of order: %+v", m)
		}
	}
	counts := []int64{r.receiver.pending.Load(), r.receiver.processing.Load(), r.receiver.completed.Load(), r.receiver.other.Load(), r.receiver.unclaimed.Load()}
	for i, want := range []int64{200, 200, 200, 0, 0} {
		if counts[i] != want {
			t.Errorf("webhooks counted %v; want 200 of each and no others", counts)
		}
	}
	if len(service.idempotencyKeys) != 400 {
		t.Errorf("%d idempotency keys for 400 requests", len(service.idempotencyKeys))
	}
	if service.counts.customers.Load() != 20 || service.counts.accounts.Load() != 20 {
		t.Errorf("%d customers, %d accounts; want 20", service.counts.customers.Load(), service.counts.accounts.Load())
	}
}

func TestRunWorkers_QuotesOnly(t *testing.T) {
	// Work of this kind creates quotes and pays none.
	t.Parallel()
	service := newFakeService(t)
	b := &bench{env: *newFakeEnv(t, service), customers: []customer{newCustomer("Customer:1", "ExternalAccount:1")}}

	all, err := b.runWorkers(t.Context(), phase{inFlight: 3, kind: quotesOnly}, limitedTo(30))

	if err != nil || len(all) != 30 || service.counts.quotes.Load() != 30 || service.counts.payments.Load() != 0 {
		t.Errorf("%d quotes, %d seen, %d paid, %v; want 30, 30, none", len(all), service.counts.quotes.Load(), service.counts.payments.Load(), err)
	}
}

func TestRunWorkers_FailureStopsRun(t *testing.T) {
	// A refused request, a failed payment and a cancelled run each end the workers, with the
	// reason.
	t.Parallel()
	cancelled := errors.New("cancelled by the test")
	for name, c := range map[string]struct {
		change func(f *fakeService, cancel func())
		want   string
	}{
		"quote refused":   {func(f *fakeService, _ func()) { f.failPath = "/quotes" }, "POST /quotes was refused: 500"},
		"payment refused": {func(f *fakeService, _ func()) { f.failPath = "/sandbox/send" }, "POST /sandbox/send was refused: 500"},
		"payment failed":  {func(f *fakeService, _ func()) { f.finalEvent = "OUTGOING_PAYMENT.FAILED" }, "a payment failed"},
		"no webhook, cancelled": {
			func(f *fakeService, cancel func()) { f.finalEvent, f.onPayment = "OUTGOING_PAYMENT.OTHER", cancel }, cancelled.Error(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newFakeService(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			c.change(service, func() { cancel(cancelled) })
			r := newFakeEnv(t, service)
			customers, err := r.createCustomers(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			b := &bench{env: *r, customers: customers}

			_, err = b.runWorkers(ctx, phase{inFlight: 4}, newSchedule(0, nil))

			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v; want %q", err, c.want)
			}
		})
	}
}

func TestAtFixedRate(t *testing.T) {
	// Work at a fixed rate is due at equal intervals, however late a worker is, and ends when
	// it is stopped.
	t.Parallel()
	stop := make(chan struct{})
	p := newSchedule(time.Hour, stop)

	first, _ := p()
	for i := 1; i <= 3; i++ {
		if due, more := p(); !more || due.Sub(first) != time.Duration(i)*time.Hour {
			t.Errorf("piece %d is due %s after the first", i, due.Sub(first))
		}
	}
	close(stop)
	if _, more := p(); more {
		t.Error("there is more work after the stop")
	}
}

func TestNewMeasurement(t *testing.T) {
	// Only work that ended in the measured time counts; its time starts when it was due; a
	// webhook received before the response took no time.
	t.Parallel()
	begin := time.Unix(1000, 0)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	all := []stepTimes{
		{due: at(-50), quoted: at(-40), paid: at(-30), completed: at(-1)}, // before
		{due: at(-5), quoted: at(5), paid: at(15), completed: at(12)},
		{due: at(100), quoted: at(130), paid: at(140), completed: at(190)},
		{due: at(1990), quoted: at(1992), paid: at(1995), completed: at(2000)}, // after
	}

	f, err := newMeasurement(phase{}, all, reading{at: at(0)}, reading{at: at(2000), server: 400 * time.Microsecond, commits: 8, walBytes: 3000})

	want := measurement{
		perSecond: 1, started: 4, completed: 2,
		total:   latency{17 * time.Millisecond, 90 * time.Millisecond, 90 * time.Millisecond, 90 * time.Millisecond},
		quote:   latency{10 * time.Millisecond, 30 * time.Millisecond, 30 * time.Millisecond, 30 * time.Millisecond},
		send:    latency{10 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond},
		webhook: latency{0, 50 * time.Millisecond, 50 * time.Millisecond, 50 * time.Millisecond},
		cost:    cost{server: 200 * time.Microsecond, commits: 4, walBytes: 1500},
	}
	if err != nil || f != want {
		t.Errorf("got  %+v, %v\nwant %+v", f, err, want)
	}
	if _, err := newMeasurement(phase{}, all[:1], reading{at: at(0)}, reading{at: at(2000)}); err == nil {
		t.Error("a phase in which nothing was finished has a result")
	}
}
