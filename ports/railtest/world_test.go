package railtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/railtest"
)

// defect is a mistake of the adapter, so that a check must fail.
type defect string

const (
	none            defect = ""
	newKeys         defect = "a new key for each call"
	dropsOutcome    defect = "an outcome too few"
	wrongOrder      defect = "outcomes in another order"
	busyIsRefused   defect = "a temporary refusal is a refusal"
	silentIsRefused defect = "no answer is a refusal"
	noCode          defect = "no code"
	noReason        defect = "no reason"
	newPartnerIDs   defect = "another partner's id"
	noRetryAt       defect = "no time to call again"
	noticesNoReturn defect = "a return is not noticed"
	sendsInternal   defect = "an internal refund is sent"
	noOriginal      defect = "a refund without the original payment"
	lastReportWins  defect = "an older report replaces a newer one"
	savesFirst      defect = "what was not sent is taken as sent"
	onePayment      defect = "instructions without the reference"
	everyCurrency   defect = "instructions for any currency"
	ignoresPause    defect = "a payment leaves during a pause"
	sendsWithdrawn  defect = "a payment leaves that was withdrawn"
)

var defects = []defect{newKeys, dropsOutcome, wrongOrder, busyIsRefused, silentIsRefused, noCode, noReason, newPartnerIDs, noRetryAt,
	noticesNoReturn, sendsInternal, noOriginal, lastReportWins, savesFirst, onePayment, everyCurrency, ignoresPause, sendsWithdrawn}

// world is a partner in memory that reports, and the store of an adapter that passes its reports on.
type world struct {
	mu      sync.Mutex
	defect  defect
	now     time.Time
	courses map[uuid.UUID]railtest.Course
	orders  map[string]*order // at the partner, by key
	// statuses is the store of the adapter: what the partner has reported last, by key.
	statuses map[string]report
	reports  railtest.Reports
	relented bool
	paused   bool
	stopped  map[uuid.UUID]bool // withdrawn
	calls    int
}

type order struct {
	id       uuid.UUID
	amount   money.Amount
	original string
	reports  []report // not read yet
	settled  bool
	number   int
}

// report is a status that the partner has reported; the numbers grow.
type report struct {
	number  int
	verdict ports.Verdict
}

func newWorld(d defect) *world {
	return &world{defect: d, now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), courses: map[uuid.UUID]railtest.Course{},
		orders:   map[string]*order{},
		statuses: map[string]report{}, reports: railtest.Once, stopped: map[uuid.UUID]bool{}}
}

func (w *world) Features() railtest.Features {
	all := []railtest.Course{railtest.Settles, railtest.Rejected, railtest.RefusedForNow, railtest.AnswerLost, railtest.Silent,
		railtest.TakenBack}
	return railtest.Features{Currencies: []money.Currency{"USD"}, Payouts: all, Collections: all, Refunds: all[:5],
		CountsMoney: true, Crashes: true, Reports: true, PartnerIDs: true, Codes: true, NamesOriginal: true, Stops: true}
}

func (w *world) Open(context.Context) (ports.Rail, error) {
	return adapter{world: w, effects: new(-1)}, nil
}

func (w *world) OpenCrashing(_ context.Context, effects int) (ports.Rail, func() bool, error) {
	a := adapter{world: w, effects: &effects}
	return a, func() bool { return effects < -1 }, nil
}

func (w *world) Now() time.Time { return w.now }

func (w *world) id(kind byte, n int, c railtest.Course) uuid.UUID {
	id := uuid.UUID{0: kind, 14: byte(n >> 8), 15: byte(n)}
	w.courses[id] = c
	return id
}

func amount(n int) money.Amount { return money.Amount{Minor: 100 + int64(n), Currency: "USD"} }

func (w *world) Payout(n int, c railtest.Course) (p ports.Payout) {
	p.Transaction.ID.SetUUID(w.id('p', n, c))
	p.Transaction.Pricing.Received = amount(n)
	return p
}

func (w *world) Collection(n int, c railtest.Course) (p ports.Collection) {
	p.Transaction.ID.SetUUID(w.id('c', n, c))
	p.Transaction.Pricing.Sent = amount(n)
	return p
}

func (w *world) Refund(n int, c railtest.Course) ports.Refund {
	return ports.Refund{ID: w.id('r', n, c), Amount: amount(n), Original: ports.Original{PartnerID: "original-" + strconv.Itoa(n)}}
}

