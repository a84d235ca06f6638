package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"causeway/app/accounting"
	"causeway/app/payments"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// intent is what a client wants once. It repeats its request, with the same idempotency key, until
// it knows the result. Without a key it sends the request once.
type intent struct {
	number   int // of all
	request  int // of those of its platform
	name     string
	platform ident.Platform
	// do sends the request to a process, and returns the id of the transaction, if it is about one.
	do func(context.Context, *process, *ports.IdempotentRequest) (ident.Transaction, error)
	// keyless: the request has no idempotency key.
	keyless bool
	// agent is the one that sends the request; zero for the platform.
	agent ident.Agent
	// report: a rail repeats it until it is accepted, and sometimes after.
	report bool
	// succeeded is called once with the transaction, when it is known to exist.
	succeeded func(ident.Transaction)
	// executes is the quote that the request executes.
	executes ident.Quote
	created  bool // a success creates a transaction

	cancel context.CancelFunc
	id     ident.Transaction // once it is known
	err    error
	// unknown: its client will never know the result.
	unknown bool
}

// key returns the idempotency key. The platforms use the same ones.
func (i *intent) key() ports.IdempotencyKey {
	return i.idempotency().IdempotencyKey()
}

func (i *intent) idempotency() *ports.IdempotentRequest {
	return &ports.IdempotentRequest{Platform: i.platform, Agent: i.agent, Key: fmt.Sprintf("request %d", i.request), Render: render}
}

// startIntent sends a request that waits, or a new one.
func (w *world) startIntent() {
	var next *intent
	if len(w.waiting) > 0 && (w.calm || w.chance(2)) {
		n := w.random.IntN(len(w.waiting))
		next = w.waiting[n]
		w.waiting = slices.Delete(w.waiting, n, n+1)
	} else {
		next = w.newIntent()
	}
	if w.replayed(next) { // as the HTTP adapter does before it calls a use case
		w.learn(next)
		return
	}
	p := w.processes[w.usualProcess]
	ctx, cancel := context.WithCancel(context.WithValue(ports.ForPlatform(context.Background(), next.platform), causeKey{}, next.number))
	next.cancel = cancel
	w.active = append(w.active, next)
	w.record("client sends %d, %s", next.number, next.name)
	var request *ports.IdempotentRequest
	if !next.keyless {
		request = next.idempotency()
	}
	go func() {
		defer cancel()
		next.id, next.err = next.do(ctx, p, request)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.finished = append(w.finished, next)
	}()
}

// render returns the response to a request: the id of the transaction, or the code of the fault.
func render(result any, err error) (status int, body []byte) {
	if f, isFault := fault.As(err); isFault {
		if f.Code == fault.ServiceUnavailable {
			return 503, nil
		}
		return 400, []byte(f.Code)
	}
	return 200, []byte(resultID(result).String())
}

func resultID(result any) ident.Transaction {
	switch r := result.(type) {
	case transaction.Transaction:
		return r.ID
	case quote.WithStatus:
		return r.Quote.Transaction
	case payments.FundedAccount:
		return r.Transaction.ID
	case proposal.Outcome[transaction.Unmatched]:
		return r.Done.Assignment.Transaction
	case payments.AgentAction:
		return r.Action.Transaction
	case proposal.Outcome[accounting.Month]:
		return ident.Transaction{}
	}
	panic(fmt.Sprintf("a response of type %T", result))
}

