package partner_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/adapters/rails/partner"
	"causeway/core/account"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

// usd returns an amount of US dollars.
func usd(minor partner.Minor) partner.Amount {
	return partner.Amount{Minor: minor, Currency: "USD", Decimals: 2}
}

// someEvents are one event of each type.
func someEvents() []partner.Event {
	return []partner.Event{
		{ID: "e1", Type: partner.PaymentChanged, At: now, Payment: &partner.PaymentEvent{Kind: partner.Payout,
			ID: "0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22", PlatformID: platformID.String(), Status: partner.Returned}},
		{ID: "e2", Type: partner.MoneyReceived, At: now, Receipt: &partner.ReceiptEvent{PartnerID: "R1", Rail: "SEPA",
			Amount: partner.Amount{Minor: 1050, Currency: "EUR", Decimals: 2}, Reference: "REF\n2", EndToEndID: "E1", TraceNumber: "T1",
			RemittanceInformation: " rent ", TransactionHash: "0x1",
			Payer: &partner.Account{Type: "EUR_ACCOUNT", Currency: "EUR", Fields: map[string]string{"iban": "DE89370400440532013000"},
				Holder: &partner.Holder{Type: "BUSINESS", Name: "Acme"}}}},
		{ID: "e3", Type: partner.ReceiptReversed, At: now, PlatformID: platformID.String(), Reversal: &partner.ReversalEvent{ReceiptID: "R1",
			PartnerID: "V1", Rail: "SEPA", Code: "AC01", Text: "Recalled."}},
		{ID: "e4", Type: partner.FeeCharged, At: now, Fee: &partner.FeeEvent{PartnerID: "F1", Rail: "SEPA", Amount: usd(25), Memo: "March"}},
		{ID: "e5", Type: partner.BalanceNamed, At: now, Balance: &partner.Amount{Minor: -5, Currency: "JPY"}},
	}
}

