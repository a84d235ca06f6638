package partner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"causeway/adapters/rails/partner"
	"causeway/core/rail"
	"causeway/core/signedmessage"
	"causeway/ports"
	"causeway/ports/portstest"
)

// anyEvents are what a partner lists and sends, and what it must lead to.
type anyEvents struct {
	list []json.RawMessage
	sent map[string]int // statuses of the answers to what is sent too, by content
	// good are the ids of receipts and reversals, reused those of events whose id was used again, and bad the reasons of what is kept
	// aside, by content.
	good, reused map[string]bool
	bad          map[string]string
	first        map[string]string // events that are listed and good, by their ids
}

// receiptEvent is money received, with an odd name.
func receiptEvent(t *rapid.T, n int) partner.Event {
	e := someEvents()[1]
	e.ID, e.Receipt.PartnerID, e.Receipt.Amount = fmt.Sprintf("e%d", n), fmt.Sprintf("R%d", n), usd(partner.Minor(1+n))
	e.Receipt.Reference = rapid.String().Draw(t, "reference")
	e.Receipt.Payer.Holder.Name = "Acme " + strings.Repeat("x", rapid.SampledFrom([]int{0, 5, 300, 5000}).Draw(t, "length"))
	return e
}

// text returns an event as JSON, in which the name may have what JSON has not.
func text(t *rapid.T, e partner.Event) string {
	encoded, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	name := rapid.SampledFrom([]string{"Acme ", "Ac\tme", "Ac\x00me", `Ac\u0000me`, "M\xfcller", "\xed\xa0\x80", `\ud800`, "Ac\r\nme",
		"\u202eevil"}).Draw(t, "name")
	return strings.Replace(string(encoded), "Acme ", name, 1)
}

// oddities change a good event into one that is not, and say why it is not.
var oddities = map[string]func(t *rapid.T, e *partner.Event) (reason string){
	"type":     func(_ *rapid.T, e *partner.Event) string { e.Type = "OTHER"; return "type is not that" },
	"rail":     func(_ *rapid.T, e *partner.Event) string { e.Receipt.Rail = "PIGEON"; return "rail is not" },
	"currency": func(_ *rapid.T, e *partner.Event) string { e.Receipt.Amount.Currency = "XXX"; return "currency" },
	"decimals": func(_ *rapid.T, e *partner.Event) string { e.Receipt.Amount.Decimals = 17; return "decimals is 17" },
	"amount": func(t *rapid.T, e *partner.Event) string {
		e.Receipt.Amount.Minor = partner.Minor(rapid.Int64Range(-1<<62, 0).Draw(t, "minor"))
		return "must be positive"
	},
	"time": func(t *rapid.T, e *partner.Event) string {
		e.At = rapid.SampledFrom([]time.Time{{}, time.Unix(0, 0).UTC(), now.AddDate(7000, 0, 0)}).Draw(t, "time")
		return "at is missing, before 2000 or in the future"
	},
	"platform":   func(_ *rapid.T, e *partner.Event) string { e.PlatformID = "nobody"; return "platformId" },
	"partner id": func(_ *rapid.T, e *partner.Event) string { e.Receipt.PartnerID = "R\x01"; return "receipt.partnerId" },
	"two objects": func(_ *rapid.T, e *partner.Event) string {
		a := usd(1)
		e.Balance = &a
		return "exactly one"
	},
}

