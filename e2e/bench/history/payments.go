package history

import (
	"fmt"
	"slices"
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/price"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// route is a corridor of payments.
type route struct {
	from, to                    money.Currency
	sourceRail, destinationRail corridor.Rail
	rate                        money.Rate // smallest units of to for one of from
}

// routes are the corridors of ramps, and of payouts if they start in a currency of accounts.
var routes = []route{
	newRoute(money.USD, money.BTC, corridor.RTP, corridor.Layer2, "0.0000104"),
	newRoute(money.USD, money.BTC, corridor.FedNow, corridor.Lightning, "0.0000104"),
	newRoute(money.USD, "MXN", corridor.RTP, corridor.SPEI, "18.4"),
	newRoute(money.USD, "INR", corridor.RTP, corridor.UPI, "88.7"),
	newRoute(money.EUR, money.USDC, corridor.SEPAInstant, corridor.Base, "1.16"),
	newRoute(money.EUR, "BRL", corridor.SEPAInstant, corridor.PIX, "6.21"),
	newRoute(money.GBP, money.EUR, corridor.FasterPayments, corridor.SEPAInstant, "1.14"),
	newRoute(money.USDC, money.USD, corridor.Base, corridor.RTP, "1"),
	newRoute(money.USDC, money.EUR, corridor.Polygon, corridor.SEPA, "0.86"),
	newRoute(money.BTC, money.USD, corridor.Lightning, corridor.ACH, "96000"),
}

func newRoute(from, to money.Currency, in, out corridor.Rail, major string) route {
	rate, err := money.RateFromMajor(money.MustRate(major), from, to)
	if err != nil {
		panic(err) // the table above is wrong
	}
	return route{from, to, in, out, rate}
}

var balanceCurrencies = []money.Currency{money.USD, money.USDC, money.BTC}

// baseAmounts are about ten dollars, in the smallest unit.
var baseAmounts = map[money.Currency]int64{
	money.USD: 10_00, money.EUR: 9_00, money.GBP: 8_00, money.USDC: 10_000_000, money.BTC: 10_400}

// depositRails are the rails by which deposits are received, and transfers paid out.
var depositRails = map[money.Currency]corridor.Rail{
	money.USD: corridor.ACH, money.USDC: corridor.Base, money.BTC: corridor.Lightning}

// activity starts something that the platform or a customer does.
type activity func(*writer) (transaction.Decision, error)

// activityMix is the share of each kind of activity, in percent. One that needs money is a deposit
// if no account with money is found.
var activityMix = []struct {
	share int
	start activity
}{
	{58, (*writer).ramp}, {14, (*writer).deposit}, {4, (*writer).transferIn}, {10, funded((*writer).payout)},
	{8, funded((*writer).transferOut)}, {3, funded((*writer).feeCharged)}, {3, (*writer).feePaid},
}

// addActivity adds one activity, or a deposit, which is the smallest, if that is too large.
func (w *writer) addActivity() error {
	n, i := w.rand.IntN(100), 0
	for ; n >= activityMix[i].share; i++ {
		n -= activityMix[i].share
	}
	if applied, err := w.apply(activityMix[i].start(w)); applied || err != nil {
		return err
	}
	_, err := w.apply(w.deposit())
	return err
}

// step is a later step of a payment.
type step func(now time.Time) (transaction.Decision, error)

// nextStep returns what happens to a payment next; nil if nothing does.
func (w *writer) nextStep(t transaction.Transaction) step {
	switch {
	case t.State.Refund == transaction.RefundPending:
		return func(now time.Time) (transaction.Decision, error) { return t.RefundPaid(t.SourceAccount, now) }
	case t.State.InTransit() && w.rand.IntN(1000) < 8:
		return func(now time.Time) (transaction.Decision, error) {
			return t.Refuse(transaction.CounterpartyPostFailed, now)
		}
	case t.State.InTransit():
		return t.Deliver
	case t.Type == transaction.Outgoing && t.State.IsDelivered() && w.rand.IntN(1000) < 4:
		return t.Return
	}
	return nil
}

// addReply adds what a rail has said of a payout that ends otherwise than it should.
func (w *writer) addReply(d transaction.Decision) {
	reply := ports.RailReply{Platform: w.Platform, Subject: d.Transaction.ID.UUID(), At: w.now}
	posts := func(kind ledger.Kind) bool {
		return slices.ContainsFunc(d.Postings, func(p ledger.Posting) bool { return p.Kind == kind })
	}
	switch {
	case posts(ledger.KindReturned):
		reply.Call, reply.Outcome = ports.CallStatus, ports.Outcome{Verdict: ports.Returned, Accepted: true, ReturnedAt: w.now}
	case posts(ledger.KindRefundOwed):
		reply.Call, reply.Outcome = ports.CallSend, ports.Outcome{Verdict: ports.Refused, Reason: d.Transaction.State.Reason}
	default:
		return
	}
	w.replies = append(w.replies, reply)
}

// ramp is a payment that is funded just in time.
func (w *writer) ramp() (transaction.Decision, error) {
	via := routes[w.rand.IntN(len(routes))]
	t, err := w.outgoingPayment(w.randomAccount().Customer, via, w.randomAmount(via.from))
	if err != nil {
		return transaction.Decision{}, err
	}
	w.received = transaction.Receipt{ID: ident.NewReceipt(w.ids.New, w.now), Platform: w.Platform, Rail: via.sourceRail,
		PartnerID: t.Reference, Reference: t.Reference, Amount: t.Pricing.Sent, At: w.now}
	return t.Receive(w.received, activeParties(t), w.now)
}

// activeParties returns parties that may move money.
func activeParties(t transaction.Transaction) transaction.Parties {
	return transaction.Parties{Customer: &customer.Customer{ID: t.Customer, Status: customer.Approved},
		FromInternal: &account.Internal{Status: account.InternalActive}, ToExternal: &account.External{Status: account.Active}}
}

// payout is a payment from an account into another currency.
func (w *writer) payout(from account.Internal, amount int64) (transaction.Decision, error) {
	via := routes[w.rand.IntN(len(routes))]
	for via.from != from.Currency {
		via = routes[w.rand.IntN(len(routes))]
	}
	t, err := w.outgoingPayment(from.Customer, via, amount)
	if err != nil {
		return transaction.Decision{}, err
	}
	t.Source.InternalAccount, t.SourceRail, t.SourceAccount = from.ID, "", ledger.CustomerAccount(from.ID)
	return t.Execute(activeParties(t), w.now)
}

// transferOut is a payment in the currency of the account.
func (w *writer) transferOut(from account.Internal, amount int64) (transaction.Decision, error) {
	t := w.newTransaction(from.Customer, transaction.AtPar(money.Amount{Minor: amount, Currency: from.Currency}))
	t.Source.InternalAccount, t.SourceAccount = from.ID, ledger.CustomerAccount(from.ID)
	t.DestinationRail, t.DestinationAccount = depositRails[from.Currency], depositRails[from.Currency].LedgerPath()
	decision, err := t.StartTransfer(w.now)
	if err != nil {
		return decision, err
	}
	submitted, err := decision.Transaction.Submitted(w.now)
	decision.Transaction = submitted.Transaction
	return decision, err
}

func (w *writer) deposit() (transaction.Decision, error) {
	return w.incomingPayment(transaction.Endpoint{}, w.randomAccount())
}

// transferIn is money pulled from an external account.
func (w *writer) transferIn() (transaction.Decision, error) {
	to := w.randomAccount()
	return w.incomingPayment(transaction.Endpoint{ExternalAccount: w.banks[to.Customer]}, to)
}

func (w *writer) incomingPayment(source transaction.Endpoint, to account.Internal) (transaction.Decision, error) {
	id := ident.NewTransaction(w.ids.New, w.now)
	return transaction.IncomingPayment{ID: id, Platform: w.Platform, Customer: to.Customer, Source: source, Account: to.ID,
		Rail: depositRails[to.Currency], AccountPath: ledger.CustomerAccount(to.ID), Reference: ident.ShortCode(id.UUID()),
		Amount: money.Amount{Minor: w.randomAmount(to.Currency), Currency: to.Currency}}.Deposit(w.now), nil
}

func (w *writer) feeCharged(from account.Internal, _ int64) (transaction.Decision, error) {
	return w.fee(ledger.FeeCharged, "monthly fee", ledger.CustomerAccount(from.ID), from.Currency, 10)
}

// feePaid is a fee that a partner keeps.
func (w *writer) feePaid() (transaction.Decision, error) {
	via := routes[w.rand.IntN(len(routes))]
	return w.fee(ledger.FeePaid, "partner's fee", via.sourceRail.LedgerPath(), via.from, 20)
}

// fee is a part of the base amount, in a posting that belongs to no payment.
func (w *writer) fee(post func(ledger.Header, string, money.Amount) ledger.Posting, memo, path string,
	currency money.Currency, part int64) (transaction.Decision, error) {
	header := ledger.Header{ID: w.ids.New(w.now), Platform: w.Platform, Effective: w.now, Memo: memo}
	posting := post(header, path, money.Amount{Minor: baseAmounts[currency] / part, Currency: currency})
	return transaction.Decision{Postings: []ledger.Posting{posting}}, nil
}

// outgoingPayment returns a payment on a route that is not funded yet.
func (w *writer) outgoingPayment(customer ident.Customer, via route, sent int64) (transaction.Transaction, error) {
	// The rate varies by two percent.
	thousandths := 980 + w.rand.IntN(41)
	market, err := via.rate.Mul(money.MustRate(fmt.Sprintf("%d.%03d", thousandths/1000, thousandths%1000)))
	if err != nil {
		return transaction.Transaction{}, err
	}
	fee := price.Fee{Fixed: baseAmounts[via.from] / 20, Percent: money.MustRate("0.005")}
	p, err := price.Sending(sent, market, fee)
	t := w.newTransaction(customer, transaction.Pricing{Sent: money.Amount{Minor: sent, Currency: via.from},
		Received: money.Amount{Minor: p.Receiving, Currency: via.to},
		Fees:     p.Fees, FixedFee: p.FixedFee, VariableFee: p.VariableFee, FeeRate: fee.Percent, Rate: p.Rate, Market: p.Market,
		RoundingSent: p.RoundingSending, RoundingReceived: p.RoundingReceiving})
	t.Quote = ident.NewQuote(w.ids.New, w.now)
	t.SourceRail, t.SourceAccount = via.sourceRail, via.sourceRail.LedgerPath()
	t.DestinationRail, t.DestinationAccount = via.destinationRail, via.destinationRail.LedgerPath()
	return t, err
}

func (w *writer) newTransaction(customer ident.Customer, p transaction.Pricing) transaction.Transaction {
	id := ident.NewTransaction(w.ids.New, w.now)
	t := transaction.Transaction{ID: id, Platform: w.Platform, Customer: customer, Type: transaction.Outgoing,
		State: transaction.Initial, Pricing: p, Source: transaction.Endpoint{Customer: customer, Currency: p.Sent.Currency},
		Destination: transaction.Endpoint{Customer: customer, Currency: p.Received.Currency},
		Reference:   ident.ShortCode(id.UUID()), ExpiresAt: w.now.Add(5 * time.Minute), CreatedAt: w.now, UpdatedAt: w.now}
	t.Payee = t.PayeeDigest(nil)
	return t
}

// randomAccount returns an account: some often, most rarely.
func (w *writer) randomAccount() account.Internal {
	return w.accounts[w.rand.IntN(1+w.rand.IntN(len(w.accounts)))]
}

// funded makes an activity of an account that can pay, and the amount to pay. It is a deposit if
// none is found in a few tries.
func funded(start func(*writer, account.Internal, int64) (transaction.Decision, error)) activity {
	return func(w *writer) (transaction.Decision, error) {
		for range 4 {
			from := w.randomAccount()
			if balance := w.balances[ledger.CustomerAccount(from.ID)]; balance >= 10*baseAmounts[from.Currency] {
				return start(w, from, balance/int64(3+w.rand.IntN(5)))
			}
		}
		return w.deposit()
	}
}

// randomAmount returns an amount from about ten dollars to some thousands.
func (w *writer) randomAmount(currency money.Currency) int64 {
	minimum := baseAmounts[currency] << w.rand.IntN(9)
	return minimum + w.rand.Int64N(minimum)
}
