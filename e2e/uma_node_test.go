package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"causeway/adapters/rails/lightning/lndtest"
	"causeway/core/lightning"
)

// nodeProvider is a UMA provider that is made of the SDK of the protocol for Node, and the node of its customer nina.
type nodeProvider struct {
	t    *testing.T
	url  string
	node *lndtest.Node
}

func newNodeProvider(t *testing.T, hosts umaHosts, node *lndtest.Node) *nodeProvider {
	t.Helper()
	invoices := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var order struct {
			AmountMsats int64
			Metadata    string
		}
		if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, node.AddDescribedInvoice(sha256.Sum256([]byte(order.Metadata)), order.AmountMsats))
	}))
	t.Cleanup(invoices.Close)
	node.SetRouting(0, true)
	p := &nodeProvider{t: t, node: node, url: startNodeServer(t, []string{"DOMAIN=node.test", "PEER=bank.test", "NODE_URL=" + invoices.URL,
		"PEER_URL=" + hosts["bank.test"].URL}, "uma-provider.mjs")}
	hosts["node.test"].reach(t, p.url)
	return p
}

// post asks the provider for something.
func (p *nodeProvider) post(path string, body any) apiResponse {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	response, err := http.Post(p.url+path, "application/json", strings.NewReader(string(text)))
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return apiResponse{t: p.t, request: "POST " + path, status: response.StatusCode, body: answer}
}

func TestUMA_ProviderOfTheNodeSDK(t *testing.T) {
	t.Parallel()
	// A provider that is made of the protocol's SDK for Node accepts each message: it is paid by ana and pays her, with either amount
	// locked. Each side gets what the other states, also encrypted, and each invoice is bound to the messages that it is for.
	nodes, hosts := newUMANodes(), newUMAHosts(t, "bank.test", "hooks.bank.test", "node.test")
	ana := newUMAEnv(t, nodes[0], hosts, "ana", "bank.test", "USD")
	nina := newNodeProvider(t, hosts, nodes[1])

	for side, amount := range map[string]int64{"SENDING": 50_00, "RECEIVING": 20_00} {
		found := ana.get("/receiver/uma/%24nina%40node.test?customerId=" + ana.customer).wantStatus(200)
		quote := ana.post("/quotes", object{"source": object{"sourceType": "ACCOUNT", "accountId": ana.account},
			"lookupId":           found.text("lookupId"),
			"destination":        object{"destinationType": "UMA_ADDRESS", "umaAddress": "$nina@node.test", "currency": "USD"},
			"lockedCurrencySide": side, "lockedCurrencyAmount": amount}).wantStatus(201)
		ana.post("/quotes/"+quote.text("id")+"/execute", nil).wantStatus(200)
		ana.hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")
	}
	eventually(t, "the channels are reported to nina's provider", func() bool {
		return len(nina.post("/seen", nil).wantStatus(200).list("callbacks")) == 2
	})
	seen := nina.post("/seen", nil).wantStatus(200)
	seen.wantValues(map[string]any{"callbacks.0.utxos.0.utxo": ana.node.ChannelPoint()})
	if !strings.Contains(seen.text("travelRule"), "The Person ana") || seen.text("name") != "The Person ana" {
		t.Errorf("nina's provider knows of ana: %s", seen.body)
	}

	for side, amount := range map[string]int64{"SENDING": 40_000_000, "RECEIVING": 30_00} {
		before := ana.held()
		sent := nina.post("/send?"+url.Values{"receiver": {ana.address}, "currency": {"USD"}, "locked": {side},
			"amount": {strconv.FormatInt(amount, 10)}}.Encode(), nil).wantStatus(200)
		invoice, err := lightning.ParseInvoice(sent.text("invoice"))
		if err != nil || invoice.DescriptionHash == nil || *invoice.DescriptionHash != sha256.Sum256([]byte(sent.text("metadata"))) {
			t.Fatalf("the invoice is of other messages: %v", err)
		}
		sent.wantValues(map[string]any{"payee.identifier": ana.address, "payee.name": "The Person ana", "disposable": false,
			"converted.currencyCode": "USD", "converted.decimals": 2})
		nina.node.PayByHand(sent.text("invoice"))
		arrived := ana.hooks.awaitDelivery("a payment from nina", func(d delivery) bool {
			return d.event == "INCOMING_PAYMENT.COMPLETED" && d.value("transaction.senderUmaAddress") == "$nina@node.test" &&
				d.int("transaction.receivedAmount.amount") == sent.int("converted.amount")
		})
		known := ana.get("/transactions/" + arrived.transactionID).wantStatus(200)
		if !strings.Contains(string(known.body), "Nina Node") || ana.held()-before != sent.int("converted.amount") {
			t.Errorf("%s has arrived, and ana has %d more", known.body, ana.held()-before)
		}
		multiplier, _ := sent.rat("converted.multiplier").Float64()
		cost := float64(sent.int("converted.amount"))*multiplier + float64(sent.int("converted.fee"))
		if off := math.Abs(cost - float64(invoice.MilliSatoshis)); off > multiplier {
			t.Errorf("the invoice is of %d, and the answer says %f", invoice.MilliSatoshis, cost)
		}
		nina.post("/report", object{"url": sent.text("payee.compliance.utxoCallback"), "callback": sent.value("callback")}).
			wantStatus(200).wantValues(map[string]any{"status": 200})
	}
	if n := ana.queryInt("SELECT count(*) FROM uma_channels WHERE channels -> 0 ->> 'outpoint' = 'bb22:1'"); n != 2 {
		t.Errorf("the channels of %d payments from nina are kept", n)
	}
	ana.expire()
}

