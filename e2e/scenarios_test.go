package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// sandboxSpeed makes six minutes six seconds, and half a minute half a second.
const sandboxSpeed = 60

// The delays of the sandbox, before the speed is applied.
const (
	longPaymentDelay = 6 * time.Minute
	pendingDelay     = 30 * time.Second
	returnDelay      = 5 * time.Second
)

// scenario is a row of the sandbox's tables: a request and all its effects.
type scenario struct {
	name string
	// run makes the request, and returns its transaction and the postings that the ledger must
	// have.
	run func(s *scenarioEnv) scenarioResult
	// events are all events of the transaction, in order, without "OUTGOING_PAYMENT.".
	events []string
	// finalFields are the final values of the transaction, by their paths.
	finalFields object
	// balances are the balances in events about the customer's accounts, in order, by
	// currency. Any other account has no event and a balance of zero.
	balances map[string][]int64
	// delay is how long the sandbox waits before the event delayedEvent; without it there is
	// no delay.
	delay        time.Duration
	delayedEvent string
}

// scenarioResult is what a scenario has started.
type scenarioResult struct {
	transactionID string   // empty when there is none
	postings      []string // all of the platform, in order
}

// TestSandbox_Scenarios runs every row of the tables, each on a platform of its own.
func TestSandbox_Scenarios(t *testing.T) {
	t.Parallel()
	// The test value of an account, the address of a receiver, or the way of paying decides
	// the response, the events and their order, the final transaction, the balances, and every
	// entry in the ledger.
	h := newTestEnv(t, "--sandbox-speed", "60", "--sandbox-uma-domain", umaDomain)
	for _, c := range slices.Concat(transferInScenarios(), transferOutScenarios(), payoutScenarios(), umaScenarios(), fundingScenarios(),
		failureScenarios()) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h.newScenarioEnv(t).runScenario(c)
		})
	}
}

func (s *scenarioEnv) runScenario(c scenario) {
	s.t.Helper()
	got := c.run(s)
	if got.transactionID != "" {
		s.checkTiming(c, got.transactionID)
		s.checkTransactionEvents(got.transactionID, c.events)
		s.checkFinalTransaction(got.transactionID, c)
	}
	s.awaitIdle()
	if got.transactionID != "" && !slices.Equal(s.receiver.acceptedEvents(got.transactionID), c.events) {
		s.t.Errorf("the final events are %v, want %v", s.receiver.acceptedEvents(got.transactionID), c.events)
	}
	s.checkPostings(got.postings)
	s.checkBalances(c.balances)
}

// checkTransactionEvents waits for the last of the events, and compares all of them.
func (s *scenarioEnv) checkTransactionEvents(transaction string, want []string) {
	s.t.Helper()
	s.awaitEvent(transaction, want[len(want)-1])
	if got := s.receiver.acceptedEvents(transaction); !slices.Equal(got, want) {
		s.t.Errorf("events of %s: %v, want %v", transaction, got, want)
	}
}

// awaitEvent returns the delivery of an event of a transaction.
func (s *scenarioEnv) awaitEvent(transaction, event string) delivery {
	s.t.Helper()
	full := event
	if !strings.Contains(event, ".") {
		full = "OUTGOING_PAYMENT." + event
	}
	return s.receiver.awaitDelivery(full+" of "+transaction, func(d delivery) bool {
		return d.transactionID == transaction && d.event == full && d.responseStatus < 300
	})
}

// checkTiming checks that a delayed event takes exactly its delay, by the receiver's clock and
// by the transaction's own times, and that nothing else is delayed.
func (s *scenarioEnv) checkTiming(c scenario, transaction string) {
	s.t.Helper()
	if c.delay == 0 {
		ended := s.awaitEvent(transaction, c.events[len(c.events)-1])
		if took := ended.time("transaction.updatedAt").Sub(s.requestedAt); took >= longPaymentDelay/sandboxSpeed {
			s.t.Errorf("it took %s without a delay", took)
		}
		return
	}
	wait, index := c.delay/sandboxSpeed, slices.Index(c.events, c.delayedEvent)
	if index > 0 {
		before := s.awaitEvent(transaction, c.events[index-1])
		s.checkInProgress(transaction, before.text("transaction.status"), s.requestedAt.Add(wait))
		if took := s.awaitEvent(transaction, c.delayedEvent).time("transaction.updatedAt").Sub(
			before.time("transaction.updatedAt")); took < wait {
			s.t.Errorf("%s was received %s after %s, want %s", c.delayedEvent, took, c.events[index-1], wait)
		}
	} else {
		s.checkInProgress(transaction, "PENDING", s.requestedAt.Add(wait))
	}
	if took := s.awaitEvent(transaction, c.delayedEvent).receivedAt.Sub(s.requestedAt); took < wait {
		s.t.Errorf("%s was received %s after the request, want %s", c.delayedEvent, took, wait)
	}
}

// checkInProgress checks that a transaction still has a status, if it is read before a time.
func (s *scenarioEnv) checkInProgress(transaction, status string, before time.Time) {
	s.t.Helper()
	found := s.get("/transactions/" + transaction).wantStatus(200)
	if time.Now().Before(before) {
		found.wantValues(map[string]any{"status": status})
	}
}

// checkFinalTransaction reads the transaction, which must be as in the last event.
func (s *scenarioEnv) checkFinalTransaction(transaction string, c scenario) {
	s.t.Helper()
	found := s.get("/transactions/" + transaction).wantStatus(200).wantValues(c.finalFields)
	last := s.awaitEvent(transaction, c.events[len(c.events)-1])
	for _, path := range []string{"id", "status", "type", "customerId", "quoteId", "failureReason", "refund.status", "refund.reason",
		"refund.reference",
		"refund.settledAt", "settledAt", "createdAt", "updatedAt", "receivedAmount.amount", "sentAmount.amount"} {
		if found.text(path) != last.text("transaction."+path) {
			s.t.Errorf("%s: %q in the response, %q in the last event", path, found.text(path), last.text("transaction."+path))
		}
	}
	completed := slices.Contains(c.events, "COMPLETED") || slices.Contains(c.events, "INCOMING_PAYMENT.COMPLETED")
	if settled := found.text("settledAt") != ""; settled != completed {
		s.t.Errorf("settledAt %q after %v", found.text("settledAt"), c.events)
	}
	if found.text("refund.status") != "" && (found.text("refund.settledAt") != "") != (found.text("refund.status") == "COMPLETED") {
		s.t.Errorf("a refund that is %s was settled at %q", found.text("refund.status"), found.text("refund.settledAt"))
	}
	if reference := found.text("refund.reference"); found.text("refund.status") != "" &&
		(reference == "-REFUND" || !strings.HasSuffix(reference, "-REFUND")) {
		s.t.Errorf("the reference of the refund is %q", reference)
	}
	if quote := found.text("quoteId"); quote != "" {
		status := found.text("status")
		if completed {
			status = "COMPLETED" // an executed quote stays COMPLETED
		}
		s.get("/quotes/" + quote).wantStatus(200).wantValues(map[string]any{"status": status, "transactionId": transaction})
	}
}