// add adds the nth event, of any kind.
func (a *anyEvents) add(t *rapid.T, n int) {
	e := receiptEvent(t, n)
	kind := rapid.SampledFrom([]string{"receipt", "receipt", "reversal", "oddity", "wrong type", "no object", "too large", "id again",
		"listed again"}).Draw(t, "kind")
	switch kind {
	case "receipt":
		a.addGood(t, e, e.Receipt.PartnerID)
	case "reversal": // of money that came before or comes later, or never
		e.Type, e.Receipt = partner.ReceiptReversed, nil
		e.Reversal = &partner.ReversalEvent{ReceiptID: fmt.Sprintf("R%d", rapid.IntRange(0, 30).Draw(t, "receipt")),
			PartnerID: fmt.Sprintf("V%d", n), Rail: "SEPA", Code: "AC\x0001"}
		a.addGood(t, e, e.Reversal.PartnerID)
	case "oddity":
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(oddities))).Draw(t, "oddity")
		reason := oddities[name](t, &e)
		encoded, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		a.addBad(t, string(encoded), reason)
	case "wrong type":
		a.addBad(t, wrongType(t, e), "")
	case "no object":
		value := rapid.SampledFrom([]string{`null`, `7`, `"x"`, `[]`, `true`}).Draw(t, "value")
		a.addBad(t, fmt.Sprintf(`[%d,%s]`, n, value), "not a JSON object")
	case "too large":
		e.Receipt.Reference = strings.Repeat("x", 1<<20)
		encoded, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		a.addBad(t, string(encoded), "at most 1048576 are read")
	case "id again":
		if len(a.first) == 0 {
			return
		}
		e.ID = rapid.SampledFrom(slices.Sorted(maps.Keys(a.first))).Draw(t, "id")
		a.reused[fmt.Sprintf("event %s %d", e.ID, n)] = true
		a.list = append(a.list, json.RawMessage(text(t, e)))
	case "listed again":
		if len(a.list) > 0 {
			a.list = append(a.list, rapid.SampledFrom(a.list).Draw(t, "again"))
		}
	}
}

func (a *anyEvents) addGood(t *rapid.T, e partner.Event, id string) {
	content := text(t, e)
	a.list, a.good[id], a.first[e.ID] = append(a.list, json.RawMessage(content)), true, content
	if rapid.Bool().Draw(t, "sent") {
		a.sent[content] = http.StatusNoContent
	}
}

func (a *anyEvents) addBad(t *rapid.T, content, reason string) {
	a.list, a.bad[content] = append(a.list, json.RawMessage(content)), reason
	if rapid.Bool().Draw(t, "sent") {
		a.sent[content] = http.StatusBadRequest
		if len(content) > 64<<10 {
			a.sent[content] = http.StatusRequestEntityTooLarge
		}
	}
}

// wrongType returns an event with a field of another type.
func wrongType(t *rapid.T, e partner.Event) string {
	encoded, err := json.Marshal(e)
	var object map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(encoded, &object)
	}
	if err != nil {
		t.Fatal(err)
	}
	value := rapid.SampledFrom([]string{`null`, `7`, `"x"`, `[]`, `{}`, `true`, `-1e400`, `"2026-13-45T00:00:00Z"`, `{"minor":"x"}`}).Draw(t,
		"value")
	field := rapid.SampledFrom([]string{"id", "type", "at", "receipt"}).Draw(t, "field")
	if object[field] = json.RawMessage(value); field == "id" && value[0] == '"' { // it is one
		object["at"] = json.RawMessage(`7`)
	}
	encoded, err = json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// send sends an event, and returns the status of the answer.
func send(t *rapid.T, callback http.Handler, content string) int {
	secrets, err := signedmessage.Parse(secret)
	if err != nil {
		t.Fatal(err)
	}
	h := secrets.Sign("msg", now, []byte(content))
	request := httptest.NewRequest(http.MethodPost, "/rails/partner/bank/events", strings.NewReader(content))
	request.SetPathValue("connection", "bank")
	request.Header = http.Header{}
	request.Header.Set(signedmessage.IDHeader, h.ID)
	request.Header.Set(signedmessage.TimestampHeader, h.Timestamp)
	request.Header.Set(signedmessage.SignatureHeader, h.Signature)
	response := httptest.NewRecorder()
	callback.ServeHTTP(response, request)
	return response.Code
}

