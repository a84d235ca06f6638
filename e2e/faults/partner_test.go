package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/rails/partner"
	"causeway/adapters/rails/partner/partnertest"
	"causeway/core/signedmessage"
	"causeway/e2e/kit"
)

const partnerSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// partnerSystem has a partner that makes payments as it should, and lists and sends any events.
type partnerSystem struct {
	*railSystem
	sidecar *partnertest.Sidecar
	secrets signedmessage.Secrets
	funding string // reference of the customer's account
	n       int    // makes each thing another one

	mu     sync.Mutex
	list   []string // events as the partner lists them
	listed int      // how many were asked for

	receipts int               // that must be known
	credited int64             // to the account, less what was taken back
	returned int               // receipts that were taken back
	open     []int             // receipts of the account that may be taken back, by number
	events   []string          // good ones
	bad      map[string]string // reasons by place
	reused   int               // ids of events
}

func newPartnerSystem(t *testing.T) *partnerSystem {
	t.Helper()
	p := &partnerSystem{bad: map[string]string{}}
	var err error
	if p.secrets, err = signedmessage.Parse(partnerSecret); err != nil {
		t.Fatal(err)
	}
	p.sidecar = partnertest.New(p.secrets, time.Now)
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(partnerSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := kit.Object{"url": server.URL, "secret": "file:" + secret, "poll": "1s", "timeout": "5s",
		"accountHolder": "Example Client Money",
		"receive.USD":   `{"accountType":"US_ACCOUNT","accountNumber":"4210000017","routingNumber":"021000021"}`}
	payee := kit.Object{"accountType": "US_ACCOUNT", "accountNumber": "550000001555", "routingNumber": "021000021",
		"beneficiary": kit.Person()}
	p.railSystem = newRailSystem(t, "partner-usd", "USD",
		kit.Object{"adapter": "PARTNER", "rails": []string{"RTP", "ACH"}, "currencies": []string{"USD"}, "settings": settings}, payee)
	account := p.mustCall(http.MethodGet, "/customers/internal-accounts?currency=USD&customerId="+p.customer, nil, http.StatusOK)
	p.funding = account.text("data.0.fundingPaymentInstructions.0.accountOrWalletInfo.reference")
	return p
}

// ServeHTTP lists the events, and leaves all other requests to the sidecar.
func (p *partnerSystem) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/events" {
		p.sidecar.ServeHTTP(w, r)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	after, _ := strconv.Atoi(r.URL.Query().Get("after"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	end := min(after+min(limit, 1+len(p.list)%20), len(p.list)) // a page of any size
	p.listed = max(p.listed, after)
	w.Header().Set("Content-Type", "application/json")
	text := strings.Join(p.list[after:end], ",")
	_, _ = fmt.Fprintf(w, `{"events":[%s],"cursor":"%d","more":%v}`, text, end, end < len(p.list)) // the service may have left
}

// report lists an event, and may send it before or after.
func (p *partnerSystem) report(content string, want int) {
	p.t.Helper()
	when := p.rand.IntN(4)
	if when == 0 {
		p.send(content, want)
	}
	p.add(content)
	if when == 1 {
		p.send(content, want)
	}
}

// add lists an event.
func (p *partnerSystem) add(content string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, content)
}

func (p *partnerSystem) send(content string, want int) {
	p.t.Helper()
	url := "http://" + p.processes[0].address + strings.Replace(partner.CallbackPath, "{connection}", p.connection, 1)
	request, err := http.NewRequestWithContext(waitContext(p.t), http.MethodPost, url, strings.NewReader(content))
	p.must(err)
	h := p.secrets.Sign(fmt.Sprintf("msg_%d", kit.SerialNumber()), time.Now(), []byte(content))
	request.Header.Set(signedmessage.IDHeader, h.ID)
	request.Header.Set(signedmessage.TimestampHeader, h.Timestamp)
	request.Header.Set(signedmessage.SignatureHeader, h.Signature)
	response, err := http.DefaultClient.Do(request)
	p.must(err)
	_ = response.Body.Close()
	if len(content) > 64<<10 && want == http.StatusBadRequest {
		want = http.StatusRequestEntityTooLarge
	}
	if response.StatusCode != want {
		p.t.Errorf("%.200q was answered with %d, want %d", content, response.StatusCode, want)
	}
}

// oddNames are names of payers, as they are in the JSON of the partner.
var oddNames = []string{"Max Payer", "Max\tPayer", "Max\x00Payer", `Max\u0000Payer`, "M\xfcller", "\xed\xa0\x80", `\ud800`, "\u202eevil",
	strings.Repeat("long ", 3000)}

// receipt returns the event of money that was received, with an odd name. What it says is changed by edits.
func (p *partnerSystem) receipt(minor int64, reference string, edits ...func(*partner.Event)) string {
	p.t.Helper()
	p.n++
	payer := partner.Account{Type: "US_ACCOUNT", Currency: "USD", Fields: map[string]string{"accountNumber": "123456789",
		"routingNumber": "021000021"},
		Holder: &partner.Holder{Type: "INDIVIDUAL", Name: "NAME"}}
	e := partner.Event{ID: fmt.Sprintf("any-%d", p.n), Type: partner.MoneyReceived, At: time.Now().UTC().Truncate(time.Millisecond),
		Receipt: &partner.ReceiptEvent{PartnerID: fmt.Sprintf("R%d", p.n), Rail: "ACH", Reference: reference,
			Amount: partner.Amount{Minor: partner.Minor(minor), Currency: "USD", Decimals: 2}, Payer: &payer}}
	for _, edit := range edits {
		edit(&e)
	}
	text, err := json.Marshal(e)
	p.must(err)
	return strings.Replace(string(text), `"NAME"`, `"`+oddNames[p.rand.IntN(len(oddNames))]+`"`, 1)
}

// anyPartnerEvents are the kinds of events.
var anyPartnerEvents = []func(p *partnerSystem){
	func(p *partnerSystem) { p.credit(100 + int64(p.rand.IntN(1000))) },
	func(p *partnerSystem) { p.credit(100 + int64(p.rand.IntN(1000))) },
	func(p *partnerSystem) { // taken back before it was received
		p.n++
		minor, receipt := 100+int64(p.rand.IntN(1000)), p.n+1
		p.reverse(receipt, minor)
		p.credit(minor)
		p.open = p.open[:len(p.open)-1]
	},
	func(p *partnerSystem) {
		if len(p.open) > 0 {
			at := p.rand.IntN(len(p.open))
			receipt := p.open[at]
			p.open = append(p.open[:at], p.open[at+1:]...)
			p.n++
			p.reverse(receipt, p.amount(receipt))
		}
	},
	func(p *partnerSystem) { // listed again
		if len(p.events) > 0 {
			p.report(p.events[p.rand.IntN(len(p.events))], http.StatusNoContent)
		}
	},
	func(p *partnerSystem) { // its id was used for another one
		if len(p.events) > 0 {
			var first partner.Event
			p.must(json.Unmarshal([]byte(strings.Map(func(r rune) rune {
				if r < ' ' {
					return ' '
				}
				return r
			}, p.events[p.rand.IntN(len(p.events))])), &first))
			p.add(p.receipt(1, "", func(e *partner.Event) { e.ID = first.ID }))
			p.reused++
		}
	},
	func(p *partnerSystem) {
		p.reportBad(p.receipt(1, "", func(e *partner.Event) { e.Receipt.Rail = "PIGEON" }), "rail is not a known name")
	},
	func(p *partnerSystem) {
		p.reportBad(p.receipt(1, "", func(e *partner.Event) { e.Receipt.Amount.Currency = "XXX" }), "currency")
	},
	func(p *partnerSystem) {
		p.reportBad(p.receipt(1, "", func(e *partner.Event) { e.At = time.Time{} }), "at is missing")
	},
	func(p *partnerSystem) {
		p.reportBad(p.receipt(1, "", func(e *partner.Event) { e.Type = "OTHER" }), "type is not that")
	},
	func(p *partnerSystem) {
		p.reportBad(p.receipt(-5, ""), "must be positive")
	},
	func(p *partnerSystem) {
		p.reportBad(strings.Replace(p.receipt(1, ""), `"decimals":2`, `"decimals":"two"`, 1), "not of the documented type")
	},
	func(p *partnerSystem) {
		p.n++
		p.reportBad(fmt.Sprintf(`[%d]`, p.n), "not a JSON object")
	},
	func(p *partnerSystem) {
		p.reportBad(p.receipt(1, strings.Repeat("x", 1<<20)), "at most 1048576 are read")
	},
}

func (p *partnerSystem) reportBad(content, reason string) {
	p.t.Helper()
	place := fmt.Sprintf("event any-%d", p.n)
	if content[0] == '[' { // it has no id
		place = content
	}
	p.bad[place] = reason
	p.report(content, http.StatusBadRequest)
}

// credit has the account of the customer receive money.
func (p *partnerSystem) credit(minor int64) {
	p.t.Helper()
	content := p.receipt(minor, p.funding)
	p.receipts++
	p.credited += minor
	p.open = append(p.open, p.n)
	p.events = append(p.events, content)
	p.report(content, http.StatusNoContent)
}

// amount returns what a receipt was of.
func (p *partnerSystem) amount(receipt int) int64 {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range p.list {
		if _, rest, found := strings.Cut(text, fmt.Sprintf(`"partnerId":"R%d","rail":"ACH","amount":{"minor":"`, receipt)); found {
			minor, err := strconv.ParseInt(rest[:strings.Index(rest, `"`)], 10, 64)
			p.must(err)
			return minor
		}
	}
	p.t.Fatalf("receipt %d is not listed", receipt)
	return 0
}

func (p *partnerSystem) reverse(receipt int, minor int64) {
	p.t.Helper()
	e := partner.Event{ID: fmt.Sprintf("any-%d", p.n), Type: partner.ReceiptReversed, At: time.Now().UTC().Truncate(time.Millisecond),
		Reversal: &partner.ReversalEvent{ReceiptID: fmt.Sprintf("R%d", receipt), PartnerID: fmt.Sprintf("V%d", p.n), Rail: "ACH", Code: "R01",
			Text: "Recalled\x00"}}
	text, err := json.Marshal(e)
	p.must(err)
	p.credited -= minor
	p.returned++
	p.report(string(text), http.StatusNoContent)
}

// pay creates a quote that the partner receives the money for.
func (p *partnerSystem) pay() (transaction string) {
	p.t.Helper()
	transaction, pays, reference := p.quote(10_00 + int64(p.n%50)) // no test value of the sidecar
	p.receipts++
	p.report(p.receipt(pays, reference), http.StatusNoContent)
	return transaction
}

// work lets the partner make payments until the test ends.
func (p *partnerSystem) work(ctx context.Context) {
	for listed := 0; ctx.Err() == nil; {
		p.sidecar.Step()
		for _, e := range p.sidecar.Events(listed) {
			text, err := json.Marshal(e)
			if err != nil {
				p.t.Error(err)
			}
			p.add(string(text))
			listed++
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func TestFaults_PartnerEventsOfAnyKind(t *testing.T) {
	t.Parallel()
	// A partner lists and sends events of any kind in any order. Each good one has its effect once, whichever odd names it has, each bad
	// one is kept aside once with the reason, payments go on meanwhile, and the account has what was received and not taken back.
	rounds := faultRounds(t)
	p := newPartnerSystem(t)
	go p.work(t.Context())
	var transactions []string
	for range rounds {
		for range 20 + p.rand.IntN(20) {
			anyPartnerEvents[p.rand.IntN(len(anyPartnerEvents))](p)
			if p.rand.IntN(10) == 0 {
				transactions = append(transactions, p.pay())
			}
		}
		p.sleep(time.Duration(p.rand.IntN(3000)) * time.Millisecond)
	}
	p.check(transactions)
	t.Logf("%d receipts, %d taken back, %d bad, %d ids used again, %d payments", p.receipts, p.returned, len(p.bad),
		p.reused, len(transactions))
}

func (p *partnerSystem) check(transactions []string) {
	p.t.Helper()
	for _, id := range transactions {
		p.awaitTransaction(id, "status", "COMPLETED")
		if moved := p.sidecar.Moved(id[strings.Index(id, ":")+1:]); len(moved) != 1 {
			p.t.Errorf("payout %s has moved %v", id, moved)
		}
	}
	var balance int64
	p.eventually(func() string { return fmt.Sprintf("the account has %d: %d", p.credited, balance) }, func() bool {
		account := p.mustCall(http.MethodGet, "/customers/internal-accounts?currency=USD&customerId="+p.customer, nil, http.StatusOK)
		balance = account.int(p.t, "data.0.balance.amount")
		return balance == p.credited
	})
	want := len(p.bad) + p.reused
	var aside []keptAside
	p.eventually(func() string { return fmt.Sprintf("%d events are kept aside: %d: %v", want, len(aside), aside) }, func() bool {
		aside = p.aside()
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(aside) == want && p.listed >= len(p.list)
	})
	contradictions, found := 0, map[string]int{}
	for _, i := range aside {
		reason, isBad := p.bad[i.place]
		switch {
		case i.kind == "CONTRADICTION":
			contradictions++
		case isBad && i.kind == "EVENT" && strings.Contains(i.problem, reason):
			found[i.place]++
		case i.kind != "EVENT" || i.place != "an event without a readable id" || !strings.Contains(i.problem, "not a JSON object"):
			p.t.Errorf("kept aside %+v", i)
		}
	}
	for place, n := range found {
		if n > 1 {
			p.t.Errorf("%s was kept aside %d times", place, n)
		}
	}
	if contradictions != p.reused {
		p.t.Errorf("%d contradictions, want %d", contradictions, p.reused)
	}
	for what, want := range map[string]int{"receipts": p.receipts, "receivables": p.returned} {
		if n := p.queryInt("SELECT count(*) FROM " + what); n != int64(want) {
			p.t.Errorf("%d %s, want %d", n, what, want)
		}
	}
	p.checkPostings()
}