// learn notes what the client of a request has learned from the response.
func (w *world) learn(i *intent) {
	var replay *ports.Replay
	switch _, isFault := fault.As(i.err); {
	case errors.As(i.err, &replay):
		w.record("client learns again of %d: %s", i.number, replay.Body)
		if replay.Status != 200 || len(replay.Body) == 0 {
			return
		}
		id, err := i.id.Parse(string(replay.Body))
		if err != nil {
			w.fail("the response to %s is %q: %v", i.name, replay.Body, err)
		}
		i.id = id
	case i.err == nil:
		w.record("client learns of %d: %s", i.number, i.id)
	case isTemporary(i.err):
		w.record("client does not know what became of %d", i.number)
		if i.keyless && !i.report {
			i.unknown = true
			return
		}
		w.waiting = append(w.waiting, i)
		return
	case isFault && !i.keyless && w.replayed(i): // as the HTTP adapter does after an error: another process may have carried it out
		w.learn(i)
		return
	case isFault:
		w.record("client learns of %d: %v", i.number, i.err)
		return
	default:
		w.fail("%s: %v", i.name, i.err)
		return
	}
	if _, exists := w.transactions[i.id]; !exists && !i.id.IsZero() {
		w.fail("%s made the transaction %s, which does not exist", i.name, i.id)
	}
	if i.succeeded != nil {
		i.succeeded(i.id)
		i.succeeded = nil
	}
}

// replayed replaces the result of a request by the response that is stored under its key, and reports whether there is one.
func (w *world) replayed(i *intent) bool {
	stored, exists := w.responses[i.key()]
	if exists {
		i.id, i.err = ident.Transaction{}, &ports.Replay{Status: stored.Status, Body: stored.Body}
	}
	return exists
}

// newIntent makes a client want something new.
func (w *world) newIntent() *intent {
	i := &intent{number: len(w.intents)}
	w.intents = append(w.intents, i)
	amount := int64(1_00 + w.random.IntN(500_00))
	in := pick(w, sortedKeys(w.internal))
	if w.ofAgents {
		in = w.busyAccount(in)
	}
	if w.ofPayers {
		in = pick(w, slices.DeleteFunc(sortedKeys(w.internal),
			func(id ident.InternalAccount) bool { return !w.isProtected(w.internal[id].Customer) }))
	}
	if w.ofPulls && !w.chance(4) {
		in = pick(w, slices.DeleteFunc(w.internalOf(w.connected), func(id ident.InternalAccount) bool {
			return w.isProtected(w.internal[id].Customer)
		}))
	}
	i.platform = w.internal[in].Platform
	w.requests[i.platform]++
	i.request = w.requests[i.platform]
	out := pick(w, slices.DeleteFunc(w.externalOf(i.platform), func(id ident.ExternalAccount) bool {
		return w.external[id].Customer != w.internal[in].Customer && !w.chance(10) // mostly of one owner
	}))
	makers := []func(*intent, int64, ident.InternalAccount, ident.ExternalAccount){
		w.fund, w.fund, w.transferIn, w.transferOut, w.transferOut, w.justInTimeQuote, w.justInTimeQuote, w.accountQuote, w.walletQuote,
		w.walletQuote, w.umaQuote, w.umaQuote,
		w.execute, w.execute, w.execute, w.execute, w.authorize, w.authorize, w.authorize, w.justInTimeQuote,
		w.pay, w.pay, w.pay, w.pay, w.deposit, w.umaPayment, w.invoicedPayment, w.approve, w.approve, w.approve,
		w.cancelPayment, w.cancelPayment, w.assign, w.assign, w.assign, w.changePeriod, w.changePeriod,
		w.agentTransferOut, w.agentTransferIn, w.agentQuote, w.agentExecute, w.agentExecute, w.agentExecute, w.decideAction, w.decideAction,
	}
	if w.ofAgents {
		makers = append(makers[len(makers)-8:], w.fund, w.agentTransferOut, w.agentTransferIn)
		w.usual %= len(makers)
	}
	if w.ofPayers {
		makers = append(makers, w.fund, w.transferOut)
		for range 10 {
			makers = append(makers, w.authorize, w.authorize, w.authorize, w.pay, w.pay, w.justInTimeQuote, w.execute, w.execute, w.accountQuote)
		}
	}
	if w.ofPulls {
		for range 15 {
			makers = append(makers, w.pulledQuote, w.execute, w.execute)
		}
	}
	if w.chance(4) {
		w.usual, w.usualProcess = w.random.IntN(len(makers)), w.random.IntN(len(w.processes))
	}
	i.keyless = w.chance(3)
	makers[w.usual](i, amount, in, out)
	return i
}

