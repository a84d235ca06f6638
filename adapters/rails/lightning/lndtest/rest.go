package lndtest

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"causeway/core/lightning"
)

// Serve serves the node behind a gate, and returns its server.
func (n *Node) Serve(t testing.TB, g Gate) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(n.Handler(g))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server
}

// Handler returns the REST interface of the node behind a gate.
func (n *Node) Handler(g Gate) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern, permission string, call func(w http.ResponseWriter, r *http.Request)) {
		mux.HandleFunc(pattern, gated(pattern, g, func(w http.ResponseWriter, r *http.Request) {
			if !n.allows(r.Header.Get("Grpc-Metadata-Macaroon"), permission) {
				answer(w, http.StatusInternalServerError, 2, "permission denied")
				return
			}
			call(w, r)
		}))
	}
	handle("GET /v1/getinfo", "info:read", n.getInfo)
	handle("GET /v1/balance/channels", "offchain:read", n.channelBalance)
	handle("GET /v1/channels", "offchain:read", n.channels)
	handle("POST /v2/router/send", "offchain:write", n.send)
	handle("GET /v2/router/track/{hash}", "offchain:read", n.track)
	handle("GET /v1/payments", "offchain:read", n.listPayments)
	handle("POST /v1/invoices", "invoices:write", n.makeInvoice)
	handle("GET /v1/invoices", "invoices:read", n.listInvoices)
	handle("GET /v1/invoice/{hash}", "invoices:read", n.lookUpInvoice)
	handle("GET /v1/invoices/subscribe", "invoices:read", n.subscribe)
	handle("POST /v2/invoices/cancel", "invoices:write", n.cancel)
	handle("GET /v1/balance/blockchain", "onchain:read", func(w http.ResponseWriter, _ *http.Request) { write(w, map[string]any{}) })
	handle("GET /v1/macaroon/ids", "macaroon:read", func(w http.ResponseWriter, _ *http.Request) { write(w, map[string]any{}) })
	return mux
}

func (n *Node) allows(macaroon, permission string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch macaroon {
	case AdminMacaroon:
		return true
	case Macaroon:
		return !n.denied[permission] && slices.Contains([]string{"info:read", "offchain:read", "offchain:write", "invoices:read",
			"invoices:write"}, permission)
	}
	return false
}

func write(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

func answer(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "message": message, "details": []any{}})
}

// streamError is the form of an error in the place of a stream.
func streamError(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": code, "message": message, "details": []any{}}})
}

func text(n int64) string { return strconv.FormatInt(n, 10) }

func (n *Node) getInfo(w http.ResponseWriter, _ *http.Request) {
	names := map[lightning.Network]string{lightning.Main: "mainnet", lightning.Test: "testnet", lightning.Signet: "signet",
		lightning.Regtest: "regtest", lightning.Simnet: "simnet"}
	write(w, map[string]any{"version": "0.18.5-beta", "identity_pubkey": hex.EncodeToString(n.Key.PubKey().SerializeCompressed()),
		"num_active_channels": 1, "synced_to_chain": true, "chains": []any{map[string]any{"chain": "bitcoin", "network": names[n.Network]}}})
}

func (n *Node) channelBalance(w http.ResponseWriter, _ *http.Request) {
	n.mu.Lock()
	var outgoing int64
	for _, p := range n.payments {
		if p.status == "IN_FLIGHT" {
			outgoing += p.satoshis + p.fee
		}
	}
	held := n.balance - commitmentFee*1000
	n.mu.Unlock()
	amount := func(n int64) any { return map[string]any{"sat": text(n / 1000), "msat": text(n)} }
	write(w, map[string]any{"local_balance": amount(held), "unsettled_remote_balance": amount(outgoing),
		"unsettled_local_balance": amount(0)})
}

// commitmentFee is what the commitment of the channel costs, which the node has opened.
const commitmentFee = 2_810

func (n *Node) channels(w http.ResponseWriter, _ *http.Request) {
	write(w, map[string]any{"channels": []any{map[string]any{"initiator": true, "commit_fee": text(commitmentFee),
		"chan_id": channelID, "channel_point": n.ChannelPoint()},
		map[string]any{"initiator": false, "commit_fee": "77"}}})
}

// describe describes a payment.
func (p *payment) describe() map[string]any {
	reason, fee := "FAILURE_REASON_NONE", int64(0)
	if p.status == "FAILED" {
		reason = p.reason
	}
	if p.status == "SUCCEEDED" {
		fee = p.fee
	}
	return map[string]any{"status": p.status, "fee_msat": text(fee), "failure_reason": reason, "value_msat": text(p.satoshis),
		"htlcs": p.parts()}
}

