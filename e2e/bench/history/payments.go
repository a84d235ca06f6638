package history

import (
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
)

// route is a corridor of payments.
type route struct {
	from, to                    money.Currency
	sourceRail, destinationRail corridor.Rail
	rate                        money.Rate // smallest units of to for one of from
	// The amount to exchange is a multiple of multiple.
	multiple int64
}

// routes are the corridors of ramps, and of payouts if they start in a currency of accounts.
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

func newRoute(from, to money.Currency, in, out corridor.Rail, major string, multiple int64) route {
	rate, err := money.RateFromMajor(money.MustRate(major), from, to)
	if err != nil {
		panic(err) // the table above is wrong
	}
	return route{from, to, in, out, rate, multiple}
}

var balanceCurrencies = []money.Currency{money.USD, money.USDC, money.BTC}

// baseAmounts are about ten dollars, in the smallest unit.
var baseAmounts = map[money.Currency]int64{money.USD: 10_00, money.EUR: 9_00, money.GBP: 8_00, money.USDC: 10_000_000, money.BTC: 10_400}

// depositRails are the rails by which deposits are received.
var depositRails = map[money.Currency]corridor.Rail{money.USD: corridor.ACH, money.USDC: corridor.Base, money.BTC: corridor.Lightning}

// activityMix is the share of each kind of activity, in percent.
var activityMix = []struct {
	share int
	start func(*writer) (transaction.Decision, error)
}{
	{58, (*writer).ramp}, {14, (*writer).deposit}, {4, (*writer).transferIn}, {10, (*writer).payout}, {8, (*writer).transferOut},
	{3, (*writer).feeCharged}, {3, (*writer).feePaid},
}

// addActivity adds one activity, or a deposit, which is the smallest, if that is too large.
func (w *writer) addActivity() error {
	n := w.rand.IntN(100)
	for _, m := range activityMix {
		if n -= m.share; n >= 0 {
			continue
		}
		if taken, err := w.apply(m.start(w)); taken || err != nil {
			return err
		}
		break
	}
	_, err := w.apply(w.deposit())
	return err
}

// ramp is a payment that is funded just in time.
func (w *writer) ramp() (transaction.Decision, error) {
	via := routes[w.rand.IntN(len(routes))]
	t, err := w.outgoingPayment(w.randomAccount().Customer, via, w.randomAmount(via.from))
	if err != nil {
		return transaction.Decision{}, err
	}
	return t.Receive(transaction.Receipt{Platform: w.Platform, Rail: via.sourceRail, Reference: t.Reference, Amount: t.Pricing.Sent, At: w.now}, activeParties(t), w.now)
}

// activeParties returns parties that may move money.
func activeParties(t transaction.Transaction) transaction.Parties {
	return transaction.Parties{Customer: &customer.Customer{ID: t.Customer, Status: customer.Approved},
		FromInternal: &account.Internal{Status: account.InternalActive}, ToExternal: &account.External{Status: account.Active}}
}

// payout is a payment from an account into another currency.
func (w *writer) payout() (transaction.Decision, error) {
	from, amount, ok := w.randomFundedAccount()
	if !ok {
		return w.deposit()
	}
	var candidates []route
	for _, via := range routes {
		if via.from == from.Currency {
			candidates = append(candidates, via)
		}
	}
	t, err := w.outgoingPayment(from.Customer, candidates[w.rand.IntN(len(candidates))], amount)
	if err != nil {
		return transaction.Decision{}, err
	}
	t.Source.InternalAccount, t.SourceRail, t.SourceAccount = from.ID, "", ledger.CustomerAccount(from.ID)
	return t.Execute(activeParties(t), w.now)
}

// transferOut is a payment in the currency of the account.
func (w *writer) transferOut() (transaction.Decision, error) {
	from, amount, ok := w.randomFundedAccount()
	if !ok {
		return w.deposit()
	}
	t := w.newTransaction(from.Customer, transaction.AtPar(money.Amount{Minor: amount, Currency: from.Currency}))
	t.Source.InternalAccount, t.SourceAccount = from.ID, ledger.CustomerAccount(from.ID)
	t.DestinationRail, t.DestinationAccount = depositRails[from.Currency], depositRails[from.Currency].LedgerPath()
	decision := t.StartTransfer(w.now)
	submitted, err := decision.Transaction.Submitted(w.now)
	decision.Transaction = submitted.Transaction
	return decision, err
}

func (w *writer) deposit() (transaction.Decision, error) {
	return w.incomingPayment(transaction.Endpoint{})
}