func TestUMA_InvoicesOfTheNodeSDK(t *testing.T) {
	t.Parallel()
	// Nina's provider, which is made of the protocol's SDK for Node, reads an invoice of ana, and pays it once. Ana pays one of nina, which
	// her provider has shown.
	nodes, hosts := newUMANodes(), newUMAHosts(t, "bank.test", "hooks.bank.test", "node.test")
	ana := newUMAEnv(t, nodes[0], hosts, "ana", "bank.test", "USD")
	nina := newNodeProvider(t, hosts, nodes[1])

	made := ana.post("/uma-invoices", object{"customerId": ana.customer, "amount": 30_00, "currency": "USD",
		"senderUmaAddress": "$nina@node.test"}).wantStatus(201)
	eventually(t, "nina's provider has the invoice", func() bool {
		return ana.get("/uma-invoices/"+made.text("id")).wantStatus(200).text("delivery.status") == "DELIVERED"
	})
	seen := nina.post("/seen", nil).wantStatus(200)
	seen.wantValues(map[string]any{"invoices.0.receiverUma": ana.address, "invoices.0.amount": 30_00,
		"invoices.0.receivingCurrency.code": "USD", "invoices.0.invoiceUUID": uuidOf(made.text("id")),
		"invoices.0.requiredPayerData.name.mandatory": true})
	first := nina.post("/accept", nil).wantStatus(200)
	first.wantValues(map[string]any{"status": 200, "converted.amount": 30_00})
	accepted := nina.post("/accept", nil).wantStatus(200) // in place of the first one
	accepted.wantValues(map[string]any{"status": 200, "converted.amount": 30_00})
	if accepted.text("invoice") == first.text("invoice") {
		t.Error("the same Lightning invoice was given again")
	}
	nina.node.PayByHand(accepted.text("invoice"))
	ana.wantInvoice(made.text("id"), "PAID")
	nina.post("/accept", nil).wantStatus(200).wantValues(map[string]any{"status": 400, "refused.code": "INVALID_INVOICE"})

	asked := nina.post("/ask?sender="+url.QueryEscape(ana.address), nil).wantStatus(200)
	shown := ana.get("/uma-invoices?senderCustomerId=" + ana.customer).wantStatus(200)
	shown.wantValues(map[string]any{"data.0.invoice": asked.text("invoice"), "data.0.receiverUmaAddress": "$nina@node.test",
		"data.0.amount.amount": 3_00, "data.0.status": "PENDING"})
	ana.payInvoice(asked.text("invoice"), 3_00)
	ana.wantInvoice(shown.text("data.0.id"), "PAID")
	ana.expire()
}