func (w *world) internalOf(p ident.Platform) []ident.InternalAccount {
	return slices.DeleteFunc(sortedKeys(w.internal), func(id ident.InternalAccount) bool { return w.internal[id].Platform != p })
}

func (w *world) externalOf(p ident.Platform) []ident.ExternalAccount {
	return slices.DeleteFunc(sortedKeys(w.external), func(id ident.ExternalAccount) bool { return w.external[id].Platform != p })
}

func (w *world) customersOf(p ident.Platform) []ident.Customer {
	return slices.DeleteFunc(sortedKeys(w.customers), func(id ident.Customer) bool { return w.customers[id].Platform != p })
}

func (w *world) quotesOf(p ident.Platform) []ident.Quote {
	return slices.DeleteFunc(sortedKeys(w.quotes), func(id ident.Quote) bool { return w.quotes[id].Platform != p })
}

func (w *world) transactionsOf(p ident.Platform) []ident.Transaction {
	return slices.DeleteFunc(sortedKeys(w.transactions), func(id ident.Transaction) bool { return w.transactions[id].Platform != p })
}

func (w *world) fund(i *intent, amount int64, to ident.InternalAccount, _ ident.ExternalAccount) {
	amount = 5 * inUnits(amount, w.internal[to].Currency)
	i.name, i.created, i.keyless = fmt.Sprintf("deposit of %d into %s", amount, to), true, false
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		funded, err := p.service.Fund(ctx, i.platform, to, amount, r)
		return funded.Transaction.ID, err
	}
	currency := w.internal[to].Currency
	i.succeeded = func(ident.Transaction) {
		w.bank.move(i.platform, transaction.DefaultFundingRail(currency).LedgerPath(), money.Amount{Minor: amount, Currency: currency}, 1)
	}
}

func (w *world) transferIn(i *intent, amount int64, to ident.InternalAccount, from ident.ExternalAccount) {
	i.name, i.created = fmt.Sprintf("transfer of %d from %s to %s", amount, from, to), true
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		t, err := p.service.TransferIn(ctx, transaction.TransferIn{Platform: i.platform, From: from, To: to, Amount: amount}, r)
		return t.ID, err
	}
}

func (w *world) transferOut(i *intent, amount int64, from ident.InternalAccount, to ident.ExternalAccount) {
	i.name, i.created = fmt.Sprintf("transfer of %d from %s to %s", amount, from, to), true
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		t, err := p.service.TransferOut(ctx, transaction.TransferOut{Platform: i.platform, From: from, To: to, Amount: amount}, r)
		return t.ID, err
	}
}

func (w *world) justInTimeQuote(i *intent, amount int64, in ident.InternalAccount, out ident.ExternalAccount) {
	source := quote.Source{Customer: w.internal[in].Customer, Currency: pick(w, []money.Currency{money.USD, money.EUR, money.EUR, money.USDC})}
	if source.Currency.IsStablecoin() {
		source.Network = string(pick(w, corridor.Chains(source.Currency)))
	}
	w.quote(i, source, w.destination(in, out), inUnits(amount, source.Currency))
}

// inUnits returns an amount of cents in the units of a currency, which are much smaller for crypto.
func inUnits(amount int64, currency money.Currency) int64 {
	if currency.IsCrypto() {
		return amount * 10_000
	}
	return amount
}

func (w *world) accountQuote(i *intent, amount int64, in ident.InternalAccount, out ident.ExternalAccount) {
	source := quote.Source{Internal: pick(w, w.internalOf(i.platform))}
	switch w.random.IntN(3) {
	case 0:
		source = quote.Source{External: pick(w, w.externalOf(i.platform))}
	case 1:
		source.Internal = in
	}
	amount = inUnits(amount, w.internal[source.Internal].Currency)
	w.quote(i, source, w.destination(in, out), amount)
}

