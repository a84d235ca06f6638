package accounting_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/app/internal/apptest"
	"causeway/app/payments"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/financials"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/price"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/yearend"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

// eventTypes lists the types of the events of a timeline.
func eventTypes(s accounting.Timeline) string {
	words := make([]string, len(s.Events))
	for i, c := range s.Events {
		words[i] = string(c.Type)
	}
	return strings.Join(words, " ")
}

func (e *env) wantTimeline(t *testing.T, id ident.Transaction, want string) accounting.Timeline {
	t.Helper()
	s, err := e.accounting.Timeline(t.Context(), e.Admin.Platform, id)
	if err != nil || !s.Complete || eventTypes(s) != want {
		t.Errorf("%v: events\n%s\nwant\n%s", err, eventTypes(s), want)
	}
	if !slices.IsSortedFunc(s.Events, func(a, b accounting.TimelineEvent) int { return a.At.Compare(b.At) }) {
		t.Error("events out of order")
	}
	return s
}

func TestTimeline_PaymentOfAgent(t *testing.T) {
	t.Parallel()
	// The timeline of a payment that an agent asked for has what its audit trail says about it.
	env := newEnv(t)
	now := env.Clock.Now()
	a := agent.Agent{ID: ident.NewAgent(env.IDs.New, now), Platform: env.Platform.ID, Customer: env.Customer.ID, Name: "Shopping assistant",
		CreatedAt: now, UpdatedAt: now,
		Policy: agent.Policy{Permissions: agent.Permissions, DefaultMode: agent.ApprovalRequired, Limits: agent.SpendingLimits{Currency: "USD",
			PerTransaction: 100_00}}}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateAgent(ctx, a) })
	caller := platform.Principal{Platform: env.Platform.ID, Environment: platform.Sandbox, Agent: a.ID, Customer: env.Customer.ID}
	from, to := env.NewInternalAccount(env.Customer.ID, "USD", 100_00), env.NewWallet("spark1good")
	q, err := env.payments.CreateAgentQuote(t.Context(), caller, quote.Request{Source: quote.Source{Internal: from.ID},
		Destination: quote.Destination{External: to.ID}, Side: quote.Sending, Amount: 50_00}, nil)
	if err != nil {
		t.Fatal(err)
	}
	env.Clock.Advance(time.Second)
	waiting, err := env.payments.ExecuteAgentQuote(t.Context(), caller, q.Quote.ID, payments.Signature{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	env.Clock.Advance(time.Second)

	if _, err := env.payments.ApproveAgentAction(t.Context(), env.Admin, a.ID, waiting.ID, nil); err != nil {
		t.Fatal(err)
	}
	env.WaitForState(q.Quote.Transaction, "COMPLETED")

	s := env.wantTimeline(t, q.Quote.Transaction, "REQUESTED QUOTED AGENT EVENT AGENT AGENT POSTED RAIL_REPLIED POSTED EVENT EVENT")
	var operations []agent.Operation
	for _, e := range s.Events {
		if e.AgentAttempt != nil {
			operations = append(operations, e.AgentAttempt.Operation)
		}
	}
	if want := []agent.Operation{agent.OpCreateQuote, agent.OpExecuteQuote, agent.OpApprove}; !slices.Equal(operations, want) {
		t.Errorf("operations %q, want %q", operations, want)
	}
}

func TestTimeline_ApprovedTransferOfAgent(t *testing.T) {
	t.Parallel()
	// The timeline of a transfer has also what its agent asked for before there was a transaction.
	env := newEnv(t)
	now := env.Clock.Now()
	a := agent.Agent{ID: ident.NewAgent(env.IDs.New, now), Platform: env.Platform.ID, Customer: env.Customer.ID, Name: "Shopping assistant",
		CreatedAt: now, UpdatedAt: now,
		Policy: agent.Policy{Permissions: agent.Permissions, DefaultMode: agent.ApprovalRequired, Limits: agent.SpendingLimits{Currency: "USD",
			PerTransaction: 100_00}}}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateAgent(ctx, a) })
	caller := platform.Principal{Platform: env.Platform.ID, Environment: platform.Sandbox, Agent: a.ID, Customer: env.Customer.ID}
	out := transaction.TransferOut{From: env.NewInternalAccount(env.Customer.ID, "USD", 100_00).ID, To: env.NewBankAccount("123456789").ID,
		Amount: 50_00}
	waiting, err := env.payments.AgentTransferOut(t.Context(), caller, out, nil)
	if err != nil {
		t.Fatal(err)
	}
	env.Clock.Advance(time.Second)

	approved, err := env.payments.ApproveAgentAction(t.Context(), env.Admin, a.ID, waiting.ID, nil)
	if err != nil || approved.Transaction == nil {
		t.Fatalf("%+v, %v", approved, err)
	}
	env.WaitForState(approved.Transaction.ID, "COMPLETED")

	s := env.wantTimeline(t, approved.Transaction.ID, "AGENT REQUESTED AGENT POSTED RAIL_REPLIED POSTED EVENT EVENT EVENT")
	if first := s.Events[0].AgentAttempt; first.Operation != agent.OpTransferOut || first.Action != waiting.ID || !first.Transaction.IsZero() {
		t.Errorf("%+v", first)
	}
}

