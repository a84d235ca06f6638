package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/app/platforms"
	"causeway/app/receivers"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	rules "causeway/core/uma"
	"causeway/ports"
)

// lookUp looks the other customer up from this side.
func (s *umaSide) lookUp(to *umaSide) receivers.LookupResult {
	s.t.Helper()
	found, err := s.receivers.LookupUMAAddress(s.t.Context(), s.Platform.ID, to.Customer.UMAAddress, receivers.Sender{Customer: s.Customer.ID})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// request is a quote from an account to the other customer.
func (s *umaSide) request(from account.Internal, to *umaSide, side quote.Side, amount int64) quote.Request {
	s.t.Helper()
	return quote.Request{Platform: s.Platform.ID, Source: quote.Source{Internal: from.ID, Customer: s.Customer.ID},
		Destination: quote.Destination{UMA: to.Customer.UMAAddress}, Side: side, Amount: amount, Lookup: s.lookUp(to).ID}
}

// incoming returns the payments that this side has received or will receive.
func (s *umaSide) incoming() []transaction.Transaction {
	s.t.Helper()
	page, err := s.payments.ListTransactions(s.t.Context(), s.Platform.ID, ports.TransactionFilter{Type: transaction.Incoming,
		Paging: ports.Paging{Limit: 100}})
	if err != nil {
		s.t.Fatal(err)
	}
	return page.Items
}

func (s *umaSide) waitFor(id ident.Transaction, status transaction.Status) transaction.Transaction {
	s.t.Helper()
	return s.WaitForTransaction(id, string(status), func(t transaction.Transaction) bool { return t.State.Status == status })
}

// wantExplained checks that the ledger is explained by the payments. The balances of the test belong to nothing.
func (s *umaSide) wantExplained() {
	s.t.Helper()
	for _, f := range audittest.Check(s.t, s.Env).Findings {
		s.t.Errorf("the ledger: %+v", f)
	}
}

func TestUMA_TwoInstallationsPayEachOther(t *testing.T) {
	t.Parallel()
	// Ana sends dollars to bo, who receives euros: once with the sending, once with the receiving amount locked; then bo pays back.
	// Both see the same amounts and each other's names, and each invoice is paid once.
	ana, bo := newUMASides(t)
	dollars := ana.NewInternalAccount(ana.Customer.ID, "USD", 1_000_00)
	euros := bo.NewInternalAccount(bo.Customer.ID, "EUR", 1_000_00)
	for i, test := range []struct {
		from, to *umaSide
		account  account.Internal
		side     quote.Side
		currency money.Currency
	}{
		{ana, bo, dollars, quote.Sending, "EUR"}, {ana, bo, dollars, quote.Receiving, "EUR"},
		{bo, ana, euros, quote.Sending, "USD"}, {bo, ana, euros, quote.Receiving, "USD"},
	} {
		request := test.from.request(test.account, test.to, test.side, 50_00)
		created, err := test.from.payments.CreateQuote(t.Context(), request, nil)
		if err != nil {
			t.Fatal(err)
		}
		received := created.Quote.UMA.Received
		if test.side == quote.Receiving && received.Minor != 50_00 || test.side == quote.Sending && created.Quote.Pricing.Sent.Minor != 50_00 ||
			received.Currency != test.currency || created.Quote.Counterparty["FULL_NAME"] != test.to.Customer.FullName {
			t.Fatalf("%d: %+v, %+v", i, created.Quote, received)
		}
		if _, err := test.from.payments.ExecuteQuote(t.Context(), test.from.Platform.ID, created.Quote.ID, nil); err != nil {
			t.Fatal(err)
		}
		sent := test.from.waitFor(created.Quote.Transaction, transaction.Completed)

		arrived := test.to.incoming()
		if len(arrived) == 0 {
			t.Fatalf("%d: nothing arrived", i)
		}
		got := arrived[0]
		if got.State.Status != transaction.Completed || got.Pricing.Received != received || got.Source.UMA != test.from.Customer.UMAAddress ||
			got.Pricing.Sent != sent.Pricing.Received || got.Counterparty["FULL_NAME"] != test.from.Customer.FullName ||
			!strings.Contains(got.UMA.TravelRule, test.from.Customer.FullName) || sent.ReceiverAmount() != received {
			t.Errorf("%d: sent %+v, arrived %+v, %+v", i, sent, got, got.UMA)
		}
		if paid := ana.network.paid(); paid != i+1 {
			t.Errorf("%d invoices were paid after payment %d", paid, i+1)
		}
	}
	for _, side := range []*umaSide{ana, bo} {
		side.wantExplained()
	}
}

func TestUMA_NothingIsPaidWithoutApproval(t *testing.T) {
	t.Parallel()
	// A rejected payment has no invoice and no quote. One that is approved after the endpoint acknowledged it has both. One whose
	// quote nobody executes ends, and the money stays where it is.
	ana, bo := newUMASides(t)
	dollars := ana.NewInternalAccount(ana.Customer.ID, "USD", 1_000_00)
	bo.respond = 403

	_, err := ana.payments.CreateQuote(t.Context(), ana.request(dollars, bo, quote.Sending, 50_00), nil)
	if !fault.Is(err, fault.PayreqRequestFailed) || len(ana.network.invoices) != 0 {
		t.Fatalf("%v, with %d invoices", err, len(ana.network.invoices))
	}
	bo.waitFor(bo.incoming()[0].ID, transaction.Failed)

	bo.mu.Lock()
	bo.respond = 200
	bo.mu.Unlock()
	created, err := ana.payments.CreateQuote(t.Context(), ana.request(dollars, bo, quote.Sending, 50_00), nil)
	if err != nil {
		t.Fatal(err)
	}
	if approved := bo.incoming()[0]; approved.IncomingState() != transaction.AwaitingPayment {
		t.Fatalf("%+v", approved)
	}
	for _, side := range []*umaSide{ana, bo} {
		side.Clock.Advance(time.Hour)
	}
	ana.waitFor(created.Quote.Transaction, transaction.Expired)
	lapsed := bo.waitFor(bo.incoming()[0].ID, transaction.Failed)
	if lapsed.State.Reason != transaction.QuoteExpired || ana.network.paid() != 0 {
		t.Errorf("%+v", lapsed.State)
	}
	for _, side := range []*umaSide{ana, bo} {
		side.wantExplained()
	}
}

func TestUMA_MoneyThatCannotBeCreditedIsRefunded(t *testing.T) {
	t.Parallel()
	// An approved payment whose invoice is paid with more than was asked fails and is refunded by the rail, or its money is unmatched, for a
	// person to decide about: nothing of it is credited to the receiver, nor of a second payment. Either is announced in order. The same
	// receipt again changes nothing, and the ledger is explained.
	for _, refused := range []bool{false, true} {
		ana, bo := newUMASides(t)
		last := "INCOMING_PAYMENT.REFUND_COMPLETED"
		if refused {
			bo.Rail.OnRefund = refuseToSendBack // as a node does
			last = "INCOMING_PAYMENT.REFUND_FAILED"
		}
		dollars := ana.NewInternalAccount(ana.Customer.ID, "USD", 1_000_00)
		if _, err := ana.payments.CreateQuote(t.Context(), ana.request(dollars, bo, quote.Sending, 50_00), nil); err != nil {
			t.Fatal(err)
		}
		waiting := bo.incoming()[0]
		now := bo.Clock.Now()
		receipt := transaction.Receipt{ID: ident.NewReceipt(bo.IDs.New, now), Platform: bo.Platform.ID, Rail: "LIGHTNING",
			PartnerID: "paid-too-much", Reference: waiting.Reference, Amount: waiting.Pricing.Sent, At: now}
		receipt.Amount.Minor += 10

		failed, err := bo.payments.Receive(t.Context(), receipt, nil)
		if err != nil || failed.State.Status != transaction.Failed || failed.State.Refund != transaction.RefundPending ||
			failed.Refund.Amount != receipt.Amount {
			t.Fatalf("%+v, %v", failed.State, err)
		}
		if again, err := bo.payments.Receive(t.Context(), receipt, nil); err != nil || again.ID != failed.ID {
			t.Fatalf("received again: %+v, %v", again, err)
		}
		done := bo.WaitForTransaction(waiting.ID, "its refund to end", func(t transaction.Transaction) bool {
			return t.State.Refund != transaction.RefundPending
		})

		if (done.State.Refund == transaction.RefundUnpaid) != refused || done.State.Reason != transaction.QuoteExecutionFailed {
			t.Errorf("refused %v: %+v", refused, done.State)
		}
		second := receipt
		second.ID, second.PartnerID = ident.NewReceipt(bo.IDs.New, now), "paid-again"
		if _, err := bo.payments.Receive(t.Context(), second, nil); err != nil {
			t.Fatal(err)
		}
		bo.WaitForNoJobs(transaction.StepSendBack)
		held, err := bo.Store.Unmatched(t.Context(), bo.Platform.ID, ports.UnmatchedFilter{Limit: 10})
		if want := map[bool]int{true: 2}[refused]; err != nil || len(held.Items) != want {
			t.Errorf("refused %v: unmatched are %+v, %v; want %d", refused, held.Items, err, want)
		}
		if coins, err := bo.Store.InternalAccounts(t.Context(), bo.Platform.ID, ports.InternalAccountFilter{Customer: bo.Customer.ID,
			Currency: "BTC", Paging: ports.Paging{Limit: 1}}); err != nil || len(coins.Items) > 0 {
			t.Errorf("refused %v: the receiver has %+v, %v", refused, coins.Items, err)
		}
		bo.WantEvents(waiting.ID, "INCOMING_PAYMENT.FAILED", "INCOMING_PAYMENT.REFUND_PENDING", last)
		bo.wantExplained()
	}
}

// refuseToSendBack refuses what does not go to an internal account.
func refuseToSendBack(_ context.Context, refunds []ports.Refund) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(refunds))
	for i, refund := range refunds {
		outcomes[i] = ports.Outcome{Verdict: map[bool]ports.Verdict{true: ports.Done, false: ports.Refused}[refund.Internal]}
	}
	return outcomes
}

