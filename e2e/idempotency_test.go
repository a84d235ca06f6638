package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
)

func TestIdempotency(t *testing.T) {
	t.Parallel()
	// The same key with the same request is answered byte for byte as before and does
	// nothing; with another request it is refused; another token's key is another key.
	h := newHouse(t)
	customer := h.customer()
	wallet := h.wallet(customer, "")
	body := ramp(customer, wallet, "SENDING", 10050)
	keyed := h.with("Idempotency-Key", uuid.NewString())

	first := keyed.post("/quotes", body).want(201)
	again := keyed.post("/quotes", body).want(201)

	replayed(t, first, again)
	keyed.post("/quotes", ramp(customer, wallet, "SENDING", 10051)).refused(422, "IDEMPOTENCY_KEY_REUSED")
	keyed.post("/customers", person()).refused(422, "IDEMPOTENCY_KEY_REUSED")
	other := h.post("/tokens", object{"name": "x", "permissions": []string{"TRANSACT"}}).want(201)
	second := newClient(t, h.base, other.str("clientId"), other.str("clientSecret")).with("Idempotency-Key", keyed.headers.Get("Idempotency-Key")).post("/quotes", body).want(201)
	if second.str("id") == first.str("id") {
		t.Error("another token's key gave the same quote")
	}
	if n := h.count("SELECT count(*) FROM quotes"); n != 2 {
		t.Errorf("%d quotes, want 2", n)
	}

	// A refusal is remembered as well.
	keyed = h.with("Idempotency-Key", uuid.NewString())
	wrong := ramp("Customer:"+uuid.NewString(), wallet, "SENDING", 10050)
	replayed(t, keyed.post("/quotes", wrong).refused(404, "USER_NOT_FOUND"), keyed.post("/quotes", wrong).refused(404, "USER_NOT_FOUND"))

	// A payment is made once, and its answer stays what it was while the payment goes on.
	hooks := h.listen()
	keyed = h.with("Idempotency-Key", uuid.NewString())
	payment := object{"reference": reference(first), "currencyCode": "USD"}
	paid := keyed.post("/sandbox/send", payment).want(200)
	hooks.end(first.str("transactionId"), "COMPLETED")
	replayed(t, paid, keyed.post("/sandbox/send", payment).want(200))
	h.checkConversion(h.platform, first, "rails/RTP USD", "chains/LAYER2 BTC")

	// So is everything else that is made by a POST; the secret of a token is told once.
	keyed = h.with("Idempotency-Key", uuid.NewString())
	replayed(t, keyed.post("/customers", person(object{"platformCustomerId": "once"})).want(201), keyed.post("/customers", person(object{"platformCustomerId": "once"})).want(201))
	keyed = h.with("Idempotency-Key", uuid.NewString())
	replayed(t, keyed.post("/customers/external-accounts", usAccountOf(customer, "5551110001")).want(201), keyed.post("/customers/external-accounts", usAccountOf(customer, "5551110001")).want(201))
	keyed = h.with("Idempotency-Key", uuid.NewString())
	token := object{"name": "y", "permissions": []string{"VIEW"}}
	one, two := keyed.post("/tokens", token).want(201), keyed.post("/tokens", token).want(201)
	if one.str("id") != two.str("id") || two.str("clientSecret") != "" || two.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("a token made twice with one key: %s", two.text)
	}

	for _, bad := range []string{"", "ä", string(bytes.Repeat([]byte("k"), 256))} {
		h.with("Idempotency-Key", bad).post("/quotes", body).refused(400, "INVALID_INPUT")
	}
}

func usAccountOf(customer, number string) object {
	body := usAccount(customer)
	body["accountInfo"].(object)["accountNumber"] = number
	return body
}

func replayed(t *testing.T, first, again answer) {
	t.Helper()
	if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s: Idempotent-Replayed %q, then %q", first.what, first.header.Get("Idempotent-Replayed"), again.header.Get("Idempotent-Replayed"))
	}
	if first.status != again.status || !bytes.Equal(first.text, again.text) {
		t.Errorf("%s: another answer:\n%d %s\n%d %s", first.what, first.status, first.text, again.status, again.text)
	}
}

func TestIdempotencyRace(t *testing.T) {
	t.Parallel()
	// Two processes that get the same request with the same key at the same moment make
	// one change; every answer is that one, or says that it is still being made.
	h := newHouse(t)
	servers := []*process{h.server, serve(t, h.database)}
	hooks := h.listen()
	for round := range 20 {
		quote := h.quote("")
		payment := object{"reference": reference(quote), "currencyCode": "USD"}
		key := fmt.Sprintf("race-%d", round)
		var group sync.WaitGroup
		answers := make([]answer, 6)
		start := make(chan struct{})
		for i := range answers {
			group.Go(func() {
				<-start
				answers[i], _ = h.at(servers[i%2]).with("Idempotency-Key", key).try(t.Context(), http.MethodPost, "/sandbox/send", payment)
			})
		}
		close(start)
		group.Wait()

		fresh, text := 0, ""
		for _, got := range answers {
			switch {
			case got.status == http.StatusConflict && got.str("code") == "IDEMPOTENCY_KEY_IN_USE":
				continue
			case got.status != http.StatusOK:
				t.Errorf("answer %d %s", got.status, got.text)
			case got.header.Get("Idempotent-Replayed") == "":
				fresh++
			}
			if text == "" {
				text = string(got.text)
			}
			if string(got.text) != text {
				t.Errorf("two answers to one request:\n%s\n%s", text, got.text)
			}
		}
		if fresh > 1 || text == "" {
			t.Errorf("%d answers of %d are not from memory", fresh, len(answers))
		}
		hooks.end(quote.str("transactionId"), "COMPLETED")
		if n := h.count("SELECT count(*) FROM receipts WHERE reference = $1", reference(quote)); n != 1 {
			t.Errorf("%d payments with one key", n)
		}
	}
}
