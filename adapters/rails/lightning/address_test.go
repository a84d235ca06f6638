package lightning_test

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"causeway/adapters/rails/lightning"
	"causeway/adapters/rails/lightning/lndtest"
	core "causeway/core/lightning"
	"causeway/core/transaction"
	"causeway/ports"
)

// host is the host of Lightning addresses.
type host struct {
	w      *world
	server *httptest.Server
	given  atomic.Int64
	// answer changes an answer, of the first call or of the one for an invoice.
	offer, invoice func(answer map[string]any)
	status         int // of answers, if it is not 200
	text           atomic.Pointer[string]
}

const metadata = `[["text/plain","ana"]]`

func newHost(w *world) *host {
	h := &host{w: w, offer: func(map[string]any) {}, invoice: func(map[string]any) {}, status: http.StatusOK}
	mux := http.NewServeMux()
	write := func(out http.ResponseWriter, answer map[string]any) {
		out.WriteHeader(h.status)
		_ = json.NewEncoder(out).Encode(answer)
	}
	mux.HandleFunc("GET /.well-known/lnurlp/ana", func(out http.ResponseWriter, _ *http.Request) {
		answer := map[string]any{"tag": "payRequest", "callback": h.server.URL + "/give?session=7", "minSendable": 1_000,
			"maxSendable": 100_000_000, "metadata": metadata}
		h.offer(answer)
		write(out, answer)
	})
	mux.HandleFunc("GET /give", func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("session") != "7" {
			out.WriteHeader(http.StatusBadRequest)
			return
		}
		amount, _ := strconv.ParseInt(r.URL.Query().Get("amount"), 10, 64)
		text := h.write(amount, metadata)
		h.text.Store(&text)
		answer := map[string]any{"pr": text, "routes": []any{}}
		h.invoice(answer)
		write(out, answer)
	})
	h.server = httptest.NewServer(mux)
	w.t.Cleanup(h.server.Close)
	return h
}

// write returns an invoice with another hash each time.
func (h *host) write(milliSatoshis int64, described string) string {
	return lndtest.Write(h.w.payee.Key, lndtest.Terms{Network: core.Regtest, MilliSatoshis: milliSatoshis,
		Hash: sha256.Sum256([]byte(strconv.FormatInt(h.given.Add(1), 10))), DescriptionHash: sha256.Sum256([]byte(described)),
		At: h.w.clock.Now(), Expiry: time.Hour})
}

func (h *host) address() string {
	u, err := url.Parse(h.server.URL)
	if err != nil {
		h.w.t.Fatal(err)
	}
	return "Ana@" + u.Host
}

func TestSend_PaysALightningAddress(t *testing.T) {
	t.Parallel()
	// An address is asked for an invoice, which is kept before it is paid: a later call pays no other one.
	w := newWorld(t)
	h := newHost(w)
	r := w.rail()
	p := w.payoutTo(1, 5_000, addressAccount(h.address()))
	w.mu.Lock()
	w.lose = true
	w.mu.Unlock()
	if o := send(t, r, p); o.Verdict != ports.Waiting {
		t.Fatalf("sent: %+v", o)
	}
	if o := w.settle(w.rail(), p); o.Verdict != ports.Done || o.PartnerID != lightning.Hash(hashOf(t, *h.text.Load())).String() {
		t.Errorf("paid: %+v", o)
	}
	w.wantPaid(*h.text.Load(), 5_000)
	if n := h.given.Load(); n != 1 {
		t.Errorf("the address has given %d invoices", n)
	}
}

func TestSend_AddressGivesAnotherInvoiceOnlyAfterTheFirstHasFailed(t *testing.T) {
	t.Parallel()
	// Of a payout that waits for money, the invoice that was kept is sent again as long as it is good. Then the address is asked for
	// another one, and only one of them is paid.
	w := newWorld(t)
	h := newHost(w)
	r := w.rail()
	p := w.payoutTo(1, 5_000, addressAccount(h.address()))
	w.node.SetBalance(10)
	send(t, r, p)
	first := *h.text.Load()
	w.clock.Advance(10 * time.Minute)
	if o := send(t, r, p); o.Verdict != ports.Waiting || !strings.Contains(o.Text, "too little") || h.given.Load() != 1 {
		t.Errorf("without money: %+v, and %d invoices", o, h.given.Load())
	}
	w.clock.Advance(time.Hour)
	w.node.SetBalance(1_000_000)
	if o := w.settle(r, p); o.Verdict != ports.Done || h.given.Load() != 2 {
		t.Errorf("with money: %+v, and %d invoices", o, h.given.Load())
	}
	w.wantPaid(first)
	w.wantPaid(*h.text.Load(), 5_000)
}