// pulledQuote is collected from the bank account of the customer, for a wallet of theirs.
func (w *world) pulledQuote(i *intent, amount int64, in ident.InternalAccount, _ ident.ExternalAccount) {
	of := func(currency money.Currency) ident.ExternalAccount {
		return pick(w, slices.DeleteFunc(w.externalOf(i.platform), func(id ident.ExternalAccount) bool {
			return w.external[id].Customer != w.internal[in].Customer || w.external[id].Currency != currency
		}))
	}
	w.quote(i, quote.Source{External: of(money.USD)}, quote.Destination{External: of(money.BTC)}, amount%10_00+1_00) // within the limits
}

// otherProvider is the UMA address of a person at another provider.
const otherProvider = "$bo@elsewhere.test"

// isInternal reports whether a UMA address is that of a customer of the platform.
func (w *world) isInternal(p ident.Platform, address string) bool {
	return slices.ContainsFunc(w.customersOf(p), func(id ident.Customer) bool { return w.customers[id].UMAAddress == address })
}

// umaQuote sends to the UMA address of a customer of the same platform, or of a person elsewhere: at
// another provider, or on the other platform.
func (w *world) umaQuote(i *intent, amount int64, in ident.InternalAccount, _ ident.ExternalAccount) {
	to := w.customers[pick(w, w.customersOf(i.platform))].UMAAddress
	if w.chance(2) {
		to = pick(w, []string{otherProvider, w.customers[pick(w, sortedKeys(w.customers))].UMAAddress})
		amount = amount%30_00 + 1_00 // which most accounts have
	}
	l := quote.Lookup{ID: ident.NewLookup(w.newID, w.now), Platform: i.platform, ReceiverUMA: to,
		Customer: w.internal[in].Customer, Currencies: []money.Currency{pick(w, []money.Currency{money.USD, money.EUR})}, CreatedAt: w.now,
		ExpiresAt: w.now.Add(quote.LookupValidity)}
	w.lookups[l.ID] = l
	i.name, i.created = fmt.Sprintf("quote of %d from %s to %s", amount, in, to), true
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		created, err := p.service.CreateQuote(ctx, quote.Request{Platform: i.platform, Source: quote.Source{Internal: in},
			Destination: quote.Destination{UMA: to}, Lookup: l.ID, Side: quote.Sending, Amount: amount}, r)
		return created.Quote.Transaction, err
	}
}

// umaPayment is sent by a person at another provider to a customer.
func (w *world) umaPayment(i *intent, amount int64, to ident.InternalAccount, _ ident.ExternalAccount) {
	a := w.internal[to]
	in := payments.UMAPayment{Sender: otherProvider, Customer: a.Customer, Currency: a.Currency, Amount: amount}
	i.name, i.created = fmt.Sprintf("payment of %d from %s to %s", amount, otherProvider, to), true
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		t, err := p.service.SimulateUMAPayment(ctx, i.platform, in, r)
		return t.ID, err
	}
}

