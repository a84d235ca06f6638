// Package partnertest has a sidecar for tests: a small bank behind the contract of docs/partner-contract.md, which keeps
// everything in memory, and which can be made to break each rule.
package partnertest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"causeway/adapters/rails/partner"
	"causeway/core/signedmessage"
)

// Course is what becomes of a payment.
type Course string

// The courses.
const (
	Settles      Course = "settles"
	Rejects      Course = "is rejected at once"
	RejectsLater Course = "is accepted, and rejected later"
	Holds        Course = "is pending for a while"
	Refuses      Course = "is refused once by 503"
	Busy         Course = "is refused by 503 until Relent"
	LosesAnswer  Course = "is done, and the first answer is lost"
	Returns      Course = "settles, and is returned"
	Receives     Course = "settles, and the money comes in again"
	Reverses     Course = "settles, comes in again, and is taken back"
	Charges      Course = "settles, and costs a fee"
	Silent       Course = "is answered with nonsense"
)

// testValues are the courses by the last two digits of the amount in minor units.
var testValues = map[int64]Course{91: Rejects, 92: RejectsLater, 93: Holds, 94: Refuses, 95: LosesAnswer, 96: Returns, 97: Receives,
	98: Reverses, 99: Charges}

// TestValue returns the course that an amount selects.
func TestValue(p partner.Payment) Course {
	if course, found := testValues[int64(p.Amount.Minor)%100]; found {
		return course
	}
	return Settles
}

// Sidecar is a bank. Its fields are set before it is used. Create it with New.
type Sidecar struct {
	Secrets signedmessage.Secrets
	Now     func() time.Time
	Course  func(partner.Payment) Course
	Fault   Fault

	mu       sync.Mutex
	payments map[paymentKey]*payment
	order    []*payment
	events   []partner.Event
	balance  map[string]partner.Minor
	relented bool
	nonsense int
	cursors  map[int]bool        // that had events after them
	refused  map[paymentKey]bool // payments that were refused once
}

// paymentKey identifies a payment: the refund of a payout has the id of the payout.
type paymentKey struct {
	kind partner.Kind
	id   string
}

func keyOf(p partner.Payment) paymentKey { return paymentKey{p.Kind, p.ID} }

// withID returns the first payment with an id.
func (s *Sidecar) withID(id string) (*payment, bool) {
	i := slices.IndexFunc(s.order, func(p *payment) bool { return p.ID == id })
	if i < 0 {
		return nil, false
	}
	return s.order[i], true
}

// payment is a payment as the bank has it.
type payment struct {
	partner.Payment
	course   Course
	state    partner.State
	steps    int
	answered bool
	moved    []partner.Amount
}

// openingBalance is what the account holds at first of each currency that is used.
const openingBalance partner.Minor = 4_000_000_000_000_000_000

// New returns a sidecar whose payments take the courses of the test values.
func New(secrets signedmessage.Secrets, now func() time.Time) *Sidecar {
	return &Sidecar{Secrets: secrets, Now: now, Course: TestValue, payments: map[paymentKey]*payment{}, cursors: map[int]bool{},
		refused: map[paymentKey]bool{}, balance: map[string]partner.Minor{"USD": openingBalance}}
}

// Submit takes a payment, or finds it, and returns its state and the status of the answer.
func (s *Sidecar) submit(p partner.Payment) (partner.State, int) {
	key := keyOf(p)
	known, found := s.payments[key]
	if found && s.Fault == PaysAgain {
		s.move(known)
	}
	if found && s.Fault == NewPartnerID {
		known.state.PartnerID += "x"
	}
	if found && known.Amount != p.Amount && s.Fault != IgnoresConflicts {
		return partner.State{}, http.StatusConflict
	}
	if found {
		return known.state, http.StatusOK
	}
	course := s.Course(p)
	takes := course == Refuses && s.Fault == TakesWhenBusy
	if course == Busy && !s.relented || course == Refuses && s.Fault != RejectsWhenBusy && !takes && !s.refused[key] {
		s.refused[key] = s.Fault != AlwaysBusy
		return partner.State{}, http.StatusServiceUnavailable
	}
	known = &payment{Payment: p, course: course, state: partner.State{ID: p.ID, Status: partner.Accepted, Amount: p.Amount,
		AcceptedAt: s.Now(), ExpectedSettlementAt: s.Now().Add(time.Hour)}}
	s.payments[key], s.order = known, append(s.order, known)
	known.state.PartnerID = "B" + strconv.Itoa(len(s.order))
	switch {
	case course == Rejects, course == Refuses && s.Fault == RejectsWhenBusy:
		known.reject(s)
	case course == Holds || course == Silent:
		known.state.Status, known.state.AcceptedAt, known.state.Code, known.state.Text = partner.Pending, time.Time{}, "CLOSED",
			"The bank is closed."
	}
	if takes {
		return partner.State{}, http.StatusServiceUnavailable
	}
	return known.state, http.StatusCreated
}