// pages serves pages of events by cursor, and errors.
type pages struct {
	events []partner.Event
	size   int
	fails  bool
	more   bool // without end
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.fails {
		http.Error(w, "maintenance", http.StatusBadGateway)
		return
	}
	after, _ := strconv.Atoi(r.URL.Query().Get("after"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	end := min(after+min(p.size, limit), len(p.events))
	answerJSON(w, partner.EventPage{Events: append([]partner.Event{}, p.events[after:end]...), Cursor: strconv.Itoa(end),
		More: end < len(p.events) || p.more})
}

func TestRail_PollReturnsEachEventOnce(t *testing.T) {
	t.Parallel()
	// Pages follow each other by the cursor, each event becomes what it reports, and a piece that is read again is the same.
	p := &pages{events: someEvents(), size: 3}
	r, _ := newRail(t, p.ServeHTTP)
	first, err := r.Poll(t.Context(), "")
	if err != nil || !first.More || len(first.Changed) != 1 || len(first.Receipts) != 1 || len(first.Reversals) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := r.Poll(t.Context(), first.Cursor)
	if err != nil || second.More || len(second.Fees) != 1 || len(second.Balances) != 1 || len(second.Receipts) != 0 {
		t.Fatalf("%+v, %v", second, err)
	}
	again, err := r.Poll(t.Context(), first.Cursor)
	if err != nil || !reflect.DeepEqual(second, again) {
		t.Errorf("%+v, then %+v, %v", second, again, err)
	}
	if third, err := r.Poll(t.Context(), second.Cursor); err != nil || third.Cursor != second.Cursor ||
		!reflect.DeepEqual(third, ports.RailReport{Cursor: third.Cursor}) {
		t.Errorf("after the end: %+v, %v", third, err)
	}

	if want := (ports.RailSubject{Platform: platformID,
		Subject: uuid.MustParse("0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22")}); first.Changed[0] != want {
		t.Errorf("changed %+v", first.Changed[0])
	}
	receipt := ports.RailReceipt{Receipt: transaction.Receipt{Rail: "SEPA", PartnerID: "R1", Reference: "REF 2",
		Amount: money.Amount{Minor: 1050, Currency: "EUR"}, At: now, Originator: &transaction.Originator{Name: "Acme", Account: "****3000",
			EndToEndID: "E1", TraceNumber: "T1", Remittance: "rent"}, TransactionHash: "0x1"},
		Payer: &account.External{Type: "EUR_ACCOUNT", Currency: "EUR", Fields: map[string]string{"iban": "DE89370400440532013000"},
			Beneficiary: &account.Beneficiary{Type: account.Business, LegalName: "Acme"}}}
	if !reflect.DeepEqual(first.Receipts[0], receipt) {
		t.Errorf("receipt %+v", first.Receipts[0])
	}
	if want := (ports.ReceiptReversal{Platform: platformID, Rail: "SEPA", Receipt: "R1", PartnerID: "V1", Code: "AC01", Text: "Recalled.",
		At: now}); first.Reversals[0] != want {
		t.Errorf("reversal %+v", first.Reversals[0])
	}
	if want := (ports.RailFee{Rail: "SEPA", PartnerID: "F1", Amount: money.Amount{Minor: 25, Currency: "USD"}, At: now,
		Memo: "March"}); second.Fees[0] != want {
		t.Errorf("fee %+v", second.Fees[0])
	}
	if want := (ports.RailBalance{Amount: money.Amount{Minor: -5, Currency: "JPY"}, At: now}); second.Balances[0] != want {
		t.Errorf("balance %+v", second.Balances[0])
	}
}

// save stores events as a callback does.
func save(t *testing.T, r *partner.Rail, events ...partner.Event) {
	t.Helper()
	for _, e := range events {
		body, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Events.SavePartnerEvents(t.Context(), "bank", now, []ports.PartnerEvent{{ID: e.ID, Body: body}}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRail_PollHasEventsOfCallbacks(t *testing.T) {
	t.Parallel()
	// An event that was sent, and is listed too, is returned once; one that was sent is returned while the partner lists nothing.
	p := &pages{events: someEvents(), size: 10, fails: true}
	r, logged := newRail(t, p.ServeHTTP)
	if report, err := r.Poll(t.Context(), ""); err == nil {
		t.Errorf("without events: %+v", report)
	}
	save(t, r, someEvents()[1])

	down, err := r.Poll(t.Context(), "")
	if err != nil || len(down.Receipts) != 1 || !strings.Contains(logged.String(), "status 502") {
		t.Fatalf("%+v, %v; logged %s", down, err, logged)
	}
	p.fails = false
	up, err := r.Poll(t.Context(), down.Cursor)
	if err != nil || len(up.Receipts) != 0 || len(up.Changed)+len(up.Reversals)+len(up.Fees)+len(up.Balances) != 4 {
		t.Errorf("%+v, %v", up, err)
	}
}

func TestRail_PollOfAPartnerThatIsDown(t *testing.T) {
	t.Parallel()
	// A partner that cannot be reached is not taken for a database that cannot.
	log, _ := newLog()
	r, err := partner.Open(partner.Config{Connection: bankRail("http://127.0.0.1:1"), Secrets: portstest.Secrets{"file:/secret": secret},
		Events: &memoryEvents{}, Departures: &portstest.RailDepartures{}, Clock: &worldClock{now: now}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Poll(t.Context(), "")
	if network := net.Error(nil); err == nil || errors.As(err, &network) || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("got %v", err)
	}
}

func TestRail_PollKeepsTheFirstOfAnID(t *testing.T) {
	t.Parallel()
	// An event of any type whose id is that of another one changes nothing: the first one is taken, and both are returned as one
	// contradiction for each content, whether the partner lists or sends it, and also if it was kept aside before. An equal repeat
	// says nothing.
	for i, event := range someEvents() {
		later := event
		later.At = event.At.Add(time.Minute)
		latest := event
		latest.At = event.At.Add(time.Hour)
		r, _ := newRail(t, (&pages{events: []partner.Event{event, later, event, later, latest}, size: 2}).ServeHTTP)
		var report ports.RailReport
		found := map[string]rail.Contradiction{}
		for more := true; more; {
			next, err := r.Poll(t.Context(), report.Cursor)
			if err != nil || len(next.Raw) > 0 {
				t.Fatalf("%s: %+v, %v", event.ID, next, err)
			}
			taken := len(next.Changed) + len(next.Receipts) + len(next.Reversals) + len(next.Fees) + len(next.Balances)
			if first := report.Cursor == ""; first != (taken == 1) || taken > 1 {
				t.Errorf("%s: taken %d at %q", event.ID, taken, report.Cursor)
			}
			for _, c := range next.Contradictions {
				if _, again := found[c.Key()]; again || c.Name != "event "+event.ID || !c.Recorded.At.Equal(event.At) ||
					c.Recorded.State != string(event.Type) || c.Recorded.Text == c.Reported.Text {
					t.Errorf("%d: %+v", i, c)
				}
				found[c.Key()] = c
			}
			report, more = next, next.More
		}
		if len(found) != 2 {
			t.Errorf("%s: %d contradictions", event.ID, len(found))
		}
		odd, err := json.Marshal(later)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := r.ReadRaw(t.Context(), ports.RawReport{Kind: ports.RailFeedEvent, Data: odd}); err != nil || len(again.Receipts) != 0 {
			t.Errorf("read again: %+v, %v", again, err)
		}
	}
}

func TestRail_ReadRawOfAnIDThatWasUsed(t *testing.T) {
	t.Parallel()
	// An event that was kept aside, and is understood now, has the id of one that was taken since: the next reading returns both.
	r, _ := newRail(t, (&pages{size: 10}).ServeHTTP)
	event := someEvents()[3]
	save(t, r, event)
	event.Fee = &partner.FeeEvent{PartnerID: "F1", Rail: "SEPA", Amount: usd(26)}
	text, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	if report, err := r.ReadRaw(t.Context(), ports.RawReport{Kind: ports.RailFeedEvent, Data: text}); err != nil || len(report.Fees) > 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	report, err := r.Poll(t.Context(), "")
	if err != nil || len(report.Fees) != 1 || report.Fees[0].Amount.Minor != 25 || len(report.Contradictions) != 1 ||
		!strings.Contains(report.Contradictions[0].Reported.Text, `"26"`) {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestRail_PollKeepsAsideWhatIsNotDescribed(t *testing.T) {
	t.Parallel()
	// An event that is not valid is returned as it came, with the reason. Those around it are taken.
	for name, c := range map[string]struct {
		change func(*partner.Event)
		want   string
	}{
		"no id":             {func(e *partner.Event) { e.ID = "" }, "id must have"},
		"id with a space":   {func(e *partner.Event) { e.ID = "a b" }, "id must have"},
		"no time":           {func(e *partner.Event) { e.At = time.Time{} }, "at is missing"},
		"future":            {func(e *partner.Event) { e.At = now.AddDate(0, 0, 2) }, "or in the future"},
		"long ago":          {func(e *partner.Event) { e.At = time.Unix(0, 0) }, "before 2000"},
		"unknown type":      {func(e *partner.Event) { e.Type = "OTHER" }, "type is not that"},
		"other type":        {func(e *partner.Event) { e.Type = partner.FeeCharged }, "type is not that"},
		"no object":         {func(e *partner.Event) { e.Receipt = nil }, "exactly one"},
		"two objects":       {func(e *partner.Event) { a := usd(1); e.Balance = &a }, "exactly one"},
		"platform":          {func(e *partner.Event) { e.PlatformID = "p" }, "platformId"},
		"rail":              {func(e *partner.Event) { e.Receipt.Rail = "PIGEON" }, "rail is not"},
		"currency":          {func(e *partner.Event) { e.Receipt.Amount.Currency = "XXX" }, "receipt.amount.currency"},
		"decimals":          {func(e *partner.Event) { e.Receipt.Amount.Decimals = 0 }, "receipt.amount.decimals is 0; EUR has 2"},
		"zero":              {func(e *partner.Event) { e.Receipt.Amount.Minor = 0 }, "must be positive"},
		"negative":          {func(e *partner.Event) { e.Receipt.Amount.Minor = -1 }, "must be positive"},
		"no partner id":     {func(e *partner.Event) { e.Receipt.PartnerID = "" }, "receipt.partnerId"},
		"payer without one": {func(e *partner.Event) { e.Receipt.Payer.Type = "" }, "payer.type"},
		"payer currency":    {func(e *partner.Event) { e.Receipt.Payer.Currency = "XXX" }, "payer.currency"},
	} {
		events := someEvents()[:4]
		c.change(&events[1])
		r, _ := newRail(t, (&pages{events: events, size: 10}).ServeHTTP)
		report, err := r.Poll(t.Context(), "")
		if err != nil || len(report.Raw) != 1 || len(report.Changed) != 1 || len(report.Reversals) != 1 || len(report.Fees) != 1 ||
			report.Cursor != "3:4" {
			t.Fatalf("%s: %+v, %v", name, report, err)
		}
		raw := report.Raw[0]
		if raw.Kind != ports.RailFeedEvent || !strings.Contains(raw.Problem, c.want) || strings.Contains(raw.Problem, "Acme") ||
			!strings.Contains(string(raw.Data), `"Acme"`) && events[1].Receipt != nil {
			t.Errorf("%s: %+v; want %q", name, raw, c.want)
		}
	}
	r, _ := newRail(t, (&pages{more: true}).ServeHTTP)
	if _, err := r.Poll(t.Context(), "0:0"); err == nil || !strings.Contains(err.Error(), "cursor is that of the request") {
		t.Errorf("without end: %v", err)
	}
	if _, err := r.Poll(t.Context(), "garbage"); err == nil {
		t.Error("the cursor of something else was accepted")
	}
}

func TestRail_TextsNeverRefuseMoney(t *testing.T) {
	t.Parallel()
	// Names, references and memos are cleaned, whatever the partner writes, also as JSON with control characters.
	for name, c := range map[string]struct {
		change func(*partner.Event)
		page   func(string) string
	}{
		"tab in the name":        {change: func(e *partner.Event) { e.Receipt.Payer.Holder.Name = "Ac\tme" }},
		"tab that is not quoted": {page: func(text string) string { return strings.ReplaceAll(text, "Acme", "Ac\tme\x01") }},
		"not UTF-8":              {page: func(text string) string { return strings.ReplaceAll(text, "Acme", "Ac\xfc\tme") }},
		"a long name":            {change: func(e *partner.Event) { e.Receipt.Payer.Holder.Name = strings.Repeat("Acme ", 1000) }},
		"a long reference":       {change: func(e *partner.Event) { e.Receipt.Reference = strings.Repeat("é", 9000) }},
		"a field":                {change: func(e *partner.Event) { e.Receipt.Payer.Fields["iban"] = strings.Repeat("x", 3000) + "\x00" }},
	} {
		events := someEvents()[1:2]
		if c.change != nil {
			c.change(&events[0])
		}
		r, _ := newRail(t, func(w http.ResponseWriter, _ *http.Request) {
			text, _ := json.Marshal(partner.EventPage{Events: events, Cursor: "1"})
			if c.page != nil {
				text = []byte(c.page(string(text)))
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(text)
		})
		report, err := r.Poll(t.Context(), "")
		if err != nil || len(report.Receipts) != 1 || len(report.Raw) != 0 {
			t.Fatalf("%s: %+v, %v", name, report, err)
		}
		got := report.Receipts[0]
		for _, text := range []string{got.Reference, got.Payer.Beneficiary.LegalName, got.Payer.Fields["iban"]} {
			if text == "" || len(text) > 8000 || strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
}

func TestRail_StoredEventThatIsNotUnderstood(t *testing.T) {
	t.Parallel()
	// An event that an earlier version has stored, and this one does not understand, holds up none after it.
	r, _ := newRail(t, (&pages{size: 10}).ServeHTTP)
	odd := someEvents()[1]
	odd.ID, odd.Receipt = "odd", &partner.ReceiptEvent{Rail: "PIGEON", PartnerID: "1", Amount: usd(1)}
	save(t, r, odd, someEvents()[1])
	report, err := r.Poll(t.Context(), "0:0")
	if err != nil || len(report.Receipts) != 1 || len(report.Raw) != 1 || report.Raw[0].Place != "event odd" {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestRail_EventThatIsTooLarge(t *testing.T) {
	t.Parallel()
	// An event with which a page is larger than what is read is kept aside with its beginning and the reason, also when it is tried
	// again. Those around it are taken.
	events := someEvents()[1:4]
	events[1].Reversal.Text = strings.Repeat("x", 3<<20)
	r, _ := newRail(t, (&pages{events: events, size: partner.MaxEvents}).ServeHTTP, "timeout", "20s")
	var got ports.RailReport
	for more := true; more; {
		report, err := r.Poll(t.Context(), got.Cursor)
		if err != nil {
			t.Fatal(err)
		}
		report.Receipts, report.Fees, report.Raw = append(got.Receipts, report.Receipts...), append(got.Fees, report.Fees...),
			append(got.Raw, report.Raw...)
		got, more = report, report.More
	}
	if len(got.Receipts) != 1 || len(got.Fees) != 1 || len(got.Raw) != 1 || !strings.HasSuffix(got.Cursor, ":3") {
		t.Fatalf("%d receipts, %d fees, %d aside, cursor %s", len(got.Receipts), len(got.Fees), len(got.Raw), got.Cursor)
	}
	raw := got.Raw[0]
	if raw.Place != "event e3" || !strings.Contains(raw.Problem, "at most 1048576 are read") || len(raw.Data) != ports.MaxRawReport ||
		raw.Size <= 3<<20 {
		t.Errorf("kept aside %s: %s; %d of %d bytes", raw.Place, raw.Problem, len(raw.Data), raw.Size)
	}
	if _, err := r.ReadRaw(t.Context(), raw); err == nil || err.Error() != raw.Problem {
		t.Errorf("again: %v", err)
	}
}

func TestRail_PollReturnsTheErrorOfTheStore(t *testing.T) {
	t.Parallel()
	// If events cannot be stored, nothing is returned, and the cursor stays where it is.
	r, _ := newRail(t, (&pages{events: someEvents(), size: 10}).ServeHTTP)
	down := errors.New("database is down")
	r.Events.(*memoryEvents).err = down
	if report, err := r.Poll(t.Context(), ""); !errors.Is(err, down) {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestRail_PollSaysWhatNoRecordKnows(t *testing.T) {
	t.Parallel()
	// A payment that the partner has made and that was never recorded is a contradiction, once for each thing that the partner says of it.
	// One that was recorded is not, nor one that the partner has refused.
	p := &pages{size: 10}
	for i, status := range []partner.Status{partner.Accepted, partner.Settled, partner.Rejected} {
		p.events = append(p.events, partner.Event{ID: fmt.Sprint("e", i), Type: partner.PaymentChanged, At: now,
			Payment: &partner.PaymentEvent{Kind: partner.Payout, ID: fmt.Sprintf("0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e2%d", i/2),
				PlatformID: platformID.String(), Status: status}})
	}
	recorded := partner.Event{ID: "e9", Type: partner.PaymentChanged, At: now, Payment: &partner.PaymentEvent{Kind: partner.Refund,
		ID: "0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e29", PlatformID: platformID.String(), Status: partner.Settled}}
	p.events = append(p.events, recorded)
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	departures, log := &portstest.RailDepartures{}, logrus.New()
	log.SetOutput(io.Discard)
	r, err := partner.Open(partner.Config{Connection: bankRail(server.URL), Secrets: portstest.Secrets{"file:/secret": secret},
		Events: &memoryEvents{}, Departures: departures, Clock: &worldClock{now: now}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	if _, err := departures.LeaveRailPayments(t.Context(), "bank", []ports.RailPaymentKey{{Platform: platformID,
		ID: uuid.MustParse(recorded.Payment.ID), Kind: rail.SendBack}}, now); err != nil {
		t.Fatal(err)
	}

	report, err := r.Poll(t.Context(), "")

	keys := map[string]bool{}
	for _, c := range report.Contradictions {
		keys[c.Key()] = true
		if c.Subject != uuid.MustParse(p.events[0].Payment.ID) || c.Platform != platformID || c.Kind != rail.Payout {
			t.Errorf("%+v", c)
		}
	}
	if err != nil || len(report.Changed) != 4 || len(report.Contradictions) != 2 || len(keys) != 2 {
		t.Errorf("%v: %+v", err, report)
	}
}
