package simulation_test

import (
	"maps"
	"slices"
	"strings"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ledger"
)

// checkCommit checks what must be true after every commit.
func (w *world) checkCommit(u *tx) {
	for _, c := range u.changed {
		w.checkTransition(c)
	}
	for _, c := range u.changed {
		w.checkPostings(w.transactions[c.after.ID])
		w.checkAuthorized(w.transactions[c.after.ID])
		w.checkProven(w.transactions[c.after.ID])
		w.checkBothSides(w.transactions[c.after.ID])
		w.checkEvents(w.transactions[c.after.ID])
	}
	w.checkBalances()
	w.checkAgents()
	w.checkLimits()
	w.checkLowValue()
}

// checkTransition checks that a state follows from the one before.
func (w *world) checkTransition(c change) {
	t := c.after
	switch {
	case t.Type == transaction.Incoming:
		if before := c.before.IncomingState(); !c.before.ID.IsZero() && before != t.IncomingState() &&
			!(c.before.State.Reason == transaction.QuoteExpired && t.Flow().Invoiced) && // paid in time, and reported later
			!slices.ContainsFunc(transaction.IncomingEvents, func(e transaction.IncomingEvent) bool {
				next, err := before.Next(e)
				return err == nil && next == t.IncomingState()
			}) {
			w.fail("%s went from %s to %s", t.ID, before, t.IncomingState())
		}
	case c.before.ID.IsZero():
		if t.State != transaction.Initial && t.State != transaction.TransferInitial && (t.State.Status != transaction.PendingAuthorization ||
			t.Authorization != transaction.AuthorizationRequired) {
			w.fail("%s began as %s", t.ID, t.State)
		}
	case c.before.State != t.State && !follows(c.before.State, t.State, 3):
		w.fail("%s went from %s to %s", t.ID, c.before.State, t.State)
	}
	if !c.before.ID.IsZero() && c.before.State != t.State && !t.UpdatedAt.After(c.before.UpdatedAt) {
		w.fail("%s was updated at %s, and before at %s", t.ID, t.UpdatedAt, c.before.UpdatedAt)
	}
}

// follows reports whether a state can be reached from another by a few events of one unit of work.
func follows(from, to transaction.State, events int) bool {
	if from == to {
		return true
	}
	return events > 0 && slices.ContainsFunc(transaction.Events, func(e transaction.Event) bool {
		next, err := from.Next(e, to.Reason)
		return err == nil && follows(next, to, events-1)
	})
}

// checkPostings checks that a transaction has the postings of its state, each once.
func (w *world) checkPostings(t transaction.Transaction) {
	kinds := slices.Clone(w.kinds[t.ID])
	if i := slices.Index(kinds, ledger.KindUnmatchedAssigned); i >= 0 { // it funds the transaction
		kinds[i] = choose(t.Type == transaction.Incoming, ledger.KindDeposit, ledger.KindJITReceived)
	}
	got, want := slices.Sorted(slices.Values(kinds)), slices.Sorted(slices.Values(t.Flow().Kinds(t.State)))
	if !slices.Equal(got, want) {
		w.fail("%s is %s and has the postings %v, not %v", t.ID, t.State, got, want)
	}
}

// checkBothSides checks that a payment between two customers is settled on both sides at once, and never
// through a partner.
func (w *world) checkBothSides(received transaction.Transaction) {
	if received.SentBy.IsZero() {
		return
	}
	sent := w.transactions[received.SentBy]
	want := sent.State
	switch received.State.Status {
	case transaction.Pending:
		want = transaction.State{Status: transaction.Processing, Stage: transaction.Converted}
	case transaction.Completed:
		want = transaction.State{Status: transaction.Completed, Stage: transaction.Delivered}
	case transaction.Failed:
		want.Status, want.Stage, want.Reason = transaction.Failed, transaction.Converted, transaction.CounterpartyPostFailed
	}
	if sent.State != want {
		w.fail("%s is %s, and the payment of its sender %s is %s", received.ID, received.State, sent.ID, sent.State)
	}
	if received.State.Status == transaction.Completed && (sent.DestinationAccount != ledger.TransitInternal ||
		received.SourceAccount != ledger.TransitInternal) {
		w.fail("%s was paid through %s and %s", received.ID, sent.DestinationAccount, received.SourceAccount)
	}
}

