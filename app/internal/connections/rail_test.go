package connections_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/app/internal/apptest"
	"causeway/app/internal/connections"
	"causeway/app/rails"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

// bank is an adapter in memory that delivers a payout when it is asked to.
type bank struct {
	ports.ConnectedRail
	name     string
	receives bool
	mu       sync.Mutex
	sent     []uuid.UUID // each once, in order
	calls    int
	outcomes map[uuid.UUID]ports.Outcome // Waiting unless set
	// meanwhile happens once, while the bank answers.
	meanwhile func()
}

func (b *bank) Send(_ context.Context, payouts []ports.Payout) []ports.Outcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	outcomes := make([]ports.Outcome, len(payouts))
	for i, p := range payouts {
		id := p.Transaction.ID.UUID()
		if _, again := b.outcomes[id]; !again {
			b.sent = append(b.sent, id)
			b.outcomes[id] = ports.Outcome{Verdict: ports.Waiting, RetryAt: apptest.Noon}
		}
		outcomes[i] = b.outcomes[id]
	}
	if meanwhile := b.meanwhile; meanwhile != nil {
		b.meanwhile = nil
		meanwhile()
	}
	return outcomes
}

func (b *bank) Status(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return b.Send(ctx, payouts)
}

func (b *bank) Collect(_ context.Context, collections []ports.Collection) []ports.Outcome {
	return apptest.AllOutcomes[ports.Collection](ports.Outcome{Verdict: ports.Done})(context.Background(), collections)
}

func (b *bank) Refund(_ context.Context, refunds []ports.Refund) []ports.Outcome {
	return apptest.AllOutcomes[ports.Refund](ports.Outcome{Verdict: ports.Waiting, RetryAt: apptest.Noon})(context.Background(), refunds)
}

func (b *bank) settle(verdict ports.Verdict, payouts ...ports.Payout) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range payouts {
		b.outcomes[p.Transaction.ID.UUID()] = ports.Outcome{Verdict: verdict, PartnerID: "B-1"}
	}
}

func (b *bank) Instructions(_ ident.Platform, reference string, _ money.Currency, _ string) ([]account.Instruction, error) {
	if !b.receives {
		return nil, fault.New(fault.InvalidCurrency, "sends only")
	}
	return []account.Instruction{{Notes: b.name + " " + reference}}, nil
}

func (b *bank) Funding(_ ident.Platform, owner, reference string, _ money.Currency) ([]account.Instruction, error) {
	return []account.Instruction{{Notes: b.name + " " + owner + " " + reference}}, nil
}

func (b *bank) Close() error { return nil }

// railEnv is a database with connections to banks.
type railEnv struct {
	*apptest.Env
	t     testing.TB
	banks map[string]*bank
	// broken is the connection that cannot be opened.
	broken string
}

func newRailEnv(t *testing.T) *railEnv {
	return &railEnv{Env: apptest.New(t), t: t, banks: map[string]*bank{}}
}

// set stores the next version of a connection for SEPA payments in euros.
func (e *railEnv) set(name string, edits ...func(*rail.Connection)) {
	e.t.Helper()
	history, err := e.Store.RailConnectionHistory(e.t.Context(), name)
	if err != nil {
		e.t.Fatal(err)
	}
	c := rail.Connection{Name: name, Adapter: rail.Partner, Version: len(history) + 1,
		Rails: []corridor.Rail{corridor.SEPA, corridor.SEPAInstant}, Currencies: []money.Currency{"EUR"}, SetAt: e.Clock.Now()}
	for _, edit := range edits {
		edit(&c)
	}
	portstest.SaveConnection(e.t, e.Store.Connections(), ports.RailConnectionVersion{Connection: c, By: "ana", Note: "test"})
	if e.banks[name] == nil {
		e.banks[name] = &bank{name: name, outcomes: map[uuid.UUID]ports.Outcome{}}
	}
}