func TestRail_AnyEventsInAnyOrder(t *testing.T) {
	t.Parallel()
	// Whatever a partner lists and sends: each good event is returned once, whichever odd names it has, each bad one once as it came
	// with the reason, each id that was used again as one contradiction, and the cursor goes to the end. What is listed again has the
	// same keys.
	rapid.Check(t, func(rt *rapid.T) {
		a := &anyEvents{sent: map[string]int{}, good: map[string]bool{}, reused: map[string]bool{}, bad: map[string]string{},
			first: map[string]string{}}
		for n := range rapid.IntRange(1, 30).Draw(rt, "events") {
			a.add(rt, n)
		}
		size := rapid.IntRange(1, 10).Draw(rt, "page")
		r, _ := newRail(t, a.handler(size), "timeout", "20s")
		log, _ := newLog()
		callback := &partner.Callback{Secrets: portstest.Secrets{"file:/secret": secret}, Events: r.Events,
			Clock: &worldClock{now: now}, Log: log,
			Connection: func(context.Context, string) (rail.Connection, error) { return bankRail("http://127.0.0.1"), nil }}
		for content, want := range a.sent {
			if status := send(rt, callback, content); status != want {
				rt.Errorf("%.200q was answered with %d, want %d", content, status, want)
			}
		}
		got := a.read(rt, r, "")
		a.check(rt, got)
		again := a.read(rt, r, fmt.Sprintf("%d:0", len(r.Events.(*memoryEvents).events))) // the partner lists all of it again
		for _, raw := range again.Raw {
			if !slices.ContainsFunc(got.Raw, func(first ports.RawReport) bool { return first.Key == raw.Key }) {
				rt.Errorf("another key %s", raw.Key)
			}
		}
		if n := len(again.Receipts) + len(again.Reversals) + len(again.Contradictions); n > 0 {
			rt.Errorf("%d events were returned again", n)
		}
	})
}

// handler lists the events in pages of a size.
func (a *anyEvents) handler(size int) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		after, _ := strconv.Atoi(q.URL.Query().Get("after"))
		limit, _ := strconv.Atoi(q.URL.Query().Get("limit"))
		end := min(after+min(size, limit), len(a.list))
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"events":[%s],"cursor":"%d","more":%v}`, bytes.Join(slices.Collect(func(yield func([]byte) bool) {
			for _, e := range a.list[after:end] {
				if !yield(e) {
					return
				}
			}
		}), []byte(",")), end, end < len(a.list))
	}
}

// read polls to the end.
func (a *anyEvents) read(t *rapid.T, r *partner.Rail, cursor string) (got ports.RailReport) {
	for more := true; more; {
		report, err := r.Poll(context.Background(), cursor)
		if err != nil {
			t.Fatal(err)
		}
		got.Receipts, got.Reversals = append(got.Receipts, report.Receipts...), append(got.Reversals, report.Reversals...)
		got.Raw, got.Contradictions = append(got.Raw, report.Raw...), append(got.Contradictions, report.Contradictions...)
		cursor, more = report.Cursor, report.More
	}
	if !strings.HasSuffix(cursor, fmt.Sprintf(":%d", len(a.list))) {
		t.Errorf("cursor %s, want the end at %d", cursor, len(a.list))
	}
	return got
}

func (a *anyEvents) check(t *rapid.T, got ports.RailReport) {
	returned := map[string]bool{}
	once := func(id string) {
		if returned[id] || !a.good[id] {
			t.Errorf("%s was returned again, or is not good", id)
		}
		returned[id] = true
	}
	for _, r := range got.Receipts {
		once(r.PartnerID)
		if name := r.Payer.Beneficiary.LegalName; name == "" || strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name) {
			t.Errorf("payer %q", name)
		}
	}
	for _, r := range got.Reversals {
		once(r.PartnerID)
	}
	if !maps.Equal(returned, a.good) {
		t.Errorf("returned %v, want %v", returned, a.good)
	}
	if len(got.Contradictions) != len(a.reused) {
		t.Errorf("%d contradictions, want %d: %+v", len(got.Contradictions), len(a.reused), got.Contradictions)
	}
	kept := map[string]bool{}
	for _, raw := range got.Raw {
		found := false
		for content, reason := range a.bad {
			if found = bytes.Equal(raw.Data, []byte(content[:min(len(content), ports.MaxRawReport)])); found {
				kept[raw.Key] = true
				if raw.Problem == "" || !strings.Contains(raw.Problem, reason) {
					t.Errorf("%.100s was kept aside because %s; want %s", raw.Data, raw.Problem, reason)
				}
				break
			}
		}
		if !found {
			t.Errorf("kept aside %.200q: %s", raw.Data, raw.Problem)
		}
	}
	if len(kept) != len(a.bad) {
		t.Errorf("%d events were kept aside, want %d", len(kept), len(a.bad))
	}
}
