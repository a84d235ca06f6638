package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestUMA_TwoProcessesPayEachOther(t *testing.T) {
	t.Parallel()
	// Two installations pay each other, each currency locked once on either side. Both say the same amounts. A payment that is
	// rejected, or that nobody decides about in time, has no quote; one that is acknowledged and approved later has one; and a quote that
	// nobody executes ends on both sides, with the money where it was.
	ana, bo := newUMAEnvs(t)
	node := map[*umaEnv]int64{ana: ana.node.Balance(), bo: bo.node.Balance()}
	for _, test := range []struct {
		from, to *umaEnv
		side     string
	}{{ana, bo, "SENDING"}, {bo, ana, "RECEIVING"}, {ana, bo, "RECEIVING"}, {bo, ana, "SENDING"}} {
		sender, receiver := test.from.held(), test.to.held()
		quote := test.from.quote(test.to, test.side, 50_00).wantStatus(201)
		sends, receives := quote.int("totalSendingAmount"), quote.int("totalReceivingAmount")
		if map[string]int64{"SENDING": sends, "RECEIVING": receives}[test.side] != 50_00 ||
			quote.text("receivingCurrency.code") != test.to.currency {
			t.Fatalf("the quote: %s", quote.body)
		}
		test.from.post("/quotes/"+quote.text("id")+"/execute", nil).wantStatus(200)
		test.from.hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")
		arrived := test.to.hooks.awaitDelivery("a payment from "+test.from.address, func(d delivery) bool {
			return d.event == "INCOMING_PAYMENT.COMPLETED" && d.value("transaction.senderUmaAddress") == test.from.address &&
				d.int("transaction.receivedAmount.amount") == receives
		})
		arrived.wantValues(map[string]any{"transaction.receivedAmount.currency.code": test.to.currency,
			"transaction.receiverUmaAddress": test.to.address})
		if got := []int64{sender - test.from.held(), test.to.held() - receiver}; got[0] != sends || got[1] != receives {
			t.Errorf("%v were sent and received, not %d and %d", got, sends, receives)
		}
	}
	if ana.node.Invoices() != 3 || bo.node.Invoices() != 3 { // with those by which they got their money
		t.Errorf("%d and %d invoices", ana.node.Invoices(), bo.node.Invoices())
	}
	if ana.node.Balance()+bo.node.Balance() != node[ana]+node[bo]-4*ana.node.Fee {
		t.Errorf("the nodes have %d and %d, from %v", ana.node.Balance(), bo.node.Balance(), node)
	}

	// Each side has what the other reports of the channel over which each payment went.
	for _, e := range []*umaEnv{ana, bo} {
		other := map[*umaEnv]*umaEnv{ana: bo, bo: ana}[e]
		eventually(t, "the channels are reported to "+e.address, func() bool {
			return e.queryInt(`SELECT count(*) FROM uma_channels WHERE channels -> 0 ->> 'outpoint' = $1
				AND (channels -> 0 ->> 'milliSatoshis')::bigint > 0`, other.node.ChannelPoint()) == 4
		})
	}

	bo.hooks.setApprovalResponse(http.StatusForbidden, `{"reason": "no"}`)
	ana.quote(bo, "SENDING", 50_00).wantError(424, "PAYREQ_REQUEST_FAILED")
	bo.hooks.setApprovalResponse(http.StatusAccepted, "")
	ana.quote(bo, "SENDING", 50_00).wantError(424, "PAYREQ_REQUEST_FAILED") // nobody decides
	bo.hooks.respondWith(func(d delivery) int {
		if d.event == "INCOMING_PAYMENT.PENDING" {
			defer func() { go bo.post("/transactions/"+d.transactionID+"/approve", object{}) }()
			return http.StatusAccepted
		}
		return http.StatusOK
	})
	later := ana.quote(bo, "SENDING", 50_00).wantStatus(201)
	held := ana.held()
	ana.expire()
	bo.expire()
	if got := ana.get("/transactions/" + later.text("transactionId")).wantStatus(200).text("status"); got != "EXPIRED" {
		t.Errorf("the quote that nobody executes is %s", got)
	}
	if got := bo.arrivedFrom(ana); got["COMPLETED"] != 2 || got["FAILED"] != 3 || len(got) != 2 {
		t.Errorf("the payments to bo are %v", got)
	}
	if ana.held() != held {
		t.Errorf("ana has %d, before %d", ana.held(), held)
	}
}