// follow streams what becomes of a payment until it has ended. The lock is held at its beginning and end.
func (n *Node) follow(w http.ResponseWriter, r *http.Request, p *payment) {
	w.Header().Set("Content-Type", "application/json")
	for said := ""; ; n.await(r, p) {
		if p.status != said {
			said = p.status
			body, _ := json.Marshal(map[string]any{"result": p.describe()})
			n.mu.Unlock()
			_, _ = w.Write(append(body, '\n'))
			_ = http.NewResponseController(w).Flush()
			n.mu.Lock()
		}
		if p.status != "IN_FLIGHT" || r.Context().Err() != nil {
			return
		}
	}
}

func (n *Node) track(w http.ResponseWriter, r *http.Request) {
	hash, err := base64.URLEncoding.DecodeString(r.PathValue("hash"))
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil || len(hash) != 32 || n.payments[[32]byte(hash)] == nil || n.payments[[32]byte(hash)].begun == 0 {
		streamError(w, http.StatusNotFound, 5, "payment isn't initiated")
		return
	}
	n.follow(w, r, n.payments[[32]byte(hash)])
}

func (n *Node) send(w http.ResponseWriter, r *http.Request) {
	var order struct {
		Invoice  string `json:"payment_request"`
		Satoshis int64  `json:"amt"`
		Limit    int64  `json:"fee_limit_sat"`
		Seconds  int64  `json:"timeout_seconds"`
	}
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		streamError(w, http.StatusBadRequest, 3, err.Error())
		return
	}
	i, err := lightning.ParseInvoice(order.Invoice)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case order.Seconds == 0:
		streamError(w, http.StatusInternalServerError, 2, "timeout_seconds must be specified")
		return
	case err != nil || i.Network != n.Network:
		streamError(w, http.StatusInternalServerError, 2, fmt.Sprintf("invalid invoice: %v", err))
		return
	case n.Now().After(i.ExpiresAt):
		streamError(w, http.StatusInternalServerError, 2, fmt.Sprintf("invoice expired. Valid until %v", i.ExpiresAt))
		return
	case i.Payee == [33]byte(n.Key.PubKey().SerializeCompressed()):
		streamError(w, http.StatusInternalServerError, 2, "self-payments not allowed")
		return
	case i.MilliSatoshis == 0 && order.Satoshis == 0 || i.MilliSatoshis != 0 && order.Satoshis != 0:
		streamError(w, http.StatusInternalServerError, 2, "amount must not be specified when paying a non-zero amount invoice")
		return
	}
	p := n.payment(i.PaymentHash)
	switch p.status {
	case "IN_FLIGHT":
		streamError(w, http.StatusConflict, 6, "payment is in transition")
		return
	case "SUCCEEDED":
		streamError(w, http.StatusConflict, 6, "invoice is already paid")
		return
	}
	n.begin(p, i.MilliSatoshis+order.Satoshis*1000, order.Limit)
	n.follow(w, r, p)
}

// begin begins a payment for the fee of the node, unless that is above a limit.
func (n *Node) begin(p *payment, milliSatoshis, limit int64) {
	if n.Fee > limit*1000 {
		n.beginFor(p, n.balance+1, n.Fee)
		p.satoshis, p.reason = milliSatoshis, "FAILURE_REASON_NO_ROUTE"
		return
	}
	n.beginFor(p, milliSatoshis, n.Fee)
}

// beginFor begins a payment for a fee.
func (n *Node) beginFor(p *payment, milliSatoshis, fee int64) {
	p.begun++
	n.begun++
	p.index, p.at, p.ended = n.begun, n.Now(), 0
	p.satoshis, p.fee, p.status = milliSatoshis, fee, "IN_FLIGHT"
	if p.satoshis+p.fee > n.balance {
		p.status, p.reason, p.ended = "FAILED", "FAILURE_REASON_INSUFFICIENT_BALANCE", n.tick()
		return
	}
	n.balance -= p.satoshis + p.fee
	if n.Instant {
		n.end(p)
	}
}