// changeField changes a field of the answers to a kind of request.
func (s *umaSide) changeField(path string, change func(message map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change = func(requested string, body []byte) []byte {
		var message map[string]any
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if !strings.HasPrefix(requested, path) || decoder.Decode(&message) != nil {
			return body
		}
		change(message)
		changed, err := json.Marshal(message)
		if err != nil {
			panic(err)
		}
		return changed
	}
}

func TestUMA_LyingProviderIsNotPaid(t *testing.T) {
	t.Parallel()
	// An answer that differs from what was asked for, or from itself, makes no quote; nor does one with a changed signature, an old
	// time, or a nonce that was used, or of a provider that does not answer.
	ana, bo := newUMASides(t)
	dollars := ana.NewInternalAccount(ana.Customer.ID, "USD", 1_000_00)
	sub := func(message map[string]any, name string) map[string]any { return message[name].(map[string]any) }
	compliance := func(message map[string]any) map[string]any { return sub(sub(message, "payeeData"), "compliance") }
	kept := ""
	for what, change := range map[string]func(map[string]any){
		"another amount":          func(m map[string]any) { sub(m, "converted")["amount"] = 49_99 },
		"another currency":        func(m map[string]any) { sub(m, "converted")["currencyCode"] = "USD" },
		"other decimals":          func(m map[string]any) { sub(m, "converted")["decimals"] = 3 },
		"another multiplier":      func(m map[string]any) { sub(m, "converted")["multiplier"] = 1 },
		"a fee below zero":        func(m map[string]any) { sub(m, "converted")["fee"] = -5 },
		"a fee that is not paid":  func(m map[string]any) { sub(m, "converted")["fee"] = 10_000_000 },
		"no invoice":              func(m map[string]any) { m["pr"] = "" },
		"an invoice of no amount": func(m map[string]any) { m["pr"] = strings.Replace(m["pr"].(string), "lnbcrt", "lnbc", 1) },
		"another receiver":        func(m map[string]any) { sub(m, "payeeData")["identifier"] = "$eve@pay.test" },
		"a changed signature": func(m map[string]any) {
			text := compliance(m)["signature"].(string)
			compliance(m)["signature"] = text[:len(text)-2] + map[bool]string{true: "00", false: "01"}[text[len(text)-2:] != "00"]
		},
		"an old time": func(m map[string]any) { compliance(m)["signatureTimestamp"] = 1_700_000_000 },
	} {
		bo.changeField("/uma/payreq/", change)
		_, err := ana.payments.CreateQuote(t.Context(), ana.request(dollars, bo, quote.Receiving, 50_00), nil)
		if !fault.Is(err, fault.PayreqRequestFailed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	bo.changeField("/uma/payreq/", func(m map[string]any) {
		if kept == "" {
			text, _ := json.Marshal(m)
			kept = string(text)
		}
		for name := range m {
			delete(m, name)
		}
		_ = json.Unmarshal([]byte(kept), &m)
	})
	for i, want := range []bool{true, false} {
		_, err := ana.payments.CreateQuote(t.Context(), ana.request(dollars, bo, quote.Receiving, 50_00), nil)
		if (err == nil) != want {
			t.Errorf("answer %d with one nonce: %v", i, err)
		}
	}
	request := ana.request(dollars, bo, quote.Receiving, 50_00)
	bo.mu.Lock()
	bo.down = true
	bo.mu.Unlock()
	if _, err := ana.payments.CreateQuote(t.Context(), request, nil); !fault.Is(err, fault.PayreqRequestFailed) {
		t.Errorf("no answer: %v", err)
	}
	if ana.network.paid() != 0 {
		t.Error("an invoice was paid")
	}
}

func TestUMA_ServerRefuses(t *testing.T) {
	t.Parallel()
	// Requests with another version, without a signature, with one that is changed, old or repeated, and of providers that are
	// blocked are refused with the code of the protocol.
	ana, bo := newUMASides(t)
	for what, test := range map[string]struct {
		change func(string) string
		status int
		code   string
	}{
		"another version": {func(u string) string { return strings.Replace(u, "umaVersion=1.0", "umaVersion=2.0", 1) }, 412,
			"UNSUPPORTED_UMA_VERSION"},
		"no signature": {func(u string) string { return strings.Replace(u, "signature=", "none=", 1) }, 400,
			"MISSING_REQUIRED_UMA_PARAMETERS"},
		"another receiver": {func(u string) string { return strings.Replace(u, "$bo?", "$eve?", 1) }, 401, "INVALID_SIGNATURE"},
		"another nonce":    {func(u string) string { return strings.Replace(u, "nonce=", "nonce=1", 1) }, 401, "INVALID_SIGNATURE"},
		"a blocked provider": {func(u string) string { return strings.Replace(u, "vaspDomain=bank.test", "vaspDomain=blocked.test", 1) }, 403,
			"COUNTERPARTY_NOT_ALLOWED"},
		"a subdomain of a blocked provider": {func(u string) string {
			return strings.Replace(u, "vaspDomain=bank.test", "vaspDomain=pay.Blocked.test", 1)
		}, 403, "COUNTERPARTY_NOT_ALLOWED"},
		"a blocked provider at a port": {func(u string) string {
			return strings.Replace(u, "vaspDomain=bank.test", "vaspDomain=blocked.test:8443", 1)
		}, 403, "COUNTERPARTY_NOT_ALLOWED"},
		"a blocked provider with a dot": {func(u string) string {
			return strings.Replace(u, "vaspDomain=bank.test", "vaspDomain=blocked.test.", 1)
		}, 400, "INVALID_INPUT"},
		"its own domain at the port of HTTPS": {func(u string) string {
			return strings.Replace(u, "vaspDomain=bank.test", "vaspDomain=pay.test:0443", 1)
		}, 400, "INVALID_INPUT"},
		"an old time": {func(u string) string {
			return strings.Replace(u, "timestamp="+strconv.FormatInt(ana.Clock.Now().Unix(), 10), "timestamp=1700000000", 1)
		}, 400, "INVALID_TIMESTAMP"},
		"as it is": {func(u string) string { return u }, 200, ""},
	} {
		status, body := bo.get(test.change(ana.signedLookup(bo)))
		if status != test.status || !strings.Contains(body, test.code) {
			t.Errorf("%s: %d %s", what, status, body)
		}
	}
	repeated := ana.signedLookup(bo)
	bo.get(repeated)
	for _, domain := range []string{"bank.test", "BANK.test", "bank.test:443", "bank.test:00443"} {
		again := strings.Replace(repeated, "vaspDomain=bank.test", "vaspDomain="+domain, 1)
		if status, body := bo.get(again); status != 400 || !strings.Contains(body, "INVALID_NONCE") {
			t.Errorf("a repeated nonce, of %s: %d %s", domain, status, body)
		}
	}
}

// signedLookup returns the URL with which this side would look up the other customer.
func (s *umaSide) signedLookup(to *umaSide) (target string) {
	s.t.Helper()
	setCapture := func(capture *string) {
		to.mu.Lock()
		defer to.mu.Unlock()
		to.capture = capture
	}
	setCapture(&target)
	_, err := s.receivers.LookupUMAAddress(s.t.Context(), s.Platform.ID, to.Customer.UMAAddress, receivers.Sender{Customer: s.Customer.ID})
	setCapture(nil)
	if !fault.Is(err, fault.LnurlpRequestFailed) {
		s.t.Fatal(err)
	}
	return target
}

// get requests a URL of this side.
func (s *umaSide) get(target string) (int, string) {
	s.t.Helper()
	request, err := http.NewRequest(http.MethodGet, target, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	response := httptest.NewRecorder()
	s.handler.ServeHTTP(response, request)
	answer := response.Result()
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

func TestUMA_ChannelsAreReported(t *testing.T) {
	t.Parallel()
	// Each provider of a payment gets the channels of the other one. One that does not answer gets them later, within a day. What somebody
	// else reports is refused, and so is what is no output.
	ana, bo := newUMASides(t)
	dollars := ana.NewInternalAccount(ana.Customer.ID, "USD", 1_000_00)
	channels := func(s *umaSide, id ident.Transaction) []rules.ChannelUse {
		kept, err := s.Store.UMAChannels(t.Context(), ports.TransactionKey{Platform: s.Platform.ID, ID: id})
		if err != nil {
			t.Fatal(err)
		}
		return kept
	}
	setDown := func(down bool) {
		bo.mu.Lock()
		defer bo.mu.Unlock()
		bo.down = down
	}
	pay := func(reached bool) (sent, arrived ident.Transaction) {
		created, err := ana.payments.CreateQuote(t.Context(), ana.request(dollars, bo, quote.Sending, 50_00), nil)
		if err != nil {
			t.Fatal(err)
		}
		setDown(!reached)
		if _, err := ana.payments.ExecuteQuote(t.Context(), ana.Platform.ID, created.Quote.ID, nil); err != nil {
			t.Fatal(err)
		}
		ana.waitFor(created.Quote.Transaction, transaction.Completed)
		return created.Quote.Transaction, bo.incoming()[0].ID
	}

	sent, arrived := pay(true)
	for _, side := range []*umaSide{ana, bo} {
		side.WaitForNoJobs(transaction.StepReportChannels)
	}
	if got := channels(ana, sent); !slices.Equal(got, bo.channels()) {
		t.Errorf("ana's provider has %v", got)
	}
	if err := bo.payments.TakeUMAChannels(t.Context(), bo.Platform, arrived, "bank.test", []rules.ChannelUse{{Outpoint: "ee:1"}}); err != nil {
		t.Error(err)
	}
	if got := channels(bo, arrived); !slices.Equal(got, ana.channels()) {
		t.Errorf("reported again: %v", got)
	}
	for what, report := range map[string]struct {
		id       ident.Transaction
		domain   string
		outpoint string
	}{"another provider": {arrived, "eve.test", "ee:1"}, "another payment": {sent, "bank.test", "ee:1"},
		"no output": {arrived, "bank.test", "x"}} {
		err := bo.payments.TakeUMAChannels(t.Context(), bo.Platform, report.id, report.domain,
			[]rules.ChannelUse{{Outpoint: report.outpoint}})
		if _, refused := errors.AsType[*rules.Refusal](err); !refused {
			t.Errorf("%s: %v", what, err)
		}
	}

	_, late := pay(false)
	if waiting := ana.attemptReports(); waiting != 1 || len(channels(bo, late)) != 0 {
		t.Fatalf("%d reports wait", waiting)
	}
	setDown(false)
	for _, side := range []*umaSide{ana, bo} {
		side.Clock.Advance(2 * time.Minute)
	}
	ana.WaitForNoJobs(transaction.StepReportChannels)
	if got := channels(bo, late); !slices.Equal(got, ana.channels()) {
		t.Errorf("reported late: %v", got)
	}
	_, never := pay(false)
	attempts := 1
	for ; ana.attemptReports() > 0; attempts++ { // each pause is as long as all before
		ana.Clock.Advance(time.Hour)
	}
	if attempts < 20 || attempts > 60 {
		t.Errorf("given up after %d hours", attempts)
	}
	if got := channels(bo, never); len(got) != 0 {
		t.Errorf("reported without a connection: %v", got)
	}
}

// attemptReports waits until every report of channels that is due was attempted, and returns how many wait for another attempt.
func (s *umaSide) attemptReports() int {
	s.t.Helper()
	deadline := time.After(apptest.WaitTimeout)
	for len(s.QueryStrings(`SELECT step FROM jobs WHERE step = 'report-channels' AND due_at <= $1`, s.Clock.Now().Add(time.Second))) > 0 {
		select {
		case <-deadline:
			s.t.Fatal("a report of channels is not attempted")
		case <-time.After(5 * time.Millisecond):
		}
	}
	return s.CountJobs(transaction.StepReportChannels)
}

func TestUMA_RevokedKeysAreReplacedAtOnce(t *testing.T) {
	t.Parallel()
	// After a revocation a provider signs with other keys. One that keeps those of before refuses that until it forgets them.
	ana, bo := newUMASides(t)
	ana.lookUp(bo)
	keys := func() string {
		_, body := bo.get("http://pay.test/.well-known/lnurlpubkey")
		return body
	}
	before := keys()
	revoke := func(s *umaSide, domain string) {
		operator, err := platforms.New(platforms.Config{Store: s.Store, Clock: s.Clock, IDs: s.IDs}).As(platform.Author{Actor: "ana"})
		if err == nil {
			err = operator.RevokeUMAKeys(t.Context(), s.Platform.ID, domain)
		}
		if err != nil {
			t.Fatal(err)
		}
	}

	revoke(bo, "")
	if after := keys(); after == before || !strings.Contains(after, "signingPubKey") {
		t.Errorf("%s, and before %s", after, before)
	}
	_, err := ana.receivers.LookupUMAAddress(t.Context(), ana.Platform.ID, bo.Customer.UMAAddress, receivers.Sender{Customer: ana.Customer.ID})
	if !fault.Is(err, fault.LnurlpRequestFailed) {
		t.Errorf("with the keys of before: %v", err)
	}
	revoke(ana, "pay.test")
	ana.lookUp(bo)
}