func TestUMA_ChangedAndRepeatedAnswers(t *testing.T) {
	t.Parallel()
	// What is changed between two installations makes no payment: a lookup or an answer with a changed signature, an old time, or
	// another amount. An answer that was given before is not taken again, nor a request that was sent before.
	ana, bo := newUMAEnvs(t)
	part := func(message map[string]any, names ...string) map[string]any {
		for _, name := range names {
			message = message[name].(map[string]any)
		}
		return message
	}
	flip := func(m map[string]any, name string) {
		text := m[name].(string)
		last := "0"
		if strings.HasSuffix(text, last) {
			last = "1"
		}
		m[name] = text[:len(text)-1] + last
	}
	change := func(prefix string, change func(map[string]any)) {
		bo.proxy.changes(func(path string, body []byte) []byte {
			if !strings.HasPrefix(path, prefix) {
				return body
			}
			var message map[string]any
			if err := json.Unmarshal(body, &message); err != nil {
				t.Error(err)
			}
			change(message)
			changed, _ := json.Marshal(message)
			return changed
		})
	}
	const lookups, payments = "/.well-known/lnurlp/", "/uma/payreq/"
	for what, changed := range map[string]func(map[string]any){
		"signature": func(m map[string]any) { flip(part(m, "compliance"), "signature") },
		"time":      func(m map[string]any) { part(m, "compliance")["signatureTimestamp"] = 1_700_000_000 },
		"receiver":  func(m map[string]any) { part(m, "compliance")["receiverIdentifier"] = "$eve@pay.test" },
	} {
		change(lookups, changed)
		if got := ana.lookUp(bo); got.status != 424 || got.text("code") != "LNURLP_REQUEST_FAILED" {
			t.Errorf("a lookup with another %s: %d %s", what, got.status, got.body)
		}
	}
	bo.proxy.changes(nil)
	for what, changed := range map[string]func(map[string]any){
		"signature": func(m map[string]any) { flip(part(m, "payeeData", "compliance"), "signature") },
		"time":      func(m map[string]any) { part(m, "payeeData", "compliance")["signatureTimestamp"] = 1_700_000_000 },
		"amount":    func(m map[string]any) { part(m, "converted")["amount"] = 51_00 },
		"fee":       func(m map[string]any) { part(m, "converted")["fee"] = 1_000_000_000 },
	} {
		change(payments, changed)
		if got := ana.quote(bo, "RECEIVING", 50_00); got.status != 424 || got.text("code") != "PAYREQ_REQUEST_FAILED" {
			t.Errorf("an answer with another %s: %d %s", what, got.status, got.body)
		}
	}
	var first []byte
	bo.proxy.changes(func(path string, body []byte) []byte {
		if strings.HasPrefix(path, payments) {
			if first == nil {
				first = body
			}
			return first
		}
		return body
	})
	ana.quote(bo, "RECEIVING", 50_00).wantStatus(201)
	ana.quote(bo, "RECEIVING", 50_00).wantError(424, "PAYREQ_REQUEST_FAILED")
	bo.proxy.changes(nil)

	// The lookup is signed in its URL, so that who has seen one can send it again.
	var sent string
	bo.proxy.sees(func(r *http.Request) {
		if strings.HasPrefix(r.URL.Path, lookups) {
			sent = r.URL.String()
		}
	})
	ana.lookUp(bo).wantStatus(200)
	again, err := http.NewRequest(http.MethodGet, bo.proxy.URL+sent, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	again.Host = "pay.test"
	response, err := http.DefaultClient.Do(again)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var refused struct{ Code string }
	if err := json.NewDecoder(response.Body).Decode(&refused); err != nil || response.StatusCode != 400 || refused.Code != "INVALID_NONCE" {
		t.Errorf("a repeated lookup: %d %s %v", response.StatusCode, refused.Code, err)
	}
	ana.expire()
	bo.expire()
	if got := ana.held(); got != ana.start {
		t.Errorf("ana has %d of %d", got, ana.start)
	}
}

func TestUMA_InvoicesAndLightningAddress(t *testing.T) {
	t.Parallel()
	// Bo's invoice for ana reaches her platform, and is paid once, also if processes are killed between. A wallet that does not speak UMA
	// pays bo by Lightning address.
	ana, bo := newUMAEnvs(t)
	made := bo.post("/uma-invoices", object{"customerId": bo.customer, "amount": 25_00, "currency": "EUR",
		"senderUmaAddress": ana.address}).wantStatus(201)
	eventually(t, "the invoice is delivered", func() bool {
		return bo.get("/uma-invoices/"+made.text("id")).wantStatus(200).text("delivery.status") == "DELIVERED"
	})
	shown := ana.get("/uma-invoices?senderCustomerId=" + ana.customer).wantStatus(200)
	shown.wantValues(map[string]any{"data.0.invoice": made.text("invoice"), "data.0.status": "PENDING"})
	ana.restart()
	bo.restart()
	before := bo.held()
	ana.payInvoice(made.text("invoice"), 25_00)
	ana.wantInvoice(shown.text("data.0.id"), "PAID")
	bo.wantInvoice(made.text("id"), "PAID")
	ana.restart()
	ana.get("/receiver/uma/"+made.text("invoice")+"?customerId="+ana.customer).wantError(409, "CONFLICT")
	if got := bo.held() - before; got != 25_00 {
		t.Errorf("bo has received %d", got)
	}
	nobody := bo.post("/uma-invoices", object{"customerId": bo.customer, "amount": 25_00, "currency": "EUR",
		"senderUmaAddress": "$eve@bank.test"}).wantStatus(201).text("id")
	eventually(t, "the provider of ana refuses it", func() bool {
		return bo.get("/uma-invoices/"+nobody).wantStatus(200).text("delivery.status") == "REFUSED"
	})

	get := func(path string) (status int, answer map[string]any) {
		request, err := http.NewRequest(http.MethodGet, bo.proxy.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = "pay.test"
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		_ = json.NewDecoder(response.Body).Decode(&answer)
		return response.StatusCode, answer
	}
	if status, _ := get("/.well-known/lnurlp/bo"); status != 404 { // the platform requires the payer's name
		t.Errorf("with a required name: %d", status)
	}
	bo.patch("/config", object{"lightningAddressesEnabled": true, "supportedCurrencies": []any{
		object{"currencyCode": "EUR", "minAmount": 100, "maxAmount": 1_000_000_00, "enabledTransactionTypes": []any{"OUTGOING", "INCOMING"},
			"requiredCounterpartyFields": []any{}}}}).wantStatus(200).wantValues(map[string]any{"lightningAddressesEnabled": true})
	status, found := get("/.well-known/lnurlp/bo")
	if status != 200 || found["tag"] != "payRequest" {
		t.Fatalf("%d %v", status, found)
	}
	status, keys := get("/.well-known/lnurlpubkey")
	listed := bo.operator("platform", "uma-keys", "--platform", bo.platformID, "--output", "csv")
	if signing, _ := keys["signingPubKey"].(string); status != 200 || signing == "" || !strings.Contains(listed, ",ACTIVE,") ||
		!strings.Contains(listed, signing) {
		t.Errorf("%v are published, and listed:\n%s", keys, listed)
	}
	before = bo.held()
	status, given := get(strings.TrimPrefix(found["callback"].(string), "https://pay.test") + "?amount=30000000")
	if status != 200 {
		t.Fatalf("%d %v", status, given)
	}
	ana.node.PayByHand(given["pr"].(string))
	eventually(t, "the payment of the wallet is credited", func() bool { return bo.held() > before })
	ana.expire()
}