// process returns the rail of one more process, which has read the connections.
func (e *railEnv) process(store connections.Store) *connections.Rail {
	e.t.Helper()
	c := connections.New(connections.Config{Store: e.Store, Open: e.open,
		Bound: func(r ports.Rail) ports.Rail { return r }, Clock: e.Clock, IDs: e.IDs, Log: e.Log})
	if err := c.Refresh(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
	return connections.NewRail(c, store, e.Store)
}

func (e *railEnv) open(c rail.Connection) (ports.ConnectedRail, error) {
	if c.Name == e.broken {
		return nil, errors.New("settings.url: is required")
	}
	return e.banks[c.Name], nil
}

// balance has the partner report a balance.
func (e *railEnv) balance(name string, minor int64) {
	e.t.Helper()
	if err := e.Store.SaveRailBalances(e.t.Context(), name,
		[]ports.RailBalance{{Amount: money.Amount{Minor: minor, Currency: "EUR"}, At: e.Clock.Now()}}); err != nil {
		e.t.Fatal(err)
	}
}

func (e *railEnv) pause(name string, paused bool) {
	e.t.Helper()
	if err := e.Store.SaveRailPause(e.t.Context(), ports.RailPause{Name: name, Paused: paused, By: "ana", Note: "test",
		At: e.Clock.Now()}); err != nil {
		e.t.Fatal(err)
	}
}

// payout returns a payout over SEPA.
func (e *railEnv) payout(minor int64) ports.Payout {
	amount := money.Amount{Minor: minor, Currency: "EUR"}
	return ports.Payout{Account: account.External{Platform: e.Platform.ID, Type: "EUR_ACCOUNT",
		Fields: map[string]string{"iban": "DE89370400440532013000"}},
		Transaction: transaction.Transaction{ID: ident.NewTransaction(e.IDs.New, e.Clock.Now()), Platform: e.Platform.ID,
			DestinationRail: corridor.SEPA,
			Pricing:         transaction.Pricing{Sent: amount, Received: amount}}}
}

// state returns the state of a payout, and what it waits for.
func (e *railEnv) state(p ports.Payout) string {
	e.t.Helper()
	found, err := e.Store.RailPaymentsByID(e.t.Context(), p.Transaction.ID.UUID())
	if err != nil || len(found) != 1 {
		e.t.Fatalf("payments %+v, %v", found, err)
	}
	return fmt.Sprintf("%s %s %s", found[0].Connection, found[0].State, found[0].Wait)
}

func (e *railEnv) wantStates(want string, payouts ...ports.Payout) {
	e.t.Helper()
	for _, p := range payouts {
		if got := e.state(p); got != want {
			e.t.Errorf("the payout of %s is %q, want %q", p.Transaction.Pricing.Received, got, want)
		}
	}
}

// verdict sends one payout.
func (e *railEnv) verdict(r *connections.Rail, p ports.Payout) ports.Outcome {
	e.t.Helper()
	return r.Send(e.t.Context(), []ports.Payout{p})[0]
}

func (e *railEnv) sendQueued(r *connections.Rail) {
	e.t.Helper()
	if err := r.SendQueued(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

// callsDue returns the subjects about which the rail is to be called.
func (e *railEnv) callsDue() int {
	e.t.Helper()
	jobs, err := e.Store.ListJobs(ports.ForAllPlatforms(e.t.Context()), ports.JobFilter{Step: "call-again", Limit: 100})
	if err != nil {
		e.t.Fatal(err)
	}
	n := 0
	for _, j := range jobs {
		n += len(j.Subjects)
	}
	return n
}

func (e *railEnv) account(name string) rail.Account {
	e.t.Helper()
	accounts, err := e.Store.RailAccounts(e.t.Context(), name, e.Clock.Now())
	if err != nil || len(accounts) != 1 {
		e.t.Fatalf("accounts %+v, %v", accounts, err)
	}
	return accounts[0]
}

func TestRail_KeepsTheRecordedConnection(t *testing.T) {
	t.Parallel()
	// A payment takes one connection for all its calls, also when another one would be chosen now.
	e := newRailEnv(t)
	e.set("bank-b")
	first, p := e.process(e.Store), e.payout(100)
	e.verdict(first, p)
	e.set("bank-a")
	second := e.process(e.Store)
	later := e.payout(100)

	e.verdict(second, p)
	e.verdict(second, later)
	e.banks["bank-b"].settle(ports.Done, p)
	outcome := e.verdict(second, p)
	e.banks["bank-b"].settle(ports.Returned, p)
	status := second.Status(t.Context(), []ports.Payout{p, e.payout(1)})

	if outcome.Verdict != ports.Done || status[0].Verdict != ports.Returned || status[1].Verdict != ports.Unknown {
		t.Errorf("outcomes %+v, %+v", outcome, status)
	}
	e.wantStates("bank-b RETURNED ", p)
	e.wantStates("bank-a HANDED_OVER ", later)
	if a, b := e.banks["bank-a"].sent, e.banks["bank-b"].sent; len(a) != 1 || len(b) != 1 {
		t.Errorf("bank-a was sent %v, bank-b %v", a, b)
	}
}

func TestRail_AnswerAfterThePaymentWasTakenAway(t *testing.T) {
	t.Parallel()
	// While a connection answers, an operator takes the payment away from it. Its answer settles nothing: the payment goes on where it is
	// now, and the account of the other connection counts what it has. A cancellation stands.
	queued := func(e *railEnv, r *connections.Rail, operators *rails.Service, id uuid.UUID) error {
		_, err := operators.Move(e.t.Context(), id, "bank-2", rails.Author{Actor: "ana", Note: "test"})
		return err
	}
	for name, tt := range map[string]struct {
		take    func(e *railEnv, r *connections.Rail, operators *rails.Service, id uuid.UUID) error
		state   string
		verdict ports.Verdict
	}{
		"moved": {queued, "bank-2 QUEUED FUNDS", ports.Waiting},
		"moved and handed over": {func(e *railEnv, r *connections.Rail, operators *rails.Service, id uuid.UUID) error {
			return errors.Join(queued(e, r, operators, id), r.SendQueued(e.t.Context()))
		}, "bank-2 HANDED_OVER ", ports.Waiting},
		"withdrawn": {func(e *railEnv, _ *connections.Rail, operators *rails.Service, id uuid.UUID) error {
			_, err := operators.Withdraw(e.t.Context(), id, rails.Author{Actor: "ana", Note: "test"})
			return err
		}, "bank-1 REVIEW REVIEW", ports.Waiting},
		"cancelled": {func(e *railEnv, _ *connections.Rail, operators *rails.Service, id uuid.UUID) error {
			_, err := operators.Cancel(e.t.Context(), id, rails.Author{Actor: "ana", Note: "test"})
			return err
		}, "bank-1 CANCELLED ", ports.Refused},
	} {
		for _, said := range []ports.Verdict{ports.Refused, ports.CancelledByUser, ports.Done} {
			if name == "cancelled" && said == ports.Done {
				continue
			}
			t.Run(fmt.Sprintf("%s, answer %v", name, said), func(t *testing.T) {
				t.Parallel()
				e := newRailEnv(t)
				e.set("bank-1")
				e.set("bank-2", func(c *rail.Connection) { c.Priority = 1 })
				r, p := e.process(e.Store), e.payout(100)
				operators := rails.New(rails.Config{Store: e.Store, Connections: e.Store.Connections(), Open: e.open, Clock: e.Clock, IDs: e.IDs})
				e.verdict(r, p)
				e.wantStates("bank-1 HANDED_OVER ", p)
				e.banks["bank-1"].settle(said, p)
				e.banks["bank-1"].meanwhile = func() {
					if err := tt.take(e, r, operators, p.Transaction.ID.UUID()); err != nil {
						t.Error(err)
					}
				}

				o := e.verdict(r, p)

				if tt.verdict == ports.Waiting && (o.Verdict != ports.Waiting || o.RetryAt.IsZero() || o.PartnerID != "" ||
					o.InReview != (name == "withdrawn")) || tt.verdict == ports.Refused && ports.Waiting == o.Verdict {
					t.Errorf("the outcome is %+v", o)
				}
				e.wantStates(tt.state, p)
				inFlight := map[string]int64{}
				for _, name := range []string{"bank-1", "bank-2"} {
					accounts, err := e.Store.RailAccounts(t.Context(), name, e.Clock.Now())
					if err != nil {
						t.Fatal(err)
					}
					for _, a := range accounts {
						inFlight[name] += a.InFlight
					}
				}
				if want := map[bool]int64{true: 100}[tt.state == "bank-2 HANDED_OVER "]; inFlight["bank-1"] != 0 || inFlight["bank-2"] != want {
					t.Errorf("in flight: %v", inFlight)
				}
			})
		}
	}
}

func TestRail_WaitsForMoneyInOrder(t *testing.T) {
	t.Parallel()
	// A payout that the account cannot cover waits, and so do later ones. With a new balance they are sent in order, as far
	// as it goes. What was paid out since a balance is not available.
	e := newRailEnv(t)
	e.set("bank")
	r := e.process(e.Store)
	e.balance("bank", 150)
	covered, big, small, last := e.payout(100), e.payout(80), e.payout(10), e.payout(500)
	e.Clock.Advance(time.Second)
	for _, p := range []ports.Payout{covered, big, small, last} {
		e.verdict(r, p)
		e.Clock.Advance(time.Second)
	}
	e.wantStates("bank HANDED_OVER ", covered)
	e.wantStates("bank QUEUED FUNDS", big, small, last)
	e.banks["bank"].settle(ports.Done, covered)
	e.verdict(r, covered)
	e.sendQueued(r)
	e.wantStates("bank QUEUED FUNDS", big, small, last)

	e.Clock.Advance(time.Second)
	e.balance("bank", 100) // after the payout of 100, and 50 paid in
	e.sendQueued(r)
	e.sendQueued(e.process(e.Store))

	e.wantStates("bank HANDED_OVER ", big, small)
	e.wantStates("bank QUEUED FUNDS", last)
	if n := e.callsDue(); n != 2 {
		t.Errorf("%d calls are due, want 2", n)
	}
	if outcome := e.verdict(r, last); outcome.Verdict != ports.Waiting || outcome.Text != "bank has 0.10 EUR available" {
		t.Errorf("outcome %+v", outcome)
	}
	if a := e.account("bank"); a.InFlight != 90 || a.Moved != 0 || a.Balance != 100 {
		t.Errorf("account %+v", a)
	}
	if n := len(e.banks["bank"].sent); n != 1 { // the others are sent by their jobs
		t.Errorf("the bank was sent %d payouts", n)
	}
}

func TestRail_LimitsHoldAcrossProcesses(t *testing.T) {
	t.Parallel()
	// Many processes hand over payments at the same time: together no more than the limits and the balance allow.
	e := newRailEnv(t)
	e.set("bank", func(c *rail.Connection) { c.Limits = []rail.Limit{{Currency: "EUR", PerDay: 1000}} })
	e.balance("bank", 1_000_000)
	var running sync.WaitGroup
	for range 4 {
		r := e.process(e.Store)
		running.Go(func() {
			for range 5 {
				r.Send(t.Context(), []ports.Payout{e.payout(90), e.payout(90)})
			}
		})
	}
	running.Wait()

	sent := len(e.banks["bank"].sent)
	waiting, err := e.Store.WaitingRailPayments(t.Context(), rail.InReview, "bank", 100)
	if sent != 11 || len(waiting) != 29 || err != nil {
		t.Errorf("%d were sent and %d wait, %v; want 11 and 29", sent, len(waiting), err)
	}
	if a := e.account("bank"); a.InFlight != 990 || a.Usage[corridor.SEPA] != (rail.Usage{Hour: 990, Day: 990}) {
		t.Errorf("account %+v", a)
	}
	if o := e.verdict(e.process(e.Store), e.payout(90)); o.Verdict != ports.Waiting || !o.InReview {
		t.Errorf("the outcome of one that waits for a review is %+v", o)
	}
}

func TestRail_PauseStopsWhatIsNew(t *testing.T) {
	t.Parallel()
	// While a connection or a rail is paused nothing new is handed over, and what was handed over is still asked about.
	for _, name := range []string{"bank", "SEPA"} {
		e := newRailEnv(t)
		e.set("bank")
		r := e.process(e.Store)
		before, paused := e.payout(1), e.payout(2)
		e.verdict(r, before)
		e.pause(name, true)
		if o := e.verdict(r, paused); o.InReview {
			t.Errorf("what is paused is in review: %+v", o)
		}
		e.sendQueued(r)
		e.wantStates("bank QUEUED RESUMPTION", paused)
		calls := e.banks["bank"].calls
		e.verdict(r, before)
		if e.banks["bank"].calls != calls+1 {
			t.Errorf("%s: the bank was not asked about what it has", name)
		}

		e.pause(name, false)
		e.sendQueued(r)

		e.wantStates("bank HANDED_OVER ", paused)
	}
}

func TestRail_WaitingIsLookedAtLessAndLess(t *testing.T) {
	t.Parallel()
	// The job of a payment that waits looks at it again after as long as it has waited: at least ten seconds, at most a
	// quarter of an hour.
	e := newRailEnv(t)
	e.set("bank")
	e.pause("bank", true)
	r, p := e.process(e.Store), e.payout(1)
	for _, tt := range []struct{ later, want time.Duration }{
		{0, 10 * time.Second}, {time.Minute, time.Minute}, {4 * time.Minute, 5 * time.Minute}, {time.Hour, 15 * time.Minute},
	} {
		e.Clock.Advance(tt.later)
		if got := e.verdict(r, p).RetryAt.Sub(e.Clock.Now()); got != tt.want {
			t.Errorf("called again after %s, want %s", got, tt.want)
		}
	}
}

func TestRail_WithoutConnectionWaits(t *testing.T) {
	t.Parallel()
	// A payout that no connection serves any more waits, and takes the one that does later.
	e := newRailEnv(t)
	r, p := e.process(e.Store), e.payout(5)
	if outcome := e.verdict(r, p); outcome.Verdict != ports.Waiting || outcome.Text != "no connection carries EUR over SEPA" {
		t.Errorf("outcome %+v", outcome)
	}
	e.sendQueued(r)
	e.wantStates(" QUEUED CONNECTION", p)

	e.set("bank")
	r = e.process(e.Store)
	e.sendQueued(r) // finds the connection
	e.sendQueued(r)

	e.wantStates("bank HANDED_OVER ", p)
}

// reason returns why a payout waits.
func (e *railEnv) reason(p ports.Payout) string {
	e.t.Helper()
	found, err := e.Store.RailPaymentsByID(e.t.Context(), p.Transaction.ID.UUID())
	if err != nil || len(found) != 1 {
		e.t.Fatalf("payments %+v, %v", found, err)
	}
	return found[0].Reason
}

func TestRail_RoutesOnlyToWhatWasTested(t *testing.T) {
	t.Parallel()
	// A connection that was not tested takes no payment, and no instruction names it. The payment waits with the reason, and
	// customers are not shown it. From the test on, what waited is sent, and a version that was not tested changes nothing of it.
	e := newRailEnv(t)
	untested := func(c *rail.Connection) { c.Untested = true }
	e.set("bank", untested)
	e.banks["bank"].receives = true
	r, p := e.process(e.Store), e.payout(100)
	route := rail.Route{Platform: e.Platform.ID, Rail: corridor.SEPA, Currency: "EUR"}
	if err := r.Carries(route); !fault.Is(err, fault.NotImplemented) || strings.Contains(err.Error(), "bank") {
		t.Errorf("a quote: %v", err)
	}
	if shown, err := r.Instructions(e.Platform.ID, "R1", "EUR", ""); !fault.Is(err, fault.NotImplemented) {
		t.Errorf("instructions %+v, %v", shown, err)
	}
	e.verdict(r, p)
	e.wantStates(" QUEUED CONNECTION", p)
	if got := e.reason(p); got != "bank carries it, but was not tested: run causeway rails test bank" {
		t.Errorf("it waits because %s", got)
	}
	seen, err := e.Store.RailConnections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Store.SaveRailTest(t.Context(), ports.RailTest{Connection: "bank", Version: 1, Passed: true, At: e.Clock.Now()},
		seen, nil); err != nil {
		t.Fatal(err)
	}
	e.set("bank", untested, func(c *rail.Connection) { c.Rails = []corridor.Rail{corridor.Wire} })

	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.sendQueued(r) // it has a connection now
	e.sendQueued(r)

	e.wantStates("bank HANDED_OVER ", p)
	if shown, err := r.Instructions(e.Platform.ID, "R1", "EUR", ""); err != nil || len(shown) != 1 || r.Carries(route) != nil {
		t.Errorf("instructions %+v, %v", shown, err)
	}
}

func TestRail_RetiredConnectionFinishesWhatItHas(t *testing.T) {
	t.Parallel()
	// A retired connection takes no new payment, and no instruction names it. What it has is asked about until it is done.
	e := newRailEnv(t)
	e.set("bank-a")
	e.set("bank-b")
	e.banks["bank-a"].receives, e.banks["bank-b"].receives = true, true
	r, before, later := e.process(e.Store), e.payout(1), e.payout(2)
	e.verdict(r, before)
	e.set("bank-a", func(c *rail.Connection) { c.Retired = true })
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}

	e.verdict(r, later)
	e.banks["bank-a"].settle(ports.Done, before)
	e.verdict(r, before)
	shown, err := r.Instructions(e.Platform.ID, "R1", "EUR", "")
	funding, errFunding := r.Funding(e.Platform.ID, "Ana", "R1", "EUR")

	e.wantStates("bank-a DONE ", before)
	e.wantStates("bank-b HANDED_OVER ", later)
	if err != nil || errFunding != nil || len(shown) != 1 || shown[0].Notes != "bank-b R1" || len(funding) != 1 {
		t.Errorf("instructions %+v and %+v, %v, %v", shown, funding, err, errFunding)
	}
}

func TestRail_PrefersWhatIsOpen(t *testing.T) {
	t.Parallel()
	// A connection that this process cannot open takes no new payment that another one serves. If none does, the payment waits for it.
	e := newRailEnv(t)
	e.broken = "bank-a"
	e.set("bank-a")
	first := e.payout(1)
	e.verdict(e.process(e.Store), first)
	e.set("bank-b")
	second := e.payout(2)

	e.verdict(e.process(e.Store), second)

	e.wantStates("bank-a HANDED_OVER ", first)
	e.wantStates("bank-b HANDED_OVER ", second)
}

func TestRail_LostCommitsMoveMoneyOnce(t *testing.T) {
	t.Parallel()
	// If the database fails before or after the call, the call is repeated by another process, and money moves once.
	e := newRailEnv(t)
	e.set("bank")
	r, p := e.process(e.Store), e.payout(5)
	broken := e.process(brokenStore{e.Store})
	if outcome := e.verdict(broken, p); outcome.Verdict != ports.Unknown || len(e.banks["bank"].sent) != 0 {
		t.Errorf("outcome %+v; sent %v before it was recorded", outcome, e.banks["bank"].sent)
	}
	e.verdict(r, p)
	e.banks["bank"].settle(ports.Done, p)
	if outcome := e.verdict(broken, p); outcome.Verdict != ports.Unknown {
		t.Errorf("outcome %+v, and it is not recorded", outcome)
	}

	outcome := e.verdict(r, p)

	if outcome.Verdict != ports.Done || len(e.banks["bank"].sent) != 1 {
		t.Errorf("outcome %+v, sent %v", outcome, e.banks["bank"].sent)
	}
	e.wantStates("bank DONE ", p)
}

// brokenStore is a store whose units of work fail.
type brokenStore struct{ connections.Store }

func (brokenStore) DoUnit(context.Context, func(ctx context.Context, unit any) error) error {
	return ports.ErrStoreUnavailable
}

func TestRail_InstructionsOfEveryReceivingConnection(t *testing.T) {
	t.Parallel()
	// A payer can pay over every connection that receives the currency. Without one the quote is refused.
	e := newRailEnv(t)
	e.set("bank-b")
	e.set("bank-a")
	e.set("sends-only")
	e.set("other-platform", func(c *rail.Connection) { c.Platforms = []ident.Platform{ident.NewPlatform(e.IDs.New, apptest.Noon)} })
	e.banks["bank-a"].receives, e.banks["bank-b"].receives, e.banks["other-platform"].receives = true, true, true
	r := e.process(e.Store)

	instructions, err := r.Instructions(e.Platform.ID, "REF", "EUR", "")
	funding, errFunding := r.Funding(e.Platform.ID, "Ana", "REF", "EUR")

	if err != nil || len(instructions) != 2 || instructions[0].Notes != "bank-a REF" || instructions[1].Notes != "bank-b REF" {
		t.Errorf("instructions %+v, %v", instructions, err)
	}
	if errFunding != nil || len(funding) != 3 || funding[0].Notes != "bank-a Ana REF" {
		t.Errorf("funding %+v, %v", funding, errFunding)
	}
	if _, err := r.Instructions(e.Platform.ID, "REF", "USD", ""); !fault.Is(err, fault.NotImplemented) {
		t.Errorf("instructions for dollars: %v", err)
	}
	if _, err := r.Instructions(e.Platform.ID, "REF", "BTC", "LIGHTNING"); !fault.Is(err, fault.NotImplemented) {
		t.Errorf("instructions for lightning: %v", err)
	}
}

func TestRail_InstructionsWhileAConnectionIsDown(t *testing.T) {
	t.Parallel()
	// A quote is paid over the connections that are open; without one it is refused for now. The instructions of an account
	// are permanent, and wait for all of them.
	e := newRailEnv(t)
	e.set("bank-a")
	e.set("bank-b")
	e.banks["bank-a"].receives = true
	e.broken = "bank-b"
	r := e.process(e.Store)

	instructions, err := r.Instructions(e.Platform.ID, "REF", "EUR", "")
	_, errFunding := r.Funding(e.Platform.ID, "Ana", "REF", "EUR")
	e.broken = "bank-a"
	e.banks["bank-b"].receives = false
	_, errDown := e.process(e.Store).Instructions(e.Platform.ID, "REF", "EUR", "")

	if err != nil || len(instructions) != 1 {
		t.Errorf("instructions %+v, %v", instructions, err)
	}
	if !fault.Is(errFunding, fault.ServiceUnavailable) || !fault.Is(errDown, fault.ServiceUnavailable) {
		t.Errorf("funding: %v, no open connection: %v", errFunding, errDown)
	}
	e.set("bank-b", func(c *rail.Connection) { c.Retired = true })
	down, p := e.process(e.Store), e.payout(1)
	if outcome := e.verdict(down, p); outcome.Verdict != ports.Waiting || outcome.Text != "the connection bank-a cannot be opened" {
		t.Errorf("outcome %+v", outcome)
	}
	e.broken = ""
	e.verdict(e.process(e.Store), p)
	if sent := e.banks["bank-a"].sent; len(sent) != 1 {
		t.Errorf("sent %v", sent)
	}
}

func TestRail_RefundTakesTheConnectionOfTheMoney(t *testing.T) {
	t.Parallel()
	// A refund goes back over the connection that collected or received the money, though another one would be chosen; one to an
	// internal account is done without a call.
	e := newRailEnv(t)
	e.set("bank-b")
	collected := e.payout(7).Transaction
	collected.SourceRail = corridor.SEPA
	old := e.process(e.Store)
	old.Collect(t.Context(), []ports.Collection{{Transaction: collected}})
	e.set("bank-a")
	r := e.process(e.Store)
	refund := ports.Refund{ID: collected.ID.UUID(), Platform: e.Platform.ID, Rail: corridor.SEPA,
		Amount: money.Amount{Minor: 7, Currency: "EUR"},
		Payout: &ports.Payout{Transaction: collected}, Original: ports.Original{Collection: collected.ID}}
	received := transaction.Receipt{ID: ident.NewReceipt(e.IDs.New, apptest.Noon), Platform: e.Platform.ID, Rail: corridor.SEPA,
		PartnerID: "R-1", Amount: refund.Amount, At: apptest.Noon}
	if err := e.Store.KeepRailReceipts(t.Context(), "bank-b", []transaction.Receipt{received}, apptest.Noon); err != nil {
		t.Fatal(err)
	}
	sendBack := ports.Refund{ID: received.ID.UUID(), Platform: e.Platform.ID, Rail: corridor.SEPA, Amount: refund.Amount,
		Original: ports.Original{PartnerID: "R-1"}}
	inside := refund
	inside.Internal, inside.ID = true, uuid.New()

	outcomes := r.Refund(t.Context(), []ports.Refund{inside, refund, sendBack})

	if back, err := e.Store.RailPaymentsByID(t.Context(), sendBack.ID); err != nil || len(back) != 1 || back[0].Kind != rail.SendBack ||
		back[0].Connection != "bank-b" {
		t.Errorf("sent back: %+v, %v", back, err)
	}
	if outcomes[0].Verdict != ports.Done || outcomes[1].Verdict != ports.Waiting {
		t.Errorf("outcomes %+v", outcomes)
	}
	found, err := e.Store.RailPaymentsByID(t.Context(), refund.ID)
	if err != nil || len(found) != 2 || found[1].Kind != rail.Refund || found[1].Connection != "bank-b" {
		t.Errorf("payments %+v, %v", found, err)
	}
}

func TestRail_ConcurrentQueuesNeverOverdraw(t *testing.T) {
	t.Parallel()
	// Processes hand over payments and look at the queue at the same time, while some payments settle: what was handed over
	// is never more than the account had, every payment is handed over once, and in the end as much as it covers.
	e := newRailEnv(t)
	e.set("bank")
	e.balance("bank", 1000)
	bank := e.banks["bank"]
	var running sync.WaitGroup
	for range 4 {
		r := e.process(e.Store)
		running.Go(func() {
			for range 6 {
				batch := []ports.Payout{e.payout(30), e.payout(50), e.payout(20)}
				r.Send(t.Context(), batch)
				bank.settle(ports.Done, batch[0])
				r.Send(t.Context(), batch)
				if err := r.SendQueued(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()

	available, _ := e.account("bank").Available()
	waiting, err := e.Store.WaitingRailPayments(t.Context(), rail.Queued, "bank", 100)
	if err != nil || len(waiting) == 0 {
		t.Fatalf("%d wait, %v", len(waiting), err)
	}
	var queued int64
	for _, p := range waiting {
		queued += p.Amount.Minor
	}
	if handedOver := 4*6*100 - queued; available.Minor != 1000-handedOver || available.Minor < 0 ||
		available.Minor >= waiting[0].Amount.Minor {
		t.Errorf("%s are available after %d were handed over, and the first that waits needs %s", available, handedOver, waiting[0].Amount)
	}
}

// choosy is an adapter that pays to one account.
type choosy struct {
	ports.ConnectedRail
	only string
}

func (c choosy) CheckAccount(a account.External) error {
	if a.Fields["address"] != c.only {
		return fault.Invalid(fault.Field{Field: "accountInfo.address", Message: "must be " + c.only})
	}
	return nil
}

func TestRail_ChecksAccountsThatItCanPayTo(t *testing.T) {
	t.Parallel()
	// An account is refused if every connection that carries its rail refuses it. It is accepted if one of several takes
	// it, if a connection takes every account or is not open, and if no connection carries it.
	var of ident.Platform
	of.SetUUID(uuid.UUID{15: 1})
	account := account.External{Platform: of, Type: account.BitcoinAddress, Currency: money.BTC, Fields: map[string]string{"address": "tb1q"},
		Rails: []corridor.Rail{corridor.Bitcoin}}
	for name, test := range map[string]struct {
		adapters map[string]ports.ConnectedRail
		refused  bool
	}{
		"another network": {map[string]ports.ConnectedRail{"main": choosy{only: "bc1q"}}, true},
		"its network":     {map[string]ports.ConnectedRail{"test": choosy{only: "tb1q"}}, false},
		"one of two":      {map[string]ports.ConnectedRail{"main": choosy{only: "bc1q"}, "test": choosy{only: "tb1q"}}, false},
		"none of two":     {map[string]ports.ConnectedRail{"main": choosy{only: "bc1q"}, "other": choosy{only: "bc1p"}}, true},
		"every account":   {map[string]ports.ConnectedRail{"main": choosy{only: "bc1q"}, "psp": &bank{}}, false},
		"not open":        {map[string]ports.ConnectedRail{"main": nil}, false},
		"no connection":   {nil, false},
	} {
		s := &store{}
		var set []rail.Connection
		for connection := range test.adapters {
			set = append(set, rail.Connection{Name: connection, Version: 1, Rails: []corridor.Rail{corridor.Bitcoin},
				Currencies: []money.Currency{money.BTC}})
		}
		s.set(set...)
		log := logrus.New()
		log.SetOutput(io.Discard)
		opened := connections.New(connections.Config{Store: s, Bound: func(r ports.Rail) ports.Rail { return r },
			Clock: portstest.NewFakeClock(noon), Log: logrus.NewEntry(log),
			Open: func(c rail.Connection) (ports.ConnectedRail, error) {
				if a := test.adapters[c.Name]; a != nil {
					return a, nil
				}
				return nil, errors.New("not available")
			}})
		refresh(t, opened)

		err := connections.NewRail(opened, nil, nil).CheckAccount(account)

		if fault.Is(err, fault.InvalidInput) != test.refused || err != nil && !test.refused {
			t.Errorf("%s: %v, want refused %t", name, err, test.refused)
		}
	}
}