// Run lets the partner work, and then its reports arrive.
func (w *world) Run(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(time.Minute)
	for key, o := range w.orders {
		w.work(o)
		if w.reports == railtest.Reversed {
			slices.Reverse(o.reports)
		}
		if w.reports == railtest.Twice {
			o.reports = append(o.reports, o.reports...)
		}
		for _, r := range o.reports {
			if r.number > w.statuses[key].number || w.defect == lastReportWins {
				w.statuses[key] = r
			}
		}
		o.reports = nil
	}
	return nil
}

// work settles an order once.
func (w *world) work(o *order) {
	if o.settled || w.heldBack(o.id) {
		return
	}
	o.settled = true
	final := ports.Done
	if w.courses[o.id] == railtest.Rejected {
		final = ports.Refused
	}
	o.report(ports.Waiting)
	o.report(final)
}

func (o *order) report(v ports.Verdict) {
	o.number++
	o.reports = append(o.reports, report{o.number, v})
}

func (w *world) heldBack(id uuid.UUID) bool {
	return !w.relented && (w.courses[id] == railtest.RefusedForNow || w.courses[id] == railtest.Silent)
}

func (w *world) SetReports(r railtest.Reports) { w.reports = r }

func (w *world) Relent(context.Context) error {
	w.relented = true
	return nil
}

func (w *world) TakeBack(_ context.Context, id uuid.UUID) error {
	for _, o := range w.orders {
		if o.id == id {
			o.report(ports.Returned)
			return nil
		}
	}
	return errors.New("no such order")
}

func (w *world) Moved(_ context.Context, id uuid.UUID) ([]money.Amount, error) {
	var moved []money.Amount
	for _, o := range w.orders {
		if o.id == id && o.settled && w.courses[id] != railtest.Rejected {
			moved = append(moved, o.amount)
		}
	}
	return moved, nil
}

func (w *world) OriginalOf(_ context.Context, id uuid.UUID) (string, error) {
	return w.orders[id.String()].original, nil
}

func (w *world) Pause(_ context.Context, paused bool) error {
	w.paused = paused
	return nil
}

func (w *world) Withdraw(_ context.Context, key ports.RailPaymentKey) (bool, error) {
	w.stopped[key.ID] = true
	return true, nil
}

func (w *world) HandOverAgain(_ context.Context, key ports.RailPaymentKey) error {
	delete(w.stopped, key.ID)
	return nil
}

// mayLeave reports whether a payment may be sent now.
func (w *world) mayLeave(id uuid.UUID) bool {
	return (!w.paused || w.defect == ignoresPause) && (!w.stopped[id] || w.defect == sendsWithdrawn)
}

func (w *world) Close() error { return nil }

// adapter is a process.
type adapter struct {
	*world
	effects *int // that are left before the crash; -1 for a process that does not crash
}

var errCrashed = errors.New("crashed")

// effect counts an effect on the outside.
func (a adapter) effect() error {
	if *a.effects == -1 {
		return nil
	}
	if *a.effects <= 0 {
		*a.effects = -2
		return errCrashed
	}
	*a.effects--
	return nil
}

func (a adapter) Instructions(_ ident.Platform, reference string, c money.Currency, _ string) ([]account.Instruction, error) {
	instructions, _ := a.Funding(ident.Platform{}, "", reference, c)
	if instructions == nil {
		return nil, fault.New(fault.InvalidCurrency, "%s", c)
	}
	return instructions, nil
}

func (a adapter) Funding(_ ident.Platform, owner, reference string, c money.Currency) ([]account.Instruction, error) {
	if c != "USD" && a.defect != everyCurrency {
		return nil, nil
	}
	if a.defect == onePayment {
		reference = "REF"
	}
	return []account.Instruction{{Info: map[string]any{"reference": reference, "accountHolderName": "Bank FBO " + owner}}}, nil
}

func (a adapter) Send(_ context.Context, payouts []ports.Payout) []ports.Outcome {
	return each(a, payouts, func(p ports.Payout) ports.Outcome {
		return a.call(p.Transaction.ID.UUID(), p.Transaction.Pricing.Received, "")
	})
}

func (a adapter) Status(_ context.Context, payouts []ports.Payout) []ports.Outcome {
	return each(a, payouts, func(p ports.Payout) ports.Outcome {
		return a.outcome(p.Transaction.ID.UUID().String(), p.Transaction.ID.UUID())
	})
}