// PayByHand pays an invoice as somebody does who has the node.
func (n *Node) PayByHand(invoice string) {
	i, err := lightning.ParseInvoice(invoice)
	if err != nil {
		panic(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.begin(n.payment(i.PaymentHash), i.MilliSatoshis, 1_000)
}

func (n *Node) listPayments(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseInt(r.URL.Query().Get("index_offset"), 10, 64)
	most, _ := strconv.Atoi(r.URL.Query().Get("max_payments"))
	reversed := r.URL.Query().Get("reversed") == "true"
	type indexed struct {
		index int64
		body  map[string]any
	}
	var found []indexed
	n.mu.Lock()
	for hash, p := range n.payments {
		if p.begun > 0 && (p.index > after || reversed) {
			body := p.describe()
			body["payment_hash"], body["payment_index"] = hex.EncodeToString(hash[:]), text(p.index)
			body["creation_time_ns"] = text(p.at.UnixNano())
			found = append(found, indexed{p.index, body})
		}
	}
	n.mu.Unlock()
	slices.SortFunc(found, func(a, b indexed) int { return int(a.index - b.index) })
	if reversed {
		found = found[max(0, len(found)-most):]
	}
	list := []any{}
	for _, p := range found[:min(len(found), most)] {
		list = append(list, p.body)
	}
	write(w, map[string]any{"payments": list})
}

func (i *invoice) describe() map[string]any {
	date := int64(0)
	if i.settled > 0 {
		date = i.settledAt.Unix()
	}
	return map[string]any{"memo": i.memo, "r_hash": i.hash[:], "state": i.state, "add_index": text(i.added), "settle_index": text(i.settled),
		"settle_date": text(date), "amt_paid_msat": text(i.paid), "payment_request": i.request, "is_amp": false}
}

func (n *Node) makeInvoice(w http.ResponseWriter, r *http.Request) {
	var order struct {
		Memo            string `json:"memo"`
		MilliSatoshis   int64  `json:"value_msat"`
		DescriptionHash []byte `json:"description_hash"`
		Expiry          int64  `json:"expiry"`
	}
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		answer(w, http.StatusBadRequest, 3, err.Error())
		return
	}
	var description [32]byte
	copy(description[:], order.DescriptionHash)
	n.mu.Lock()
	i := n.addInvoice(order.Memo, order.MilliSatoshis, description, time.Duration(order.Expiry)*time.Second)
	n.mu.Unlock()
	write(w, map[string]any{"r_hash": i.hash[:], "payment_request": i.request, "add_index": text(i.added)})
}

func (n *Node) listInvoices(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseInt(r.URL.Query().Get("index_offset"), 10, 64)
	most, _ := strconv.Atoi(r.URL.Query().Get("num_max_invoices"))
	list := []any{}
	n.mu.Lock()
	for _, i := range n.invoices {
		if i.added > after && len(list) < most {
			list = append(list, i.describe())
		}
	}
	n.mu.Unlock()
	write(w, map[string]any{"invoices": list})
}

func (n *Node) subscribe(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseInt(r.URL.Query().Get("settle_index"), 10, 64)
	n.mu.Lock()
	if after == 0 { // as LND: nothing of before
		after = n.settled
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-r.Context().Done():
			n.mu.Lock()
			n.changed.Broadcast()
			n.mu.Unlock()
		case <-stop:
		}
	}()
	w.Header().Set("Content-Type", "application/json")
	for {
		var found []*invoice
		for _, i := range n.invoices {
			if i.settled > after {
				found = append(found, i)
			}
		}
		slices.SortFunc(found, func(a, b *invoice) int { return int(a.settled - b.settled) })
		var bodies [][]byte
		for _, i := range found {
			body, _ := json.Marshal(map[string]any{"result": i.describe()})
			bodies, after = append(bodies, append(body, '\n')), i.settled
		}
		n.mu.Unlock()
		for _, body := range bodies {
			_, _ = w.Write(body)
			_ = http.NewResponseController(w).Flush()
		}
		n.mu.Lock()
		if r.Context().Err() != nil {
			n.mu.Unlock()
			return
		}
		if len(bodies) == 0 {
			n.changed.Wait()
		}
	}
}

func (n *Node) cancel(w http.ResponseWriter, r *http.Request) {
	var order struct {
		Hash []byte `json:"payment_hash"`
	}
	err := json.NewDecoder(r.Body).Decode(&order)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil || len(order.Hash) != 32 {
		answer(w, http.StatusBadRequest, 3, "invalid payment hash")
		return
	}
	i := n.invoice([32]byte(order.Hash))
	switch {
	case i == nil:
		answer(w, http.StatusInternalServerError, 2, "unable to locate invoice")
	case i.state == "SETTLED":
		answer(w, http.StatusInternalServerError, 2, "invoice already settled")
	default:
		i.state = "CANCELED"
		write(w, map[string]any{})
	}
}