// checkEvents checks that the events about a transaction are in order, each once, or twice for a refund that was sent again, and that the
// last one shows its state.
func (w *world) checkEvents(t transaction.Transaction) {
	seen := map[string]int{}
	events := w.events[t.ID.UUID()]
	for i, e := range events {
		isAgain := t.Refund != nil && t.Refund.Again != "" && strings.Contains(e.Name, ".REFUND_")
		if seen[e.Name]++; seen[e.Name] > 1 && !isAgain || seen[e.Name] > 2 {
			w.fail("%s has the event %s %d times", t.ID, e.Name, seen[e.Name])
		}
		if i > 0 && e.OccurredAt.Before(events[i-1].OccurredAt) {
			w.fail("%s has the event %s of %s after %s of %s", t.ID, e.Name, e.OccurredAt, events[i-1].Name, events[i-1].OccurredAt)
		}
	}
	if len(events) == 0 {
		if t.Type == transaction.Outgoing {
			w.fail("%s has no event", t.ID)
		}
		return
	}
	// Only a change of a status is an event.
	if shown := events[len(events)-1].Resource.(transaction.Transaction); shown.State.Status != t.State.Status ||
		shown.RefundStatus() != t.RefundStatus() {
		w.fail("%s is %s with its refund %q, and its last event shows %s and %q", t.ID, t.State, t.RefundStatus(), shown.State,
			shown.RefundStatus())
	}
}

// checkBalances checks that no account that may not be overdrawn is, that debits equal credits in
// every currency, and that the last event about an account shows its balance.
func (w *world) checkBalances() {
	sums := map[ledger.Account]int64{} // without paths
	for a, balance := range w.balances {
		line, err := ledger.FindChartLine(a.Path)
		if err != nil {
			w.fail("%v", err)
		}
		if line.NoOverdraft && balance < 0 || a.Path == ledger.TransitInternal && balance != 0 {
			w.fail("%s has the balance %d", a, balance)
		}
		if !line.Class.IsDebitNormal() {
			balance = -balance
		}
		sums[ledger.Account{Platform: a.Platform, Currency: a.Currency}] += balance
		if id, internal := a.InternalAccount(); internal && !strings.HasPrefix(a.Path, receivablesPath) {
			w.checkShown(id, w.balances[a])
		}
	}
	for a, sum := range sums {
		if sum != 0 {
			w.fail("debits of %s exceed credits by %d %s", a.Platform, sum, a.Currency)
		}
	}
}

func (w *world) checkShown(id ident.InternalAccount, balance int64) {
	events := w.events[id.UUID()]
	if len(events) == 0 {
		if balance != 0 { // money that pays at once what is owed
			w.fail("the balance of %s changed without an event", id)
		}
		return
	}
	if shown := events[len(events)-1].Resource.(account.WithBalance).Balance; shown != balance {
		w.fail("%s has the balance %d, and its last event shows %d", id, balance, shown)
	}
}