func (a adapter) Collect(_ context.Context, collections []ports.Collection) []ports.Outcome {
	return each(a, collections, func(c ports.Collection) ports.Outcome {
		return a.call(c.Transaction.ID.UUID(), c.Transaction.Pricing.Sent, "")
	})
}

func (a adapter) CollectionStatus(_ context.Context, collections []ports.Collection) []ports.Outcome {
	return each(a, collections, func(c ports.Collection) ports.Outcome {
		return a.outcome(c.Transaction.ID.UUID().String(), c.Transaction.ID.UUID())
	})
}

func (a adapter) Refund(_ context.Context, refunds []ports.Refund) []ports.Outcome {
	return each(a, refunds, func(r ports.Refund) ports.Outcome {
		if r.Internal && a.defect != sendsInternal {
			return ports.Outcome{Verdict: ports.Done}
		}
		if a.defect == noOriginal {
			r.Original = ports.Original{}
		}
		return a.call(r.ID, r.Amount, r.Original.PartnerID)
	})
}

func each[T any](a adapter, list []T, call func(T) ports.Outcome) []ports.Outcome {
	a.mu.Lock()
	defer a.mu.Unlock()
	var outcomes []ports.Outcome
	for _, item := range list {
		outcomes = append(outcomes, call(item))
	}
	if a.defect == dropsOutcome && len(outcomes) > 1 {
		outcomes = outcomes[1:]
	}
	if a.defect == wrongOrder {
		slices.Reverse(outcomes)
	}
	return outcomes
}

// call submits an order to the partner, which takes an order with one key once, and returns what is known of it.
func (a adapter) call(id uuid.UUID, amount money.Amount, original string) ports.Outcome {
	a.calls++
	key := id.String()
	if a.defect == newKeys {
		key += strconv.Itoa(a.calls)
	}
	_, sent := a.statuses[key]
	if !sent && !a.mayLeave(id) {
		return ports.Outcome{Verdict: ports.Waiting, RetryAt: a.now.Add(time.Minute)}
	}
	if a.defect == savesFirst && !sent {
		if a.effect() != nil {
			return ports.Outcome{Verdict: ports.Unknown}
		}
		a.statuses[key] = report{}
	}
	if !sent && (a.courses[id] != railtest.Silent || a.relented) {
		if a.effect() != nil {
			return ports.Outcome{Verdict: ports.Unknown}
		}
		if a.orders[key] == nil {
			a.orders[key] = &order{id: id, amount: amount, original: original}
		}
		if a.courses[id] == railtest.AnswerLost && a.calls == 1 {
			return ports.Outcome{Verdict: ports.Unknown}
		}
		if a.effect() == nil {
			a.statuses[key] = report{}
		}
	}
	return a.outcome(key, id)
}

// outcome returns what is known of an order.
func (a adapter) outcome(key string, id uuid.UUID) ports.Outcome {
	course := a.courses[id]
	switch {
	case course == railtest.Silent && !a.relented && a.defect == silentIsRefused, course == railtest.RefusedForNow && !a.relented &&
		a.defect == busyIsRefused:
		return ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, Code: "X"}
	case course == railtest.Silent && !a.relented:
		return ports.Outcome{Verdict: ports.Unknown}
	}
	o := ports.Outcome{Verdict: a.statuses[key].verdict, PartnerID: fmt.Sprintf("partner-%x", id[14:])}
	if a.defect == newPartnerIDs {
		o.PartnerID += strconv.Itoa(a.calls)
	}
	switch o.Verdict {
	case "", ports.Waiting:
		o.Verdict, o.RetryAt = ports.Waiting, a.now.Add(time.Minute)
		if a.defect == noRetryAt {
			o.RetryAt = time.Time{}
		}
	case ports.Refused:
		o.Reason, o.Code = transaction.CounterpartyPostFailed, "AC04"
		if a.defect == noReason {
			o.Reason = ""
		}
	case ports.Returned:
		o.Code, o.ReturnedAt = "R01", a.now.Truncate(time.Hour)
		if a.defect == noticesNoReturn {
			o = ports.Outcome{Verdict: ports.Done, PartnerID: o.PartnerID}
		}
	case ports.Done, ports.Unknown, ports.CancelledByUser:
	}
	if a.defect == noCode {
		o.Code = ""
	}
	return o
}
