package lndtest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"causeway/core/lightning"
)

// Password is the one that may do everything, and LimitedPassword one that may not pay.
const Password, LimitedPassword = "a-password-of-phoenixd", "a-limited-password"

// ServePhoenixd serves the node behind a gate as phoenixd describes its HTTP interface (0.6 and later), and returns its server.
func (n *Node) ServePhoenixd(t testing.TB, g Gate) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(n.PhoenixdHandler(g))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server
}

// PhoenixdHandler returns the HTTP interface of phoenixd behind a gate.
func (n *Node) PhoenixdHandler(g Gate) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, full bool, call func(w http.ResponseWriter, r *http.Request)) {
		mux.HandleFunc(pattern, gated(pattern, g, func(w http.ResponseWriter, r *http.Request) {
			_, password, _ := r.BasicAuth()
			if password != Password && (full || password != LimitedPassword) {
				http.Error(w, "Invalid authentication (use basic auth with the http password set in phoenix.conf)", http.StatusUnauthorized)
				return
			}
			call(w, r)
		}))
	}
	handle("GET /getinfo", false, n.phoenixdInfo)
	handle("GET /getbalance", false, n.phoenixdBalance)
	handle("POST /createinvoice", false, n.createInvoice)
	handle("POST /payinvoice", true, n.payInvoice)
	handle("GET /payments/outgoingbyhash/{hash}", false, n.outgoingByHash)
	handle("GET /payments/outgoing", false, n.listOutgoing)
	handle("GET /payments/incoming", false, n.listIncoming)
	handle("GET /payments/incoming/{hash}", false, n.incomingByHash)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Unknown endpoint (check api doc)", http.StatusNotFound)
	})
	return mux
}

func (n *Node) phoenixdInfo(w http.ResponseWriter, _ *http.Request) {
	names := map[lightning.Network]string{lightning.Main: "mainnet", lightning.Test: "testnet3", lightning.Signet: "signet",
		lightning.Regtest: "regtest"}
	n.mu.Lock()
	defer n.mu.Unlock()
	version := n.Version
	if version == "" {
		version = "0.7.2-3c4d5e6"
	}
	write(w, map[string]any{"nodeId": hex.EncodeToString(n.Key.PubKey().SerializeCompressed()), "channels": []any{}, "chain": names[n.Network],
		"blockHeight": 870_123, "version": version})
}

// phoenixdBalance describes the balance without what is on its way out, which has left it.
func (n *Node) phoenixdBalance(w http.ResponseWriter, _ *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	write(w, map[string]any{"balanceSat": n.balance / 1000, "feeCreditSat": 0})
}

func (n *Node) createInvoice(w http.ResponseWriter, r *http.Request) {
	description, hash := r.PostFormValue("description"), r.PostFormValue("descriptionHash")
	bytes, err := hex.DecodeString(hash)
	satoshis, errAmount := strconv.ParseInt(r.PostFormValue("amountSat"), 10, 64)
	seconds, errExpiry := strconv.ParseInt(r.PostFormValue("expirySeconds"), 10, 64)
	switch {
	case err != nil || errAmount != nil || errExpiry != nil:
		http.Error(w, "Request parameter couldn't be parsed", http.StatusBadRequest)
		return
	case (description == "") == (hash == "") || len(description) > 128:
		http.Error(w, "Must provide either a description or descriptionHash", http.StatusBadRequest)
		return
	}
	var digest [32]byte
	copy(digest[:], bytes)
	n.mu.Lock()
	defer n.mu.Unlock()
	i := n.addInvoice(r.PostFormValue("externalId"), satoshis*1000, digest, time.Duration(seconds)*time.Second)
	write(w, map[string]any{"amountSat": satoshis, "paymentHash": hex.EncodeToString(i.hash[:]), "serialized": i.request})
}

// payInvoice answers when the payment has ended.
func (n *Node) payInvoice(w http.ResponseWriter, r *http.Request) {
	i, err := lightning.ParseInvoice(r.PostFormValue("invoice"))
	if err != nil {
		http.Error(w, "Request parameter invoice couldn't be parsed", http.StatusBadRequest)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	amount := i.MilliSatoshis
	if satoshis, err := strconv.ParseInt(r.PostFormValue("amountSat"), 10, 64); err == nil {
		amount = satoshis * 1000
	}
	p := n.payment(i.PaymentHash)
	refuse := func(reason string) {
		write(w, map[string]any{"paymentHash": hex.EncodeToString(i.PaymentHash[:]), "reason": reason})
	}
	switch {
	case amount == 0:
		http.Error(w, "Request parameter amountSat is missing", http.StatusBadRequest)
		return
	case p.status == "SUCCEEDED":
		refuse("this invoice has already been paid")
		return
	case p.status == "IN_FLIGHT":
		refuse("another payment is in progress for that invoice")
		return
	}
	n.beginFor(p, amount, 4_000+amount*4/1000)
	if n.AnswersWithin > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), n.AnswersWithin)
		defer cancel()
		r = r.WithContext(ctx)
	}
	n.await(r, p)
	switch p.status {
	case "IN_FLIGHT":
		panic(http.ErrAbortHandler)
	case "SUCCEEDED":
		write(w, map[string]any{"recipientAmountSat": p.satoshis / 1000, "routingFeeSat": p.fee / 1000,
			"paymentId": "d7a1b3c2-0000-4000-8000-000000000001", "paymentHash": hex.EncodeToString(i.PaymentHash[:]), "paymentPreimage": "00"})
	case "FAILED":
		refuse(map[string]string{"FAILURE_REASON_INSUFFICIENT_BALANCE": "not enough funds in wallet to afford payment",
			"FAILURE_REASON_NO_ROUTE": "the recipient was offline or did not have enough liquidity to receive the payment"}[p.reason])
	}
}

