package main

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/core/platform"
	"causeway/core/transaction"
)

func TestLNURL_OffUnlessThePlatformWantsIt(t *testing.T) {
	t.Parallel()
	// Nobody is paid by Lightning address, of whose payers nothing is known, unless the platform has switched that on. A payment by UMA
	// needs nothing of the kind.
	ana, bo := newUMASides(t, func(p *platform.Platform) { p.Currencies[0].RequiredCounterpartyFields = nil })
	for _, path := range []string{"/.well-known/lnurlp/bo", "/uma/lnurlp/bo?amount=1000000"} {
		if status, body := bo.getJSON("http://pay.test" + path); status != 404 || body["code"] != "USER_NOT_FOUND" {
			t.Errorf("%s: %d %v", path, status, body)
		}
	}
	if len(ana.lookUp(bo).Currencies) == 0 || len(bo.incoming()) != 0 {
		t.Errorf("%+v", bo.incoming())
	}
}

func TestLNURL_CountsOnlyOpenPaymentsOfWallets(t *testing.T) {
	t.Parallel()
	// Twenty payments of wallets wait for a customer, also if more are begun at once. Those that are over, and payments by UMA, are not
	// counted.
	ana, bo := newUMASides(t, func(p *platform.Platform) {
		p.Currencies[0].RequiredCounterpartyFields, p.LightningAddresses = nil, true
	})
	dollars := ana.NewInternalAccount(ana.Customer.ID, "USD", 1_000_00)
	if _, err := ana.payments.CreateQuote(t.Context(), ana.request(dollars, bo, "SENDING", 50_00), nil); err != nil {
		t.Fatal(err)
	}
	begin := func(n int) (given, refused int64) {
		var wait sync.WaitGroup
		for range n {
			wait.Go(func() {
				switch status, body := bo.getJSON("http://pay.test/uma/lnurlp/bo?amount=5000000"); {
				case status == http.StatusOK:
					atomic.AddInt64(&given, 1)
				case body["code"] == "VELOCITY_LIMIT_EXCEEDED":
					atomic.AddInt64(&refused, 1)
				default:
					t.Errorf("%d %v", status, body)
				}
			})
		}
		wait.Wait()
		return given, refused
	}
	if given, refused := begin(24); given != 20 || refused != 4 {
		t.Errorf("%d have an invoice, %d are refused", given, refused)
	}
	bo.Clock.Advance(30 * time.Minute)
	for _, payment := range bo.incoming() {
		bo.waitFor(payment.ID, transaction.Failed)
	}
	if given, refused := begin(2); given != 2 || refused != 0 {
		t.Errorf("afterwards %d have an invoice, %d are refused", given, refused)
	}
}