func (p *payment) reject(s *Sidecar) {
	p.state.Status, p.state.ExpectedSettlementAt = partner.Rejected, time.Time{}
	if s.Fault != OmitsCodes {
		p.state.Code, p.state.Text = "AC04", "The account is closed."
	}
}

// Relent ends what is held back.
func (s *Sidecar) Relent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.relented = true
}

// Step lets the bank work on every payment once.
func (s *Sidecar) Step() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.order {
		p.steps++
		s.work(p)
	}
}

// settlesAfter and returnsAfter are in steps; a payment is held for holdsFor.
const (
	settlesAfter = 2
	holdsFor     = 4
	returnsAfter = 12
)

func (s *Sidecar) work(p *payment) {
	switch {
	case p.state.Status == partner.Pending && (s.relented || p.course == Holds && p.steps >= holdsFor) && s.Fault != HoldsForever:
		p.state.Status, p.state.AcceptedAt, p.state.Code, p.state.Text, p.steps = partner.Accepted, s.Now(), "", "", 0
	case p.state.Status == partner.Accepted && p.steps >= settlesAfter && p.course == RejectsLater:
		p.reject(s)
		s.report(p)
	case p.state.Status == partner.Accepted && p.steps >= settlesAfter:
		s.settle(p)
	case p.state.Status == partner.Settled && p.course == Returns && p.steps >= returnsAfter && s.Fault != ReturnsNothing:
		s.takeBack(p)
	}
}

// settle moves the money of a payment.
func (s *Sidecar) settle(p *payment) {
	p.state.Status, p.state.SettledAt, p.state.ExpectedSettlementAt = partner.Settled, s.Now(), time.Time{}
	s.move(p)
	s.report(p)
	receipt := partner.ReceiptEvent{PartnerID: "R-" + p.state.PartnerID, Rail: p.Rail, Amount: p.Amount, Reference: p.Reference,
		Payer: p.Account}
	switch p.course {
	case Receives, Reverses:
		if s.Fault == OmitsReference {
			receipt.Reference = ""
		}
		s.balance[p.Amount.Currency] += p.Amount.Minor
		s.add(partner.Event{Type: partner.MoneyReceived, PlatformID: p.PlatformID, Receipt: &receipt})
	case Charges:
		s.add(partner.Event{Type: partner.FeeCharged, PlatformID: p.PlatformID, Fee: &partner.FeeEvent{PartnerID: "F-" + p.state.PartnerID,
			Rail: p.Rail, Amount: partner.Amount{Minor: 25, Currency: p.Amount.Currency, Decimals: p.Amount.Decimals}, Memo: "one payment"}})
	default:
	}
	if p.course == Reverses {
		reversal := partner.ReversalEvent{ReceiptID: receipt.PartnerID, PartnerID: "V-" + p.state.PartnerID, Rail: p.Rail, Code: "AC01"}
		if s.Fault == NamesNoReceipt {
			reversal.ReceiptID = "R-unknown"
		}
		s.add(partner.Event{Type: partner.ReceiptReversed, PlatformID: p.PlatformID, Reversal: &reversal})
	}
}

func (s *Sidecar) move(p *payment) {
	p.moved = append(p.moved, p.Amount)
	if p.Kind == partner.Collection {
		s.balance[p.Amount.Currency] += p.Amount.Minor
		return
	}
	s.balance[p.Amount.Currency] -= p.Amount.Minor
}

func (s *Sidecar) takeBack(p *payment) {
	p.state.Status, p.state.ReturnedAt, p.state.Code = partner.Returned, s.Now(), "AC03"
	s.report(p)
}

// TakeBack returns a payment that has settled.
func (s *Sidecar) TakeBack(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, found := s.withID(id)
	if !found || p.state.Status != partner.Settled {
		return fmt.Errorf("payment %s has not settled", id)
	}
	s.takeBack(p)
	return nil
}

// Moved returns what was moved for a payment, once for each time.
func (s *Sidecar) Moved(id string) []partner.Amount {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, found := s.withID(id)
	if !found {
		return nil
	}
	return slices.Clone(p.moved)
}

// Payment returns a payment as it was received.
func (s *Sidecar) Payment(id string) (partner.Payment, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, found := s.withID(id)
	if !found {
		return partner.Payment{}, false
	}
	return p.Payment, true
}

// report adds an event about a payment.
func (s *Sidecar) report(p *payment) {
	event := partner.PaymentEvent{Kind: p.Kind, ID: p.ID, PlatformID: p.PlatformID, Status: p.state.Status}
	if s.Fault == OmitsPlatform {
		event.PlatformID = ""
	}
	s.add(partner.Event{Type: partner.PaymentChanged, Payment: &event})
}

// add adds an event.
func (s *Sidecar) add(e partner.Event) {
	e.ID, e.At = "evt_"+strconv.Itoa(len(s.events)+1), s.Now()
	if s.Fault == SameEventID {
		e.ID = "evt_1"
	}
	s.events = append(s.events, e)
}

// Events returns the events after the first n.
func (s *Sidecar) Events(n int) []partner.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events[min(n, len(s.events)):])
}

// Receive lets money come in.
func (s *Sidecar) Receive(e partner.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(e)
}