// await waits until a payment has ended or the caller has gone. The lock is held at its beginning and end.
func (n *Node) await(r *http.Request, p *payment) {
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
	for p.status == "IN_FLIGHT" && r.Context().Err() == nil {
		n.changed.Wait()
	}
}

// describeOutgoing describes a payment; what is not known is left out.
func (p *payment) describeOutgoing(hash [32]byte) map[string]any {
	body := map[string]any{"subType": "lightning", "paymentId": "d7a1b3c2-0000-4000-8000-000000000001",
		"paymentHash": hex.EncodeToString(hash[:]), "isPaid": p.status == "SUCCEEDED", "sent": 0, "fees": 0, "createdAt": p.at.UnixMilli()}
	if p.status == "SUCCEEDED" {
		body["sent"], body["fees"] = (p.satoshis+p.fee)/1000, p.fee
	}
	if p.ended > 0 {
		body["completedAt"] = p.ended
	}
	return body
}

func (n *Node) outgoingByHash(w http.ResponseWriter, r *http.Request) {
	hash, err := hex.DecodeString(r.PathValue("hash"))
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil || len(hash) != 32 || n.payments[[32]byte(hash)] == nil || n.payments[[32]byte(hash)].begun == 0 {
		http.Error(w, "Not found", http.StatusNotFound)
		return
	}
	write(w, n.payments[[32]byte(hash)].describeOutgoing([32]byte(hash)))
}

// listed writes the page of a list that was asked for. Each item is with the time at which it has ended.
func listed(w http.ResponseWriter, r *http.Request, all map[int64]any, newestFirst bool) {
	number := func(name string, otherwise int64) int64 {
		if n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64); err == nil {
			return n
		}
		return otherwise
	}
	from, limit, offset := number("from", 0), number("limit", 20), number("offset", 0)
	var times []int64
	for at := range all {
		if at >= from {
			times = append(times, at)
		}
	}
	slices.Sort(times)
	if newestFirst {
		slices.Reverse(times)
	}
	page := []any{}
	for _, at := range times[min(int(offset), len(times)):] {
		if int64(len(page)) < limit {
			page = append(page, all[at])
		}
	}
	_ = json.NewEncoder(w).Encode(page)
}

// listOutgoing lists what was paid, also on chain.
func (n *Node) listOutgoing(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[int64]any{}
	for hash, p := range n.payments {
		if p.status == "SUCCEEDED" {
			all[p.ended] = p.describeOutgoing(hash)
		}
	}
	for at, body := range n.onChain {
		all[at] = body
	}
	listed(w, r, all, false)
}

func (i *invoice) describeIncoming() map[string]any {
	return map[string]any{"subType": "lightning", "paymentHash": hex.EncodeToString(i.hash[:]), "preimage": "00", "externalId": i.memo,
		"invoice": i.request, "isPaid": i.state == "SETTLED", "isExpired": false, "requestedSat": i.milliSatoshis / 1000,
		"receivedSat": (i.paid - i.kept) / 1000, "fees": i.kept, "completedAt": i.ended, "createdAt": i.ended}
}

func (n *Node) incomingByHash(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, i := range n.invoices {
		if hex.EncodeToString(i.hash[:]) == r.PathValue("hash") {
			write(w, i.describeIncoming())
			return
		}
	}
	http.Error(w, "Not found", http.StatusNotFound)
}

func (n *Node) listIncoming(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[int64]any{}
	for _, i := range n.invoices {
		if i.state == "SETTLED" {
			all[i.ended] = i.describeIncoming()
		}
	}
	listed(w, r, all, true)
}

// SpendOnChain sends satoshis, with the fee, to an address on the chain, as somebody does who has the node; kind is that of phoenixd.
func (n *Node) SpendOnChain(kind string, txID [32]byte, satoshis int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.tick()
	n.balance -= satoshis * 1000
	n.onChain[at] = map[string]any{"subType": kind, "paymentId": "p", "txId": hex.EncodeToString(txID[:]), "isPaid": true, "sent": satoshis,
		"fees": 0, "completedAt": at, "createdAt": at}
}

// SetChannelFee sets what the node keeps of later payments for the channel that they come over, in thousandths of a satoshi.
func (n *Node) SetChannelFee(milliSatoshis int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.channelFee = milliSatoshis
}

// Backdate makes the payment of an invoice of the node appear with a time before that of the last one.
func (n *Node) Backdate(request string, by time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.invoice(hashOf(request)).ended -= by.Milliseconds()
}

// tick returns the time in milliseconds, which no other payment has.
func (n *Node) tick() int64 {
	n.lastTick = max(n.lastTick+1, n.Now().UnixMilli())
	return n.lastTick
}
