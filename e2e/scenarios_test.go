package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// speed makes six minutes six seconds, and half a minute half a second.
const speed = 60

// How long the sandbox takes over things, before it is sped up.
const (
	longPayment = 6 * time.Minute
	pendingTime = 30 * time.Second
	returnDelay = 5 * time.Second
)

// scenario is a line of the sandbox's tables: what somebody does, and all that must
// come of it.
type scenario struct {
	name string
	// play does it, and says which transaction it is and what the books must hold.
	play func(s *scene) played
	// events are all of the transaction, in order, without "OUTGOING_PAYMENT.".
	events []string
	// final are values of the transaction in the end, by their paths.
	final object
	// balances are what the customer's accounts are told to hold, one after the other, by
	// currency. Accounts that are not here were told nothing and hold nothing.
	balances map[string][]int64
	// takes is how long the sandbox keeps it waiting before the event named until; the
	// other scenarios run through at once.
	takes time.Duration
	until string
}

// played is what a scenario has begun.
type played struct {
	transaction string   // empty when there is none
	postings    []string // all of the platform, in order
}

// TestSandbox plays every line of the tables, each on a platform of its own.
func TestSandbox(t *testing.T) {
	t.Parallel()
	// The end of an account, the address of a person, or the way of paying decides what
	// becomes of money: what is answered, which events come in which order, where the
	// transaction ends, what each account holds, and each entry of the books.
	h := newHouse(t, "--sandbox-speed", "60", "--sandbox-uma-domain", peopleDomain)
	for _, c := range slices.Concat(transfersIn(), transfersOut(), payouts(), people(), fundings(), mishaps()) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h.scene(t).check(c)
		})
	}
}

func (s *scene) check(c scenario) {
	s.t.Helper()
	got := c.play(s)
	if got.transaction != "" {
		s.checkPace(c, got.transaction)
		s.checkStory(got.transaction, c.events)
		s.checkFinal(got.transaction, c)
	}
	s.quiet()
	if got.transaction != "" && !slices.Equal(s.hooks.events(got.transaction), c.events) {
		s.t.Errorf("in the end the events are %v, want %v", s.hooks.events(got.transaction), c.events)
	}
	s.checkPostings(got.postings)
	s.checkBalances(c.balances)
}

// checkStory awaits the last of the events, and compares all of them.
func (s *scene) checkStory(transaction string, want []string) {
	s.t.Helper()
	s.awaitEvent(transaction, want[len(want)-1])
	if got := s.hooks.events(transaction); !slices.Equal(got, want) {
		s.t.Errorf("events of %s: %v, want %v", transaction, got, want)
	}
}

// awaitEvent returns the delivery of an event of a transaction.
func (s *scene) awaitEvent(transaction, event string) delivery {
	s.t.Helper()
	full := event
	if !strings.Contains(event, ".") {
		full = "OUTGOING_PAYMENT." + event
	}
	return s.hooks.await(full+" of "+transaction, func(d delivery) bool { return d.about == transaction && d.event == full && d.status < 300 })
}

// checkPace checks that what takes its time is under way until then and not a moment
// less, by the receiver's clock and by the transaction's own times; and that nothing
// else is slowed down.
func (s *scene) checkPace(c scenario, transaction string) {
	s.t.Helper()
	if c.takes == 0 {
		ended := s.awaitEvent(transaction, c.events[len(c.events)-1])
		if took := ended.time("transaction.updatedAt").Sub(s.ordered); took >= longPayment/speed {
			s.t.Errorf("it took %s, and nothing keeps it waiting", took)
		}
		return
	}
	wait, at := c.takes/speed, slices.Index(c.events, c.until)
	if at > 0 {
		begun := s.awaitEvent(transaction, c.events[at-1])
		s.underWay(transaction, begun.str("transaction.status"), s.ordered.Add(wait))
		if took := s.awaitEvent(transaction, c.until).time("transaction.updatedAt").Sub(begun.time("transaction.updatedAt")); took < wait {
			s.t.Errorf("%s came %s after %s, want %s", c.until, took, c.events[at-1], wait)
		}
	} else {
		s.underWay(transaction, "PENDING", s.ordered.Add(wait))
	}
	if took := s.awaitEvent(transaction, c.until).at.Sub(s.ordered); took < wait {
		s.t.Errorf("%s came %s after the order, want %s", c.until, took, wait)
	}
}

// underWay checks that a transaction still has a status, if it is read before a moment.
func (s *scene) underWay(transaction, status string, before time.Time) {
	s.t.Helper()
	found := s.get("/transactions/" + transaction).want(200)
	if time.Now().Before(before) {
		found.each(map[string]any{"status": status})
	}
}

// checkFinal reads the transaction, which must say what the last event said.
func (s *scene) checkFinal(transaction string, c scenario) {
	s.t.Helper()
	found := s.get("/transactions/" + transaction).want(200).each(c.final)
	last := s.awaitEvent(transaction, c.events[len(c.events)-1])
	for _, path := range []string{"id", "status", "type", "customerId", "quoteId", "failureReason", "refund.status", "refund.reason", "refund.reference",
		"refund.settledAt", "settledAt", "createdAt", "updatedAt", "receivedAmount.amount", "sentAmount.amount"} {
		if found.str(path) != last.str("transaction."+path) {
			s.t.Errorf("%s: the GET says %q, the last event %q", path, found.str(path), last.str("transaction."+path))
		}
	}
	completed := slices.Contains(c.events, "COMPLETED") || slices.Contains(c.events, "INCOMING_PAYMENT.COMPLETED")
	if settled := found.str("settledAt") != ""; settled != completed {
		s.t.Errorf("settledAt %q after %v", found.str("settledAt"), c.events)
	}
	if found.str("refund.status") != "" && (found.str("refund.settledAt") != "") != (found.str("refund.status") == "COMPLETED") {
		s.t.Errorf("a refund that is %s was settled at %q", found.str("refund.status"), found.str("refund.settledAt"))
	}
	if reference := found.str("refund.reference"); found.str("refund.status") != "" && (reference == "-REFUND" || !strings.HasSuffix(reference, "-REFUND")) {
		s.t.Errorf("the reference of the refund is %q", reference)
	}
	if quote := found.str("quoteId"); quote != "" {
		status := found.str("status")
		if completed {
			status = "COMPLETED" // a quote that ran stays so, whatever the bank does later
		}
		s.get("/quotes/" + quote).want(200).each(map[string]any{"status": status, "transactionId": transaction})
	}
}