// assign assigns money that is unmatched: to a quote, to an account, or back to its payer. If there is
// none, a payment without a known reference arrives.
func (w *world) assign(i *intent, amount int64, in ident.InternalAccount, _ ident.ExternalAccount) {
	unmatched := slices.DeleteFunc(w.unmatchedReceipts(i.platform), func(id ident.Receipt) bool {
		u, _ := w.unmatchedOf(id)
		return u.Assignment != nil && !w.chance(10)
	})
	// waitingFor returns the transactions that money can fund.
	waitingFor := func(id ident.Receipt) []ident.Transaction {
		u, _ := w.unmatchedOf(id)
		return slices.DeleteFunc(w.transactionsOf(i.platform), func(id ident.Transaction) bool {
			t := w.transactions[id]
			return t.State != transaction.Initial || t.Pricing.Sent != u.Receipt.Amount || t.Flow().Funding != transaction.JustInTime
		})
	}
	if len(unmatched) == 0 {
		r := transaction.Receipt{Reference: "nobody's", Amount: money.Amount{Minor: amount, Currency: w.internal[in].Currency}}
		for _, id := range w.transactionsOf(i.platform) { // the amount of a quote, without its reference
			if t := w.transactions[id]; t.State == transaction.Initial && t.Flow().Funding == transaction.JustInTime {
				r.Amount = t.Pricing.Sent
			}
		}
		r.Rail = transaction.DefaultFundingRail(r.Amount.Currency)
		w.receive(i, r, func(ctx context.Context, p *process, r transaction.Receipt) (transaction.Transaction, error) {
			return p.service.Receive(ctx, r, nil)
		})
		return
	}
	if funding := slices.DeleteFunc(slices.Clone(unmatched), func(id ident.Receipt) bool { return len(waitingFor(id)) == 0 }); len(
		funding) > 0 {
		unmatched = funding
	}
	again := slices.DeleteFunc(slices.Clone(unmatched), func(id ident.Receipt) bool {
		u, _ := w.unmatchedOf(id)
		return u.SentBack().IsZero() || u.SentBack() == id
	})
	sendAgain := len(again) > 0 && w.chance(2) // refunds that failed are rare
	if sendAgain {
		unmatched = again
	}
	command := accounting.AssignCommand{Receipt: pick(w, unmatched), Note: "found"}
	u, _ := w.unmatchedOf(command.Receipt)
	fitting := waitingFor(command.Receipt)
	accounts := slices.DeleteFunc(w.internalOf(i.platform), func(id ident.InternalAccount) bool {
		return w.internal[id].Currency != u.Receipt.Amount.Currency && !w.chance(20)
	})
	switch {
	case len(fitting) > 0 && !w.chance(3):
		command.Transaction = pick(w, fitting)
	case len(accounts) > 0 && !sendAgain && !w.chance(3):
		command.Account, i.created = pick(w, accounts), true
	}
	i.name = fmt.Sprintf("assignment of %s to %s %s", command.Receipt, command.Transaction, command.Account)
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		u, err := p.finance.AssignUnmatched(ctx, i.platform, platform.Author{}, command, r)
		if err != nil {
			return ident.Transaction{}, err
		}
		return u.Done.Assignment.Transaction, nil
	}
}

// changePeriod changes the state of the last month. Before its end, an account is funded.
func (w *world) changePeriod(i *intent, amount int64, in ident.InternalAccount, out ident.ExternalAccount) {
	last, action := period.MonthOf(start), pick(w, period.Actions())
	if w.now.Before(last.End()) {
		w.fund(i, amount, in, out)
		return
	}
	i.name = fmt.Sprintf("%s of %s", action, last)
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		_, err := p.periods.ChangeState(ctx, i.platform, platform.Author{}, r, accounting.MonthChange{Action: action, Month: last,
			ConfirmOpeningBalances: true})
		return ident.Transaction{}, err
	}
}

// unmatchedReceipts returns the ids of what is or was in funding/unmatched, those of transactions
// whose refund failed included.
func (w *world) unmatchedReceipts(p ident.Platform) []ident.Receipt {
	found := slices.DeleteFunc(sortedKeys(w.unmatched), func(id ident.Receipt) bool { return w.receipts[id].Platform != p })
	for _, t := range w.transactionsOf(p) {
		if w.transactions[t].State.Refund == transaction.RefundUnpaid {
			var id ident.Receipt
			id.SetUUID(t.UUID())
			found = append(found, id)
		}
	}
	return found
}

// approve approves or rejects a payment that waits for it. If there is none, it makes a quote.
func (w *world) approve(i *intent, amount int64, in ident.InternalAccount, out ident.ExternalAccount) {
	var undecided []ident.Transaction
	for _, id := range w.transactionsOf(i.platform) {
		if t := w.transactions[id]; t.Approval != nil && (t.State.Status == transaction.Pending || w.chance(20)) {
			undecided = append(undecided, id)
		}
	}
	if len(undecided) == 0 {
		w.umaQuote(i, amount, in, out)
		return
	}
	id, approves := pick(w, undecided), !w.chance(3)
	i.name = fmt.Sprintf("approval (%t) of %s", approves, id)
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		var t transaction.Transaction
		var err error
		if approves {
			t, err = p.service.Approve(ctx, i.platform, id, nil, r)
		} else {
			t, err = p.service.Reject(ctx, i.platform, id, "no", r)
		}
		return t.ID, err
	}
}

