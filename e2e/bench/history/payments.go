package history

import (
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
)

// route is a corridor as payments go through it.
type route struct {
	from, to                          money.Currency
	sourceAccount, destinationAccount string
	rate                              money.Rate // smallest units of to for one of from
	// multiple is what the sent amount is exchanged in multiples of.
	multiple int64
}

// routes are where ramps go; those that begin in a currency of balances are gone by payouts too.
var routes = []route{
	newRoute(money.USD, money.BTC, corridor.RTP, corridor.Layer2, "0.0000104", 1),
	newRoute(money.USD, money.BTC, corridor.FedNow, corridor.Lightning, "0.0000104", 1),
	newRoute(money.USD, "MXN", corridor.RTP, corridor.SPEI, "18.4", 1),
	newRoute(money.USD, "INR", corridor.RTP, corridor.UPI, "88.7", 1),
	newRoute(money.EUR, money.USDC, corridor.SEPAInstant, corridor.Base, "1.16", 1),
	newRoute(money.EUR, "BRL", corridor.SEPAInstant, corridor.PIX, "6.21", 1),
	newRoute(money.GBP, money.EUR, corridor.FasterPayments, corridor.SEPAInstant, "1.14", 1),
	newRoute(money.USDC, money.USD, corridor.Base, corridor.RTP, "1", 10_000),
	newRoute(money.USDC, money.EUR, corridor.Polygon, corridor.SEPA, "0.86", 10_000),
	newRoute(money.BTC, money.USD, corridor.Lightning, corridor.ACH, "96000", 1),
}

func newRoute(from, to money.Currency, in, out corridor.Rail, major string, whole int64) route {
	rate, err := money.RateFromMajor(money.MustRate(major), from, to)
	if err != nil {
		panic(err) // the table above is wrong
	}
	return route{from, to, partnerAccount(in), partnerAccount(out), rate, whole}
}

func partnerAccount(r corridor.Rail) string {
	if r.IsChain() {
		return ledger.Chain(string(r))
	}
	return ledger.Rail(string(r))
}

// baseAmounts is about ten dollars, in the smallest unit.
var baseAmounts = map[money.Currency]int64{money.USD: 10_00, money.EUR: 9_00, money.GBP: 8_00, money.USDC: 10_000_000, money.BTC: 10_400}

// depositPartners is how money comes to a balance.
var depositPartners = map[money.Currency]string{money.USD: partnerAccount(corridor.ACH), money.USDC: partnerAccount(corridor.Base), money.BTC: partnerAccount(corridor.Lightning)}

// activityMix is what happens, and how often.
var activityMix = []struct {
	share  int
	begins func(*writer) (transaction.Decision, error)
}{
	{58, (*writer).ramp}, {14, (*writer).deposit}, {4, (*writer).transferIn}, {10, (*writer).payout}, {8, (*writer).transferOut},
	{3, (*writer).feeCharged}, {3, (*writer).feePaid},
}

// addActivity lets something happen, or at least a deposit, which is the smallest of all.
func (w *writer) addActivity() error {
	n := w.rand.IntN(100)
	for _, m := range activityMix {
		if n -= m.share; n >= 0 {
			continue
		}
		if taken, err := w.apply(m.begins(w)); taken || err != nil {
			return err
		}
		break
	}
	_, err := w.apply(w.deposit())
	return err
}

// ramp is a payment that its payer funds when it is quoted.
func (w *writer) ramp() (transaction.Decision, error) {
	way := routes[w.rand.IntN(len(routes))]
	t, err := w.outgoingPayment(w.randomAccount().customer, way, w.randomAmount(way.from))
	if err != nil {
		return transaction.Decision{}, err
	}
	return t.Receive(transaction.Receipt{Platform: w.Platform, PartnerAccount: way.sourceAccount, Reference: t.Reference, Amount: t.Pricing.Sent, At: w.now}, w.now)
}

// payout is one that a balance pays, into another currency.
func (w *writer) payout() (transaction.Decision, error) {
	h, ok := w.randomFundedAccount()
	if !ok {
		return w.deposit()
	}
	var open []route
	for _, way := range routes {
		if way.from == h.currency {
			open = append(open, way)
		}
	}
	t, err := w.outgoingPayment(h.customer, open[w.rand.IntN(len(open))], h.minor/int64(3+w.rand.IntN(5)))
	if err != nil {
		return transaction.Decision{}, err
	}
	t.Source.InternalAccount, t.SourceAccount = h.id, h.path
	return t.Execute(w.now)
}