func TestTimeline_RefundedPayment(t *testing.T) {
	t.Parallel()
	// The timeline has everything in order: request, quote, postings, replies of the rail,
	// events, and the surplus payment.
	env := newEnv(t)
	q := env.createQuote(t, "spark1002", 10050)
	env.receivePayment(t, q.Reference, 10050)
	env.WaitForState(q.Transaction, "FAILED (refund COMPLETED)")
	env.Clock.Advance(time.Minute)
	env.receivePayment(t, q.Reference, 500)
	env.waitForBalances(t, map[string]string{})

	s, err := env.accounting.Timeline(t.Context(), env.Admin.Platform, q.Transaction)

	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	var refused, done bool
	for _, c := range s.Events {
		if c.Posting != nil {
			kinds = append(kinds, string(c.Posting.Kind))
		}
		if c.RailReply != nil {
			refused = refused || c.RailReply.Call == ports.CallSend && c.RailReply.Verdict == ports.Refused && c.RailReply.Reason != ""
			done = done || c.RailReply.Call == ports.CallRefund && c.RailReply.Verdict == ports.Done
		}
	}
	want := []string{"jit_received", "converted", "reversal", "refund_owed", "refund_paid", "jit_received", "refund_owed", "refund_paid"}
	if !slices.Equal(kinds, want) || !refused || !done {
		t.Errorf("postings %v, refused %t, refunded %t", kinds, refused, done)
	}
	if s.Events[0].Type != accounting.TimelineRequested || s.Events[1].Quote == nil || s.Events[1].Quote.Pricing.Sent.Minor != 10050 {
		t.Errorf("the first events are %+v and %+v", s.Events[0], s.Events[1])
	}
	if _, err := env.accounting.Timeline(t.Context(), newPlatformID(), q.Transaction); !fault.Is(err, fault.TransactionNotFound) {
		t.Errorf("another platform: %v", err)
	}
}

func TestTimeline_WhatThePartnerSays(t *testing.T) {
	t.Parallel()
	// The code and the words of a rejection are in the timeline, and in its table.
	env := newEnv(t)
	q := env.createQuote(t, "spark1002", 10050)
	env.receivePayment(t, q.Reference, 10050)
	env.WaitForState(q.Transaction, "FAILED (refund COMPLETED)")
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.SaveRailReplies(ctx, []ports.RailReply{{Platform: env.Admin.Platform, Subject: q.Transaction.UUID(), Call: ports.CallSend,
			At: env.Clock.Now(),
			Outcome: ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, PartnerID: "TRX-1", Code: "AC04",
				Text: "Closed in May"}}})
	})

	s, err := env.accounting.Timeline(t.Context(), env.Admin.Platform, q.Transaction)

	if err != nil {
		t.Fatal(err)
	}
	shown := slices.ContainsFunc(s.Events, func(e accounting.TimelineEvent) bool {
		return e.RailReply != nil && e.RailReply.Code == "AC04" && e.RailReply.Text == "Closed in May"
	})
	written := slices.ContainsFunc(s.Table().Rows, func(row []string) bool {
		return row[len(row)-1] == "COUNTERPARTY_POST_TX_FAILED, AC04, "+
			"Closed in May"
	})
	if !shown || !written {
		t.Errorf("shown %t, in the table %t: %v", shown, written, s.Table().Rows)
	}
}

