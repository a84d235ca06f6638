package simulation_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/adapters/signin"
	"causeway/app/accounting"
	"causeway/app/internal/connections"
	"causeway/app/internal/jobs"
	"causeway/app/internal/mails"
	"causeway/app/internal/prices"
	"causeway/app/internal/strongauth"
	"causeway/app/payments"
	operators "causeway/app/rails"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
)

// process is one process of the service. It may have crashed: then its calls fail, and nothing of
// what it still does has an effect.
type process struct {
	world   *world
	service *payments.Service
	finance *accounting.Service
	periods *accounting.Periods
	// overConnections is the rail of the platform whose payments take connections, and operators decide about them.
	overConnections *connections.Rail
	operators       *operators.Service
	crashed         bool
}

func newProcess(w *world) *process {
	p := &process{world: w}
	log := logrus.New()
	log.SetOutput(panicWriter{w})
	s := store{process: p}
	auth := strongauth.New(strongauth.Config{Proofs: walletProofs, TOTP: signin.Verifier{}, IDs: p, Mails: mails.New(mails.Config{})})
	p.service = payments.New(payments.Config{Auth: auth,
		Timetable: timetable, Store: s, Jobs: s, Rails: rails{p}, Simulated: simulated{rails{p}},
		Chains:  chains{rails{p}},
		Custody: custody{process: p}, WalletProofs: walletProofs, Prices: prices.New(s, w.market, p),
		Counterparties: map[platform.Environment]ports.Counterparties{platform.Sandbox: otherProviders{process: p}}, Approvals: endpoint{p},
		Clock: p, IDs: p, Log: logrus.NewEntry(log), JobRetry: jobs.RetryPolicy{Random: func() float64 { return 0.5 }}})
	p.connect(s, logrus.NewEntry(log))
	p.periods = accounting.NewPeriods(accounting.PeriodsConfig{Store: s, Clock: p, IDs: p})
	p.finance = accounting.New(accounting.Config{Store: s, Clock: p, IDs: p})
	return p
}

// endpoint is the webhook endpoint of the platform.
type endpoint struct{ *process }

// RequestApproval approves, rejects, will decide later, or cannot be reached.
func (e endpoint) RequestApproval(ctx context.Context, _ event.Event) (ports.WebhookResponse, error) {
	fate := e.pause(ctx, "approval", railFates)
	if fate == failBefore || fate == loseAnswer {
		return ports.WebhookResponse{Outcome: event.InternalError}, errRolledBack
	}
	status := pick(e.world, []int{200, 200, 202, 202, 403, 500})
	if fate == answerLater {
		e.pause(ctx, "approval answered", nil)
	}
	return ports.WebhookResponse{Outcome: event.OutcomeOf(status), StatusCode: status}, nil
}

// otherProviders knows the person at another provider.
type otherProviders struct {
	ports.Counterparties
	*process
}

// Sender returns the person, or fails.
func (o otherProviders) Sender(ctx context.Context, address string, _ []string) (ports.Counterparty, error) {
	if o.pause(ctx, "sender", readFates) == failBefore {
		return ports.Counterparty{}, fault.New(fault.ServiceUnavailable, "The provider does not respond.")
	}
	return ports.Counterparty{Address: address}, nil
}

// Now returns the time of the simulation, which is the same in all processes.
func (p *process) Now() time.Time { return p.world.now }

// New returns an id that depends on the seed only.
func (p *process) New(at time.Time) uuid.UUID { return p.world.newID(at) }

// panicWriter ends the run if a panic is logged: the service goes on after most.
type panicWriter struct{ *world }

func (w panicWriter) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("panic")) {
		w.fail("%s", line)
	}
	return len(line), nil
}

// fate is what happens to a call that leaves the process.
type fate string

const (
	succeed fate = "succeeds"
	// failBefore: the call has no effect and returns an error.
	failBefore fate = "fails"
	// loseAnswer: the call has its effect and returns an error.
	loseAnswer fate = "loses its answer"
	// answerLater: the call has its effect, and returns some steps later.
	answerLater fate = "answers later"
	// runTwice: the unit of work is rolled back and run again, as after a deadlock.
	runTwice fate = "runs twice"
	// failCommit: the unit of work runs and is rolled back.
	failCommit fate = "fails to commit"
)

var (
	doFates   = []fate{failBefore, loseAnswer, answerLater, answerLater, runTwice, failCommit}
	readFates = []fate{failBefore}
	railFates = []fate{failBefore, loseAnswer, answerLater, answerLater}
)

// call is a call that waits for the simulation to let it happen.
type call struct {
	name   string
	caller *process
	// cause is what the call is made for, as far as its context says.
	cause  string
	fates  []fate // other than succeed
	resume chan fate
}

// pause waits until the simulation lets a call happen, and returns its fate. Meanwhile other calls
// happen: this is where the work of several goroutines is interleaved.
func (p *process) pause(ctx context.Context, name string, fates []fate) fate {
	c := &call{name: name, caller: p, cause: causeOf(ctx), fates: fates, resume: make(chan fate, 1)}
	p.world.mu.Lock()
	p.world.calls = append(p.world.calls, c)
	p.world.mu.Unlock()
	chosen := <-c.resume
	if p.crashed {
		return failBefore
	}
	return chosen
}

// causeKey is the key of the number of a request, or of a run of jobs, in a context.
type causeKey struct{}

// causeOf returns the cause and the platform in a context.
func causeOf(ctx context.Context) string {
	scope, _ := ports.ScopeOf(ctx)
	return fmt.Sprint(ctx.Value(causeKey{}), scope.Platform)
}