func TestSend_AddressThatLies(t *testing.T) {
	t.Parallel()
	// An invoice that is not what was asked for is not paid, and the payout is refused. So is one that the address never takes.
	w := newWorld(t)
	h := newHost(w)
	r := w.rail()
	mainnet := lndtest.NewPayee(core.Main)
	for n, lie := range []struct {
		offer, invoice map[string]any
		want           string
	}{
		{map[string]any{"tag": "withdrawRequest"}, nil, "no payments"},
		{map[string]any{"minSendable": 5_000_001}, nil, "takes from 5000001"},
		{map[string]any{"maxSendable": 4_999_999}, nil, "to 4999999"},
		{map[string]any{"callback": "ftp://example.com/"}, nil, "URL"},
		{map[string]any{"callback": "https://user:word@example.com/"}, nil, "URL"},
		{map[string]any{"metadata": "[]"}, nil, "something else"},
		{nil, map[string]any{"pr": h.write(5_000_001, metadata)}, "in place of 5000000"},
		{nil, map[string]any{"pr": h.write(0, metadata)}, "in place of 5000000"},
		{nil, map[string]any{"pr": w.invoice(1, 5_000)}, "something else"},
		{nil, map[string]any{"pr": mainnet.Invoice("x", 5_000, w.clock.Now(), time.Hour)}, "another network"},
		{nil, map[string]any{"pr": "lnbcrt1"}, "no Lightning invoice"},
	} {
		change := func(with map[string]any) func(map[string]any) {
			return func(answer map[string]any) {
				for name, value := range with {
					answer[name] = value
				}
			}
		}
		h.offer, h.invoice = change(lie.offer), change(lie.invoice)
		o := send(t, r, w.payoutTo(n, 5_000, addressAccount(h.address())))
		if o.Verdict != ports.Refused || o.Reason != transaction.LightningFailed || o.Code != "ADDRESS" || !strings.Contains(o.Text, lie.want) {
			t.Errorf("%v %v: %+v, want %s", lie.offer, lie.invoice, o, lie.want)
		}
	}
	if held := w.node.Balance(); held != 1_000_000_000 {
		t.Errorf("the node holds %d after nothing was paid", held)
	}
}

func TestSend_AddressThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	// An address that gives nothing is asked for an hour, however long the payout has waited before; one that its host does not know is
	// refused at once.
	for name, test := range map[string]struct {
		status int
		answer map[string]any
		at     bool // once
	}{
		"unknown":   {http.StatusNotFound, nil, true},
		"not now":   {http.StatusOK, map[string]any{"status": "ERROR", "reason": "Ana sleeps"}, false},
		"failing":   {http.StatusBadGateway, nil, false},
		"redirects": {http.StatusFound, nil, false},
	} {
		w := newWorld(t)
		h := newHost(w)
		h.status = test.status
		h.offer = func(answer map[string]any) {
			for field, value := range test.answer {
				answer[field] = value
			}
		}
		r := w.rail()
		p := w.payoutTo(1, 5_000, addressAccount(h.address()))
		w.pause(true)
		h.status = http.StatusOK
		offer := h.offer
		h.offer = func(map[string]any) {}
		if o := send(t, r, p); o.Verdict != ports.Waiting {
			t.Errorf("%s, paused: %+v", name, o)
		}
		w.pause(false)
		h.status, h.offer = test.status, offer
		w.clock.Advance(3 * time.Hour)
		first := send(t, r, p)
		if (first.Verdict == ports.Refused) != test.at || strings.Contains(first.Text, "Ana") {
			t.Errorf("%s: %+v", name, first)
		}
		w.clock.Advance(59 * time.Minute)
		if o := send(t, r, p); (o.Verdict == ports.Refused) != test.at {
			t.Errorf("%s, before an hour: %+v", name, o)
		}
		w.clock.Advance(2 * time.Minute)
		if o := send(t, r, p); o.Verdict != ports.Refused || o.Code != "ADDRESS" {
			t.Errorf("%s, after an hour: %+v", name, o)
		}
	}
}

func TestSend_AddressOfAPrivateNetworkIsNotAsked(t *testing.T) {
	t.Parallel()
	// On a network with money, only public addresses are asked, and only with TLS.
	w := newWorld(t)
	w.settings["network"] = "main"
	h := newHost(w)
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a private address was asked") }))
	t.Cleanup(secure.Close)
	u, err := url.Parse(secure.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := w.rail()
	for n, address := range []string{h.address(), "ana@" + u.Host, "ana@localhost:" + u.Port(), "ana@10.0.0.1", "ana@169.254.169.254"} {
		if o := send(t, r, w.payoutTo(n, 5_000, addressAccount(address))); o.Verdict != ports.Waiting || o.Accepted {
			t.Errorf("%s: %+v", address, o)
		}
	}
}

func (w *world) pause(paused bool) {
	w.t.Helper()
	if err := w.handover().Pause(w.t.Context(), paused); err != nil {
		w.t.Fatal(err)
	}
}