func (e *env) header(effective time.Time) ledger.Header {
	return ledger.Header{ID: newReceiptID().UUID(), Platform: e.Admin.Platform, Effective: effective}
}

func dollars(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

// postFee records a payment with a fee.
func (e *env) postFee(t *testing.T, effective time.Time, minor int64) {
	t.Helper()
	e.Post(ledger.JITReceived(e.header(effective), "rails/RTP", dollars(100)),
		ledger.Converted(e.header(effective), ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts,
			Sent: dollars(100), Fees: minor,
			Received: money.Amount{Minor: 7, Currency: "BTC"}}))
}

func TestTrialBalance(t *testing.T) {
	t.Parallel()
	// The columns of an interval follow from each other and balance in every currency, and a
	// posting counts by the requested time, recorded or effective.
	env := newEnv(t)
	day := func(n int) time.Time { return apptest.Noon.AddDate(0, 0, n) }
	env.postFee(t, day(0), 5)
	env.Clock.Advance(48 * time.Hour)
	env.postFee(t, day(1), 3) // recorded on the second day, of the first

	for name, c := range map[string]struct {
		query accounting.TrialBalanceQuery
		want  [4]string // of income/fees USD
	}{
		"all":            {accounting.TrialBalanceQuery{}, [4]string{"0", "0", "8", "-8"}},
		"recorded first": {accounting.TrialBalanceQuery{Interval: period.Interval{To: day(1)}}, [4]string{"0", "0", "5", "-5"}},
		"recorded second": {accounting.TrialBalanceQuery{Interval: period.Interval{From: day(1), To: day(2).Add(time.Millisecond)}},
			[4]string{"-5", "0", "3", "-8"}},
		"effective first": {accounting.TrialBalanceQuery{By: ports.ByEffective, Interval: period.Interval{To: day(1).Add(time.Millisecond)}},
			[4]string{"0", "0", "8", "-8"}},
		"effective second": {accounting.TrialBalanceQuery{By: ports.ByEffective, Interval: period.Interval{From: day(1).Add(time.Millisecond),
			To: day(2)}}, [4]string{"-8", "0", "0", "-8"}},
		"effective from then": {accounting.TrialBalanceQuery{By: ports.ByEffective, Interval: period.Interval{From: day(1)}},
			[4]string{"-5", "0", "3", "-8"}},
	} {
		for _, grouped := range []bool{false, true} {
			c.query.Grouped = grouped
			b, err := env.accounting.TrialBalance(t.Context(), env.Admin.Platform, c.query)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range b.Totals {
				if !s.Balanced() {
					t.Errorf("%s: %+v", name, s)
				}
			}
			i := slices.IndexFunc(b.Lines, func(l accounting.TrialBalanceLine) bool { return l.Path == ledger.IncomeFees && l.Currency == "USD" })
			if i < 0 || len(b.Totals) != 2 {
				t.Fatalf("%s: %+v", name, b)
			}
			l := b.Lines[i]
			if got := [4]string{l.Opening.String(), l.Debits.String(), l.Credits.String(), l.Closing.String()}; got != c.want {
				t.Errorf("%s, grouped %t: %v, want %v", name, grouped, got, c.want)
			}
			if !grouped {
				env.wantSums(t, name, c.query, b)
			}
			if rails := slices.ContainsFunc(b.Lines,
				func(l accounting.TrialBalanceLine) bool { return l.Path == "rails/<RAIL>" }); rails != grouped {
				t.Errorf("%s: grouped %t, asked %t", name, rails, grouped)
			}
		}
	}
	for name, interval := range map[string]period.Interval{
		"future": {To: env.Clock.Now().Add(time.Second)}, "future from": {From: env.Clock.Now().Add(time.Second)},
		"reversed": {From: day(1), To: day(0)}, "empty": {From: day(1), To: day(1)},
	} {
		if _, err := env.accounting.TrialBalance(t.Context(), env.Admin.Platform, accounting.TrialBalanceQuery{Interval: interval}); !fault.Is(
			err, fault.InvalidInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// wantSums holds that what the figures of a trial balance lead to adds up to them.
func (e *env) wantSums(t *testing.T, name string, q accounting.TrialBalanceQuery, b accounting.TrialBalance) {
	t.Helper()
	for _, l := range b.Lines {
		for part, want := range map[financials.Part]money.Total{financials.Debits: l.Debits, financials.Credits: l.Credits,
			financials.AllEntries: l.Class.Balance(l.Debits, l.Credits)} {
			f := ports.AccountEntryFilter{Account: ledger.Account{Platform: e.Admin.Platform, Path: l.Path, Currency: l.Currency}, By: q.By,
				Interval: q.Interval, Part: part, Limit: 9}
			sum, err := e.accounting.EntriesSum(t.Context(), f)
			if err != nil || !sum.Equal(want) {
				t.Errorf("%s: %s of %s come to %s, %v; want %s", name, part, l.Path, sum, err, want)
			}
			page, err := e.accounting.Entries(t.Context(), f)
			if err != nil || part != financials.AllEntries && slices.ContainsFunc(page.Entries, func(e ports.AccountEntry) bool {
				return (e.Debit == l.Path) != (part == financials.Debits)
			}) {
				t.Errorf("%s: %s of %s: %+v, %v", name, part, l.Path, page.Entries, err)
			}
		}
	}
}

func TestTrialBalance_OfAGroup(t *testing.T) {
	t.Parallel()
	// The accounts are those whose paths begin with a text, or exactly those of a line of the chart, in all currencies or one.
	env := newEnv(t)
	env.postFee(t, apptest.Noon, 5)
	env.Post(ledger.JITReceived(env.header(apptest.Noon), "rails/ACH", dollars(7)))
	for want, q := range map[string]accounting.TrialBalanceQuery{
		"rails/ACH rails/RTP":         {Group: "rails/<RAIL>"},
		"rails/ACH":                   {Group: "rails/ACH"},
		"funding/jit":                 {Group: "funding/"},
		"":                            {Group: "chains/<network>"},
		"fx/position":                 {Group: "fx/position", Currency: "BTC"},
		"fx/position transit/payouts": {Currency: "BTC"},
		"rails/<RAIL>":                {Group: "rails/<RAIL>", Grouped: true},
	} {
		b, err := env.accounting.TrialBalance(t.Context(), env.Admin.Platform, q)
		paths := make([]string, len(b.Lines))
		for i, l := range b.Lines {
			paths[i] = l.Path
		}
		if got := strings.Join(paths, " "); err != nil || got != want {
			t.Errorf("%+v: %q, %v; want %q", q, got, err, want)
		}
	}
}

func TestIncome(t *testing.T) {
	t.Parallel()
	// Income belongs to the period of the requested time, recorded or effective; the periods
	// are consecutive and cover the interval.
	env := newEnv(t)
	env.postFee(t, apptest.Noon, 5)
	env.Clock.Advance(24 * time.Hour)
	env.postFee(t, apptest.Noon, 3)
	env.Clock.Advance(24 * time.Hour)

	for _, c := range []struct {
		by   ports.TimeKind
		step accounting.Granularity
		want []string
	}{
		{ports.ByRecorded, accounting.Daily, []string{"5", "3", ""}},
		{ports.ByEffective, accounting.Daily, []string{"8", "", ""}},
		{ports.ByRecorded, accounting.Monthly, []string{"8"}},
	} {
		got, err := env.accounting.Income(t.Context(), env.Admin.Platform,
			accounting.IncomeQuery{By: c.by, Interval: period.Interval{From: apptest.Noon}, Granularity: c.step})
		if err != nil || len(got.Periods) != len(c.want) {
			t.Fatalf("%+v, %v", got, err)
		}
		for i, p := range got.Periods {
			earned := ""
			for _, l := range p.Lines {
				earned += l.Amount.String()
			}
			if earned != c.want[i] {
				t.Errorf("by %d, %s, period %d: %q, want %q", c.by, c.step, i, earned, c.want[i])
			}
			if i > 0 && !p.From.Equal(got.Periods[i-1].To) {
				t.Errorf("%s follows %s", p.From, got.Periods[i-1].To)
			}
		}
		if !got.Periods[0].From.Equal(apptest.Noon) || !got.Periods[len(got.Periods)-1].To.Equal(env.Clock.Now().Add(time.Millisecond)) {
			t.Errorf("from %s to %s", got.Periods[0].From, got.Periods[len(got.Periods)-1].To)
		}
	}
	if _, err := env.accounting.Income(t.Context(), env.Admin.Platform,
		accounting.IncomeQuery{Interval: period.Interval{From: apptest.Noon.AddDate(-1, 0, 0)}, Granularity: accounting.Daily}); !fault.Is(err,
		fault.InvalidInput) {
		t.Errorf("a year of days: %v", err)
	}
}

func TestFXPosition(t *testing.T) {
	t.Parallel()
	// Positions are valued at the current rate, rounded towards zero; a currency without a rate
	// leaves the total without a value.
	env := newEnv(t)
	env.postFee(t, apptest.Noon, 5)
	env.accounting.Market = fakeRates{"BTC": "10.5", "USD": "1"}

	got, err := env.accounting.FXPosition(t.Context(), env.Admin.Platform, ports.Cutoff{}, "USD")

	if err != nil || len(got.Lines) != 2 || !got.AllValued || got.Value.String() != "22" {
		t.Fatalf("%+v, %v", got, err)
	}
	if l := got.Lines[0]; l.Currency != "BTC" || l.Position.String() != "-7" || l.Value.String() != "-73" || !l.RateAt.Equal(apptest.Noon) {
		t.Errorf("%+v", l)
	}
	if l := got.Lines[1]; l.Currency != "USD" || l.Position.String() != "95" || l.Value.String() != "95" {
		t.Errorf("%+v", l)
	}
	env.accounting.Market = fakeRates{}
	env.Clock.Advance(5 * time.Minute)
	if got, err = env.accounting.FXPosition(t.Context(), env.Admin.Platform, ports.Cutoff{}, "USD"); err != nil || got.AllValued ||
		got.Lines[0].Valued {
		t.Errorf("without a rate: %+v, %v", got, err)
	}
	if _, err = env.accounting.FXPosition(t.Context(), env.Admin.Platform, ports.Cutoff{}, "XXX"); !fault.Is(err, fault.InvalidCurrency) {
		t.Errorf("in no currency: %v", err)
	}
	if _, err = env.accounting.FXPosition(t.Context(), env.Admin.Platform, ports.Cutoff{Moment: apptest.Noon.Add(time.Hour)},
		"USD"); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("in the future: %v", err)
	}
}

func TestFXPosition_PastRates(t *testing.T) {
	t.Parallel()
	// A position of the past has the rates of its time: the same answer however often and late it
	// is asked, in any currency. For a time without kept rates it has no value, and says since when
	// rates are kept.
	env := newEnv(t)
	env.postFee(t, apptest.Noon, 5) // 95 USD bought, 7 BTC sold
	position := func(at time.Time, in money.Currency) accounting.FXPosition {
		t.Helper()
		got, err := env.accounting.FXPosition(t.Context(), env.Admin.Platform, ports.Cutoff{Moment: at}, in)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := position(apptest.Noon, "USD"); got.AllValued || got.Lines[0].Valued || got.Lines[1].Valued || !got.RatesKeptAt.IsZero() ||
		!got.FirstRatesAt.IsZero() || got.Lines[1].Position.String() != "95" {
		t.Errorf("before any rates: %+v", got)
	}
	env.Clock.Advance(time.Minute)
	first := env.Clock.Now()
	env.accounting.Market = fakeRates{"BTC": "10.5", "USD": "1", "EUR": "2"}
	asked := position(time.Time{}, "EUR") // keeps the rates
	env.Clock.Advance(2 * time.Hour)
	env.accounting.Market = fakeRates{"BTC": "20", "USD": "1", "EUR": "4"}
	if err := env.accounting.KeepRates(t.Context()); err != nil {
		t.Fatal(err)
	}
	env.Clock.Advance(30 * time.Hour)
	env.accounting.Market = fakeRates{}

	for name, c := range map[string]struct {
		at        time.Time
		in        money.Currency
		value     string
		rate      string
		keptAfter time.Duration
	}{
		"as asked then":          {asked.AsOf, "EUR", "11", "5.25", 0}, // -7 * 10.5 / 2 + 95 / 2, each towards zero
		"in dollars":             {first, "USD", "22", "10.5", 0},
		"before the next":        {first.Add(2*time.Hour - time.Millisecond), "USD", "22", "10.5", 0},
		"with the next":          {first.Add(2 * time.Hour), "USD", "-45", "20", 2 * time.Hour},
		"a day after the last":   {first.Add(26*time.Hour - time.Millisecond), "USD", "-45", "20", 2 * time.Hour},
		"the next in euro again": {first.Add(3 * time.Hour), "EUR", "-12", "5", 2 * time.Hour},
	} {
		got := position(c.at, c.in)
		if again := position(c.at, c.in); !reflect.DeepEqual(got, again) {
			t.Errorf("%s: %+v, asked again %+v", name, got, again)
		}
		if !got.AllValued || got.Value.String() != c.value || got.Lines[0].Rate.Cmp(money.MustRate(c.rate)) != 0 ||
			got.Lines[0].RateSource != "TEST" || !got.RatesKeptAt.Equal(first.Add(c.keptAfter)) {
			t.Errorf("%s: %+v, want a value of %s at %s", name, got, c.value, c.rate)
		}
	}
	if got := position(asked.AsOf, "EUR"); !reflect.DeepEqual(got.Lines, asked.Lines) || !got.Value.Equal(asked.Value) {
		t.Errorf("asked later %+v, at first %+v", got, asked)
	}
	for name, at := range map[string]time.Time{"before rates were kept": first.Add(-time.Millisecond), "in a gap": first.Add(27 * time.Hour)} {
		if got := position(at, "USD"); got.AllValued || got.Lines[0].Valued || !got.Lines[0].Rate.IsZero() || !got.RatesKeptAt.IsZero() ||
			!got.FirstRatesAt.Equal(first) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestKeepRates_Hourly(t *testing.T) {
	t.Parallel()
	// Called every minute, rates are kept once an hour.
	env := newEnv(t)
	env.accounting.Market = fakeRates{"USD": "1", "EUR": "1.1"}
	for range 121 {
		if err := env.accounting.KeepRates(t.Context()); err != nil {
			t.Fatal(err)
		}
		env.Clock.Advance(time.Minute)
	}
	var n int
	if err := env.Store.Pool().QueryRow(t.Context(), "SELECT count(*) FROM market_rates").Scan(&n); err != nil || n != 6 {
		t.Errorf("%d rates kept in two hours, want 3 times 2; %v", n, err)
	}
}

// fakeRates are market rates to dollars; other currencies have no rate.
type fakeRates map[money.Currency]string

func (p fakeRates) Rate(_ context.Context, from, _ money.Currency, _ time.Time) (ports.MarketRate, error) {
	rate, known := p[from]
	if !known {
		return ports.MarketRate{}, fault.New(fault.QuoteRequestFailed, "no rate")
	}
	return ports.MarketRate{Rate: money.MustRate(rate), At: apptest.Noon, Source: "TEST"}, nil
}

func TestAccount_AtTime(t *testing.T) {
	t.Parallel()
	// A balance at a time includes its whole millisecond; a time in the future and an account
	// without postings are refused.
	env := newEnv(t)
	env.Clock.Advance(123456 * time.Nanosecond)
	env.Post(ledger.JITReceived(env.header(apptest.Noon), "rails/RTP", dollars(100)))

	for moment, want := range map[time.Time]string{apptest.Noon.Add(-time.Millisecond): "0", apptest.Noon: "100", {}: "100"} {
		got, err := env.accounting.Account(t.Context(), env.Admin.Platform, "rails/RTP", "USD", ports.Cutoff{Moment: moment})
		if err != nil || got[0].Balance.String() != want {
			t.Errorf("at %s: %+v, %v; want %s", moment, got, err, want)
		}
	}
	if _, err := env.accounting.Account(t.Context(), env.Admin.Platform, "rails/RTP", "",
		ports.Cutoff{Moment: apptest.Noon.Add(time.Second)}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("the future: %v", err)
	}
	for _, path := range []string{"rails/ACH", "rails/", "' OR 1=1", ""} {
		if _, err := env.accounting.Account(t.Context(), env.Admin.Platform, path, "", ports.Cutoff{}); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", path, err)
		}
		account := ledger.Account{Platform: env.Admin.Platform, Path: path, Currency: "USD"}
		if _, err := env.accounting.Entries(t.Context(), ports.AccountEntryFilter{Account: account, Limit: 1}); !fault.Is(err, fault.NotFound) {
			t.Errorf("entries of %q: %v", path, err)
		}
	}
}

// slowLedger is a ledger whose reports take too long.
type slowLedger struct{ accounting.Finance }

func (slowLedger) Turnovers(context.Context, ident.Platform, ledger.Class, []ports.Cutoff, func(ports.AccountTurnovers) error) error {
	return fmt.Errorf("read turnovers: %w", ports.ErrReadTimeout)
}

func (slowLedger) Postings(context.Context, ports.PostingFilter) (ports.PostingPage, error) {
	return ports.PostingPage{}, context.DeadlineExceeded
}

func (slowLedger) AccountEntries(context.Context, ports.AccountEntryFilter) (ports.AccountEntryPage, bool, error) {
	return ports.AccountEntryPage{}, false, ports.ErrReadTimeout
}

func (slowLedger) AccountEntriesSum(context.Context, ports.AccountEntryFilter) (money.Total, error) {
	return money.Total{}, ports.ErrReadTimeout
}

func (slowLedger) LedgerAccounts(context.Context, ident.Platform, ports.LedgerAccountFilter) (ports.LedgerAccountPage, error) {
	return ports.LedgerAccountPage{}, ports.ErrReadTimeout
}

// noYears has no closings of years.
type noYears struct{ accounting.Store }

func (noYears) YearClosings(context.Context, ident.Platform) ([]yearend.Closing, error) {
	return nil, nil
}

// currentRates has always just kept rates.
type currentRates struct{ ports.KeptRates }

func (currentRates) RatesAt(_ context.Context, moment time.Time) (price.KeptRates, error) {
	return price.KeptRates{At: moment}, nil
}

func TestReports_TooSlowSayWhatToNarrow(t *testing.T) {
	t.Parallel()
	// A report that reads for too long is refused with the parameters that make it smaller.
	service := accounting.New(accounting.Config{Store: noYears{}, Ledger: slowLedger{}, KeptRates: currentRates{},
		Clock: portstest.NewFakeClock(apptest.Noon)})
	ctx, from := t.Context(), apptest.Noon.Add(-time.Hour)
	var p ident.Platform
	for name, c := range map[string]struct {
		read func() error
		want string
	}{
		"trial balance": {func() error { _, err := service.TrialBalance(ctx, p, accounting.TrialBalanceQuery{}); return err },
			"GET /ledger/accounts"},
		"income": {func() error {
			_, err := service.Income(ctx, p, accounting.IncomeQuery{Interval: period.Interval{From: from}, Granularity: accounting.Daily})
			return err
		}, "from"},
		"fx":       {func() error { _, err := service.FXPosition(ctx, p, ports.Cutoff{}, money.USD); return err }, "by=recorded"},
		"postings": {func() error { _, err := service.Postings(ctx, ports.PostingFilter{Platform: p}); return err }, "from and to"},
		"entries": {func() error {
			_, err := service.Entries(ctx, ports.AccountEntryFilter{Account: ledger.Account{Platform: p, Path: ledger.IncomeFees,
				Currency: money.USD}})
			return err
		}, "from and to"},
		"accounts": {func() error { _, err := service.Accounts(ctx, p, ports.LedgerAccountFilter{}); return err }, "prefix"},
	} {
		err := c.read()
		if f, ok := fault.As(err); !ok || f.Code != fault.ServiceUnavailable || f.RetryAfter == 0 || !strings.Contains(f.Message, c.want) {
			t.Errorf("%s: %v, want that it says %q", name, err, c.want)
		}
	}
}
