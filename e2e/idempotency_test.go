package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"

	"causeway/e2e/kit"
)

func TestIdempotency_RepeatReplaysResponse(t *testing.T) {
	t.Parallel()
	// The same key with the same request returns the same bytes and changes nothing, also with
	// another token of the platform; with another request it is rejected.
	h := newSharedEnv(t)
	customer := h.createCustomer()
	wallet := h.createWallet(customer, "")
	body := kit.RampQuoteBody(customer, wallet, "SENDING", 10050)
	keyed := h.withHeader("Idempotency-Key", uuid.NewString())

	first := keyed.post("/quotes", body).wantStatus(201)
	again := keyed.post("/quotes", body).wantStatus(201)

	checkReplayed(t, first, again)
	keyed.post("/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", 10051)).wantError(422, "IDEMPOTENCY_KEY_REUSED")
	keyed.post("/customers", customerBody()).wantError(422, "IDEMPOTENCY_KEY_REUSED")
	withToken := func(permission string) *client {
		token := h.post("/tokens", object{"name": "x", "permissions": []string{permission}}).wantStatus(201)
		return h.withToken(token.text("clientId"), token.text("clientSecret")).withHeader("Idempotency-Key",
			keyed.Header.Get("Idempotency-Key"))
	}
	checkReplayed(t, first, withToken("TRANSACT").post("/quotes", body))
	withToken("VIEW").post("/quotes", body).wantError(403, "FORBIDDEN")
	if n := h.queryInt("SELECT count(*) FROM quotes WHERE platform_id = $1", uuidOf(h.platformID)); n != 1 {
		t.Errorf("%d quotes, want 1", n)
	}

	// An error is replayed as well.
	keyed = h.withHeader("Idempotency-Key", uuid.NewString())
	wrong := kit.RampQuoteBody("Customer:"+uuid.NewString(), wallet, "SENDING", 10050)
	checkReplayed(t, keyed.post("/quotes", wrong).wantError(404, "USER_NOT_FOUND"),
		keyed.post("/quotes", wrong).wantError(404, "USER_NOT_FOUND"))

	// A payment is made once, and its replayed response does not change while the payment
	// continues.
	hooks := h.startReceiver()
	keyed = h.withHeader("Idempotency-Key", uuid.NewString())
	payment := object{"reference": paymentReference(first), "currencyCode": "USD"}
	paid := keyed.post("/sandbox/send", payment).wantStatus(200)
	hooks.awaitOutgoingEvent(first.text("transactionId"), "COMPLETED")
	checkReplayed(t, paid, keyed.post("/sandbox/send", payment).wantStatus(200))
	h.checkConversion(h.platformID, first, "rails/RTP USD", "chains/LAYER2 BTC")

	// The same holds for every other POST; the secret of a token is returned once.
	keyed = h.withHeader("Idempotency-Key", uuid.NewString())
	checkReplayed(t, keyed.post("/customers", customerBody(object{"platformCustomerId": "once"})).wantStatus(201),
		keyed.post("/customers", customerBody(object{"platformCustomerId": "once"})).wantStatus(201))
	keyed = h.withHeader("Idempotency-Key", uuid.NewString())
	checkReplayed(t, keyed.post("/customers/external-accounts", usAccountBodyWithNumber(customer, "5551110001")).wantStatus(201),
		keyed.post("/customers/external-accounts", usAccountBodyWithNumber(customer, "5551110001")).wantStatus(201))
	keyed = h.withHeader("Idempotency-Key", uuid.NewString())
	token := object{"name": "y", "permissions": []string{"VIEW"}}
	one, two := keyed.post("/tokens", token).wantStatus(201), keyed.post("/tokens", token).wantStatus(201)
	if one.text("id") != two.text("id") || two.text("clientSecret") != "" || two.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("a token created twice with one key: %s", two.body)
	}

	for _, bad := range []string{"", "ä", string(bytes.Repeat([]byte("k"), 256))} {
		h.withHeader("Idempotency-Key", bad).post("/quotes", body).wantError(400, "INVALID_INPUT")
	}
}

func usAccountBodyWithNumber(customer, number string) object {
	body := usAccountBody(customer)
	body["accountInfo"].(object)["accountNumber"] = number
	return body
}

func checkReplayed(t *testing.T, first, again apiResponse) {
	t.Helper()
	if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s: Idempotent-Replayed %q, then %q", first.request, first.header.Get("Idempotent-Replayed"),
			again.header.Get("Idempotent-Replayed"))
	}
	if first.status != again.status || !bytes.Equal(first.body, again.body) {
		t.Errorf("%s: another response:\n%d %s\n%d %s", first.request, first.status, first.body, again.status, again.body)
	}
}

func TestIdempotency_ConcurrentServersMakeOneChange(t *testing.T) {
	t.Parallel()
	// Two servers that receive the same request with the same key at once make one change;
	// every response is that one, or says that the request is in progress.
	h := newSharedEnv(t)
	servers := []*process{h.server, secondServer(t)}
	hooks := h.startReceiver()
	for round := range 20 {
		quote := h.createQuote("")
		payment := object{"reference": paymentReference(quote), "currencyCode": "USD"}
		key := fmt.Sprintf("race-%d", round)
		var group sync.WaitGroup
		responses := make([]apiResponse, 6)
		start := make(chan struct{})
		for i := range responses {
			group.Go(func() {
				<-start
				responses[i], _ = h.withServer(servers[i%2]).withHeader("Idempotency-Key", key).do(t.Context(), http.MethodPost,
					"/sandbox/send", payment)
			})
		}
		close(start)
		group.Wait()

		fresh, text := 0, ""
		for _, got := range responses {
			switch {
			case got.status == http.StatusConflict && got.text("code") == "IDEMPOTENCY_KEY_IN_USE":
				continue
			case got.status != http.StatusOK:
				t.Errorf("response %d %s", got.status, got.body)
			case got.header.Get("Idempotent-Replayed") == "":
				fresh++
			}
			if text == "" {
				text = string(got.body)
			}
			if string(got.body) != text {
				t.Errorf("two responses to one request:\n%s\n%s", text, got.body)
			}
		}
		if fresh > 1 || text == "" {
			t.Errorf("%d of %d responses were not replayed", fresh, len(responses))
		}
		hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")
		if n := h.queryInt("SELECT count(*) FROM receipts WHERE reference = $1", paymentReference(quote)); n != 1 {
			t.Errorf("%d payments with one key", n)
		}
	}
}