func (w *world) destination(in ident.InternalAccount, out ident.ExternalAccount) quote.Destination {
	if w.chance(3) {
		return quote.Destination{Internal: in}
	}
	return quote.Destination{External: out}
}

func (w *world) quote(i *intent, from quote.Source, to quote.Destination, amount int64) {
	i.name, i.created = fmt.Sprintf("quote of %d from %v to %v", amount, from, to), true
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		created, err := p.service.CreateQuote(ctx, quote.Request{Platform: i.platform, Source: from, Destination: to, Side: quote.Sending,
			Amount: amount}, r)
		return created.Quote.Transaction, err
	}
}

// execute executes a quote that an account pays. If there is none, it makes one.
func (w *world) execute(i *intent, amount int64, in ident.InternalAccount, out ident.ExternalAccount) {
	var payable []ident.Quote
	for _, id := range w.quotesOf(i.platform) {
		if q := w.quotes[id]; q.Reference == "" && (w.transactions[q.Transaction].State == transaction.Initial || w.chance(50)) {
			payable = append(payable, id)
		}
	}
	if len(payable) == 0 {
		w.accountQuote(i, amount, in, out)
		return
	}
	id := pick(w, payable)
	for _, other := range payable { // which are few
		if t := w.transactions[w.quotes[other].Transaction]; t.Destination.UMA == otherProvider && t.State == transaction.Initial {
			id = other
		}
	}
	if pulled := slices.DeleteFunc(payable, func(id ident.Quote) bool {
		t := w.transactions[w.quotes[id].Transaction]
		return t.Flow().Funding != transaction.Pull || t.State != transaction.Initial
	}); w.ofPulls && len(pulled) > 0 {
		id = pick(w, pulled)
	}
	i.name, i.executes = fmt.Sprintf("execution of %s", id), id
	if q := w.quotes[id]; w.transactions[q.Transaction].Flow().Funding == transaction.Wallet {
		w.executeSigned(i, q)
		return
	}
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		executed, err := p.service.ExecuteQuote(ctx, i.platform, id, r)
		return executed.Quote.Transaction, err
	}
}

// cancelPayment cancels a payment that is on its way, or sometimes another. If there is none, it makes a transfer.
func (w *world) cancelPayment(i *intent, amount int64, in ident.InternalAccount, out ident.ExternalAccount) {
	var payments []ident.Transaction
	for _, id := range w.transactionsOf(i.platform) {
		t := w.transactions[id]
		if _, err := t.Cancellable(); err == nil || w.chance(50) {
			payments = append(payments, id)
		}
	}
	if len(payments) == 0 {
		w.transferOut(i, amount, in, out)
		return
	}
	id := pick(w, payments)
	for _, other := range w.transactionsOf(i.platform) { // which are few, and wait for their chain only for a moment
		if t := w.transactions[other]; t.Flow().Funding == transaction.Wallet && t.State == (transaction.State{Status: transaction.Processing}) &&
			t.DestinationRail != "" && !t.DestinationRail.IsChain() {
			id = other
			w.seen["cancellation while a wallet is debited"]++
		}
	}
	i.name = fmt.Sprintf("cancellation of %s", id)
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		t, err := p.service.CancelTransaction(ctx, i.platform, id, "", r)
		if fault.Is(err, fault.Conflict) {
			err = fmt.Errorf("a cancellation is refused with a fault that it does not have: %s", err.Error())
		}
		return t.ID, err
	}
	i.succeeded = func(id ident.Transaction) {
		t := w.transactions[id]
		if !t.IsCancelled() {
			w.fail("%s was cancelled, and is %s", id, t.State)
		}
		kind := "payout"
		if t.State.Stage == transaction.NoFundsMoved {
			kind = "collection"
		}
		w.seen["cancelled "+kind]++
	}
}