// checkRest checks what must be true when nothing is left to do: everything is final, and the ledger
// shows what the rails have really done.
func (w *world) checkRest() {
	w.checkClients()
	w.checkTrail()
	for _, id := range sortedKeys(w.transactions) {
		t := w.transactions[id]
		if !t.State.IsFinal() {
			w.fail("%s is still %s", id, t.State)
		}
		w.checkOrders(t)
		w.checkInvoiced(t)
	}
	w.checkUnmatched()
	w.checkTakenBack()
	w.checkClosings()
	w.checkPlatformFees()
	w.receiveFromOthers()
	held := map[holding]int64{}
	for a, balance := range w.balances {
		line, err := ledger.FindChartLine(a.Path)
		switch {
		case err != nil:
			w.fail("%v", err)
		case a.Path == ledger.FundingJIT || a.Path == ledger.TransitPayouts || a.Path == ledger.TransitRefunds ||
			a.Path == ledger.PlatformFeesPending:
			if balance != 0 {
				w.fail("%d %s remain in %s", balance, a.Currency, a.Path)
			}
		case line.Class == ledger.Asset && !strings.HasPrefix(a.Path, receivablesPath):
			held[holding{a.Platform, a.Path, a.Currency}] = balance
		}
	}
	for h, balance := range w.bank.balances {
		if held[h] != balance {
			w.fail("%s has %d %s, and the ledger shows %d", h.path, balance, h.currency, held[h])
		}
		delete(held, h)
	}
	for h, balance := range held {
		if balance != 0 {
			w.fail("%s has no %s, and the ledger shows %d", h.path, h.currency, balance)
		}
	}
}

// outcomes counts what has become of the payments.
func (w *world) outcomes() map[string]int {
	counts := map[string]int{}
	for _, t := range w.transactions {
		kind := "payout"
		switch {
		case t.Flow().Funding == transaction.Wallet:
			kind = "payout of a wallet"
		case t.Flow().ToWallet:
			kind = "payout to a wallet"
		case t.Flow().Invoiced && t.State.Refund != transaction.NoRefund:
			kind = "invoiced payment that cannot be credited"
		case t.Flow().Invoiced:
			kind = "invoiced payment"
		case t.Type == transaction.Incoming && t.Source.UMA == otherProvider:
			kind = "deposit from another provider"
		case t.Type == transaction.Incoming:
			kind = "deposit"
		case t.Destination.UMA != "" && w.isInternal(t.Platform, t.Destination.UMA):
			kind = "payout to a customer"
		case t.Destination.UMA != "":
			kind = "payout to another provider"
		}
		counts[kind+" "+string(t.State.Status)]++
	}
	for _, p := range w.postings {
		if strings.Contains(p.Memo, "for 2026-03-31") {
			counts["posting that is too late for its month"]++
		}
	}
	w.agentOutcomes(counts)
	w.limitOutcomes(counts)
	w.scaOutcomes(counts)
	w.railOutcomes(counts)
	counts["closed month"] += len(w.closings)
	for posting, a := range w.assignments {
		kind := "assignment to a quote"
		switch {
		case !a.Account.IsZero():
			kind = "assignment to an account"
		case a.Transaction.IsZero():
			kind = "return to the payer"
		}
		counts[kind]++
		if w.postings[posting].Kind == ledger.KindRefundFailed {
			counts["assignment of a refund"]++
			if a.IsSentBack() && a.By != transaction.ReversedBy {
				counts["refund that is sent again"]++
			}
		}
	}
	return counts
}

// receiveFromOthers moves the money of payments from other providers: they send what was approved.
func (w *world) receiveFromOthers() {
	for _, t := range w.transactions {
		if t.Type == transaction.Incoming && t.Source.UMA == otherProvider && t.State.Status == transaction.Completed && !t.Flow().Invoiced {
			w.bank.move(t.Platform, transaction.UMARail.LedgerPath(), t.Pricing.Received, 1)
		}
	}
}

// checkUnmatched checks that the money in funding/unmatched is that which nobody assigned.
func (w *world) checkUnmatched() {
	unassigned := map[ledger.Account]int64{}
	for p := range w.platforms {
		for _, id := range w.unmatchedReceipts(p) {
			if u, _ := w.unmatchedOf(id); u.Assignment == nil {
				unassigned[ledger.Account{Platform: p, Path: ledger.FundingUnmatched, Currency: u.Receipt.Amount.Currency}] += u.Receipt.Amount.Minor
			}
		}
	}
	for a, balance := range w.balances {
		if a.Path == ledger.FundingUnmatched && balance != unassigned[a] {
			w.fail("%s has the balance %d, and %d is not assigned", a, balance, unassigned[a])
		}
		delete(unassigned, a)
	}
	if len(unassigned) > 0 {
		w.fail("not assigned, and in no account: %v", unassigned)
	}
}