// transferOut is one in the currency of the balance.
func (w *writer) transferOut() (transaction.Decision, error) {
	h, ok := w.randomFundedAccount()
	if !ok {
		return w.deposit()
	}
	t := w.newTransaction(h.customer, transaction.AtPar(money.Amount{Minor: h.minor / int64(3+w.rand.IntN(5)), Currency: h.currency}))
	t.Source.InternalAccount, t.SourceAccount, t.DestinationAccount = h.id, h.path, depositPartners[h.currency]
	set := t.StartTransfer(w.now)
	handed, err := set.Transaction.Submitted(w.now)
	set.Transaction = handed.Transaction
	return set, err
}

func (w *writer) deposit() (transaction.Decision, error) {
	return w.incomingPayment(transaction.Endpoint{}), nil
}

// transferIn is money pulled from an account elsewhere.
func (w *writer) transferIn() (transaction.Decision, error) {
	return w.incomingPayment(transaction.Endpoint{ExternalAccount: ident.NewExternalAccount(w.ids.New, w.now)}), nil
}

func (w *writer) incomingPayment(from transaction.Endpoint) transaction.Decision {
	h := w.randomAccount()
	id := ident.NewTransaction(w.ids.New, w.now)
	return transaction.IncomingPayment{ID: id, Platform: w.Platform, Customer: h.customer, Source: from, Account: h.id, PartnerAccount: depositPartners[h.currency], AccountPath: h.path,
		Amount: money.Amount{Minor: w.randomAmount(h.currency), Currency: h.currency}, Reference: ident.ShortCode(id.UUID())}.Deposit(w.now)
}

func (w *writer) feeCharged() (transaction.Decision, error) {
	h, ok := w.randomFundedAccount()
	if !ok {
		return w.deposit()
	}
	return w.standalonePosting(ledger.FeeCharged(w.newHeader("monthly fee"), h.path, money.Amount{Minor: baseAmounts[h.currency] / 10, Currency: h.currency})), nil
}

// feePaid is what a partner keeps.
func (w *writer) feePaid() (transaction.Decision, error) {
	way := routes[w.rand.IntN(len(routes))]
	return w.standalonePosting(ledger.FeePaid(w.newHeader("partner's fee"), way.sourceAccount, money.Amount{Minor: baseAmounts[way.from] / 20, Currency: way.from})), nil
}

func (w *writer) newHeader(memo string) ledger.Header {
	return ledger.Header{ID: w.ids.New(w.now), Platform: w.Platform, Effective: w.now, Memo: memo}
}

// standalonePosting is a posting of no payment.
func (w *writer) standalonePosting(p ledger.Posting) transaction.Decision {
	return transaction.Decision{Postings: []ledger.Posting{p}}
}

// outgoingPayment is a payment of so much on a way, not funded yet.
func (w *writer) outgoingPayment(of ident.Customer, way route, sent int64) (transaction.Transaction, error) {
	fees := baseAmounts[way.from]/20 + sent/200
	exchanged := (sent - fees) / way.multiple * way.multiple
	// Markets move by a percent or two.
	received, err := way.rate.Floor(exchanged * int64(980+w.rand.IntN(41)) / 1000)
	t := w.newTransaction(of, transaction.Pricing{Sent: money.Amount{Minor: sent, Currency: way.from}, Fees: fees, RoundingSent: sent - fees - exchanged,
		Received: money.Amount{Minor: received, Currency: way.to}})
	t.SourceAccount, t.DestinationAccount = way.sourceAccount, way.destinationAccount
	return t, err
}

func (w *writer) newTransaction(of ident.Customer, p transaction.Pricing) transaction.Transaction {
	id := ident.NewTransaction(w.ids.New, w.now)
	return transaction.Transaction{ID: id, Platform: w.Platform, Customer: of, Type: transaction.Outgoing, State: transaction.Initial, Pricing: p,
		Source:      transaction.Endpoint{Customer: of, Currency: p.Sent.Currency},
		Destination: transaction.Endpoint{Customer: of, Currency: p.Received.Currency},
		Reference:   ident.ShortCode(id.UUID()), ExpiresAt: w.now.Add(5 * time.Minute), CreatedAt: w.now, UpdatedAt: w.now}
}