// pay pays for a quote: the right amount in time, or not. If there is none, it makes one.
func (w *world) pay(i *intent, amount int64, in ident.InternalAccount, out ident.ExternalAccount) {
	var payable []quote.Quote
	outgoing := 0
	for _, id := range w.quotesOf(i.platform) {
		if q := w.quotes[id]; q.Reference != "" && (w.transactions[q.Transaction].State == transaction.Initial || w.chance(20)) {
			payable = append(payable, q)
			outgoing += choose(w.transactions[q.Transaction].Type == transaction.Outgoing, 1, 0)
		}
	}
	if len(payable) == 0 || outgoing < 3 && w.chance(2) {
		w.justInTimeQuote(i, amount, in, out)
		return
	}
	q := pick(w, payable)
	for _, p := range payable {
		if w.transactions[p.Transaction].IncomingState() == transaction.AwaitingPayment {
			q = p
		}
	}
	for _, p := range payable {
		if w.exceedsLimit(w.transactions[p.Transaction]) {
			q = p
		}
	}
	r := transaction.Receipt{Reference: q.Reference, Amount: q.Pricing.Sent, Rail: w.transactions[q.Transaction].SourceRail}
	switch n := w.random.IntN(6); {
	case w.exceedsLimit(w.transactions[q.Transaction]): // which are few
	case n == 0:
		r.Amount.Minor++
	case n == 1:
		r.Reference = "nobody's"
	}
	w.receive(i, r, func(ctx context.Context, p *process, r transaction.Receipt) (transaction.Transaction, error) {
		return p.service.Receive(ctx, r, nil)
	})
}

// deposit pays into an internal account by its reference.
func (w *world) deposit(i *intent, amount int64, to ident.InternalAccount, _ ident.ExternalAccount) {
	a := w.internal[to]
	r := transaction.Receipt{Reference: a.Reference, Amount: money.Amount{Minor: inUnits(amount, a.Currency), Currency: a.Currency},
		Rail: transaction.DefaultFundingRail(a.Currency)}
	if w.chance(8) {
		r.Amount.Currency = money.BTC
		r.Rail = corridor.Layer2
	}
	i.created = true
	w.receive(i, r, func(ctx context.Context, p *process, r transaction.Receipt) (transaction.Transaction, error) {
		return p.service.Deposit(ctx, r, to, nil)
	})
}

// receive makes a rail report a payment until the report is accepted. Every report has an id of its
// own, and the time at which the rail has the money, which may be some minutes ago.
func (w *world) receive(i *intent, r transaction.Receipt,
	report func(context.Context, *process, transaction.Receipt) (transaction.Transaction, error)) {
	r.Platform, r.PartnerID, r.At = i.platform, fmt.Sprintf("partner-%d", i.number), w.now
	if w.chance(3) {
		r.At = w.now.Add(-time.Duration(w.random.IntN(10)) * time.Minute)
	}
	i.name, i.keyless, i.report = fmt.Sprintf("payment of %s for %s", r.Amount, r.Reference), true, true
	w.bank.move(i.platform, r.Rail.LedgerPath(), r.Amount, 1)
	i.do = func(ctx context.Context, p *process, _ *ports.IdempotentRequest) (ident.Transaction, error) {
		r := r
		r.ID = ident.NewReceipt(w.newID, w.now)
		t, err := report(ctx, p, r)
		return t.ID, err
	}
}

// repeatReceipt makes a rail report a payment again that was accepted.
func (w *world) repeatReceipt() {
	if len(w.intents) == 0 {
		return
	}
	i := pick(w, w.intents)
	if i.report && !slices.Contains(w.waiting, i) && !slices.Contains(w.active, i) {
		w.record("rail repeats %d", i.number)
		w.waiting = append(w.waiting, i)
	}
}