// checkClosings checks that no posting is in a month that was closed before.
func (w *world) checkClosings() {
	for closed, balances := range w.closings {
		if now := w.balancesAt(closed.platform, closed.month.End()); !maps.Equal(now, balances) {
			w.fail("%s of %s was closed with the balances %v, and they are %v", closed.month, closed.platform, balances, now)
		}
	}
}

// checkClients checks that every transaction has a client who knows of it or may have made it, and
// that of the executions of a quote one at least succeeded, or may have, before others are refused.
func (w *world) checkClients() {
	known, executed := map[ident.Transaction]bool{}, map[ident.Quote]bool{}
	unknown := 0
	for _, i := range w.intents {
		if i.created {
			known[i.id] = true
			unknown += choose(i.unknown, 1, 0)
		}
		executed[i.executes] = executed[i.executes] || i.unknown || !i.id.IsZero()
	}
	for _, i := range w.intents {
		if fault.Is(i.err, fault.QuoteAlreadyExecuted) && !executed[i.executes] {
			w.fail("%s is refused (%v), and so is every other", i.name, i.err)
		}
	}
	derived := map[ident.Transaction]bool{}
	for id := range w.transactions {
		derived[transaction.CounterpartID(id)] = true // the service makes it itself
	}
	for id := range w.transactions {
		if !known[id] && !derived[id] {
			unknown--
		}
	}
	if unknown < 0 {
		w.fail("of %d transactions no client can know", -unknown)
	}
}

// checkPlatformFees checks that each platform has earned the fees of its completed payments, and no others.
func (w *world) checkPlatformFees() {
	earned := map[ledger.Account]int64{}
	for _, t := range w.transactions {
		if t.Type == transaction.Outgoing && t.State.Status == transaction.Completed {
			earned[ledger.Account{Platform: t.Platform, Path: ledger.PlatformFees, Currency: t.Pricing.Sent.Currency}] += t.Pricing.PlatformFees
		}
	}
	for a, want := range earned {
		if got := w.balances[a]; got != want {
			w.fail("a platform has earned %d %s, and its account has %d", want, a.Currency, got)
		}
	}
	for a, balance := range w.balances {
		if _, completed := earned[a]; a.Path == ledger.PlatformFees && !completed && balance != 0 {
			w.fail("a platform has earned nothing in %s, and its account has %d", a.Currency, balance)
		}
	}
}

// checkOrders checks that a final transaction shows what the rails have done for it.
func (w *world) checkOrders(t transaction.Transaction) {
	id := t.ID.UUID()
	payout := w.bank.payouts[id]
	paid := payout.done()
	if t.Type == transaction.Outgoing && w.isInternal(t.Platform, t.Destination.UMA) {
		paid = w.transactions[transaction.CounterpartID(t.ID)].State.Status == transaction.Completed
	}
	for _, c := range []struct {
		what        string
		shown, done bool
	}{
		{"paid out", t.Type == transaction.Outgoing && t.State.Stage == transaction.Delivered && !t.Flow().Internal, paid},
		{"returned", t.Type == transaction.Outgoing && t.State.Stage == transaction.Delivered && t.State.Status == transaction.Failed,
			payout != nil && payout.returned},
		{"refunded", t.State.Refund == transaction.RefundCompleted && (!w.isRefundedInside(t) || w.bank.refunds[id].done()),
			w.bank.refunds[id].done()},
		{"collected", (t.Flow().Funding == transaction.Pull || t.Flow().Funding == transaction.Wallet) &&
			(t.State.Stage != transaction.NoFundsMoved || t.IncomingState() == transaction.Credited && t.Type == transaction.Incoming),
			w.bank.collections[id].done()},
	} {
		if c.shown != c.done {
			w.fail("%s is %s; %s: %t, by the rail: %t", t.ID, t.State, c.what, c.shown, c.done)
		}
	}
}