// transferIn is money pulled from an external account.
func (w *writer) transferIn() (transaction.Decision, error) {
	return w.incomingPayment(transaction.Endpoint{ExternalAccount: ident.NewExternalAccount(w.ids.New, w.now)})
}

func (w *writer) incomingPayment(source transaction.Endpoint) (transaction.Decision, error) {
	to := w.randomAccount()
	id := ident.NewTransaction(w.ids.New, w.now)
	return transaction.IncomingPayment{ID: id, Platform: w.Platform, Customer: to.Customer, Source: source, Account: to.ID,
		Rail: depositRails[to.Currency], AccountPath: ledger.CustomerAccount(to.ID), Reference: ident.ShortCode(id.UUID()),
		Amount: money.Amount{Minor: w.randomAmount(to.Currency), Currency: to.Currency}}.Deposit(w.now), nil
}

func (w *writer) feeCharged() (transaction.Decision, error) {
	from, _, ok := w.randomFundedAccount()
	if !ok {
		return w.deposit()
	}
	fee := money.Amount{Minor: baseAmounts[from.Currency] / 10, Currency: from.Currency}
	return standalone(ledger.FeeCharged(w.newHeader("monthly fee"), ledger.CustomerAccount(from.ID), fee)), nil
}

// feePaid is a fee that a partner keeps.
func (w *writer) feePaid() (transaction.Decision, error) {
	via := routes[w.rand.IntN(len(routes))]
	fee := money.Amount{Minor: baseAmounts[via.from] / 20, Currency: via.from}
	return standalone(ledger.FeePaid(w.newHeader("partner's fee"), via.sourceRail.LedgerPath(), fee)), nil
}

func (w *writer) newHeader(memo string) ledger.Header {
	return ledger.Header{ID: w.ids.New(w.now), Platform: w.Platform, Effective: w.now, Memo: memo}
}

// standalone returns a decision with a posting that belongs to no payment.
func standalone(p ledger.Posting) transaction.Decision {
	return transaction.Decision{Postings: []ledger.Posting{p}}
}

// outgoingPayment returns a payment on a route that is not funded yet.
func (w *writer) outgoingPayment(customer ident.Customer, via route, sent int64) (transaction.Transaction, error) {
	fees := baseAmounts[via.from]/20 + sent/200
	exchanged := (sent - fees) / via.multiple * via.multiple
	// The rate varies by two percent.
	received, err := via.rate.Floor(exchanged * int64(980+w.rand.IntN(41)) / 1000)
	t := w.newTransaction(customer, transaction.Pricing{Sent: money.Amount{Minor: sent, Currency: via.from}, Fees: fees, RoundingSent: sent - fees - exchanged,
		Received: money.Amount{Minor: received, Currency: via.to}})
	t.SourceRail, t.SourceAccount = via.sourceRail, via.sourceRail.LedgerPath()
	t.DestinationRail, t.DestinationAccount = via.destinationRail, via.destinationRail.LedgerPath()
	return t, err
}

func (w *writer) newTransaction(customer ident.Customer, p transaction.Pricing) transaction.Transaction {
	id := ident.NewTransaction(w.ids.New, w.now)
	return transaction.Transaction{ID: id, Platform: w.Platform, Customer: customer, Type: transaction.Outgoing, State: transaction.Initial, Pricing: p,
		Source:      transaction.Endpoint{Customer: customer, Currency: p.Sent.Currency},
		Destination: transaction.Endpoint{Customer: customer, Currency: p.Received.Currency},
		Reference:   ident.ShortCode(id.UUID()), ExpiresAt: w.now.Add(5 * time.Minute), CreatedAt: w.now, UpdatedAt: w.now}
}

// randomAccount returns an account: some often, most rarely.
func (w *writer) randomAccount() account.Internal {
	return w.accounts[w.rand.IntN(1+w.rand.IntN(len(w.accounts)))]
}

// randomFundedAccount returns an account that can pay and an amount to pay, if one is found in
// a few tries.
func (w *writer) randomFundedAccount() (from account.Internal, amount int64, found bool) {
	for range 4 {
		from = w.randomAccount()
		if balance := w.balances[ledger.CustomerAccount(from.ID)]; balance >= 10*baseAmounts[from.Currency] {
			return from, balance / int64(3+w.rand.IntN(5)), true
		}
	}
	return from, 0, false
}

// randomAmount returns an amount from about ten dollars to some thousands.
func (w *writer) randomAmount(currency money.Currency) int64 {
	minimum := baseAmounts[currency] << w.rand.IntN(9)
	return minimum + w.rand.Int64N(minimum)
}
