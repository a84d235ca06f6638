package lightning_test

import (
	"crypto/sha256"
	"sync"
	"testing"
	"time"

	"causeway/adapters/rails/lightning/lndtest"
	"causeway/core/fault"
	core "causeway/core/lightning"
	"causeway/core/money"
	"causeway/ports"
)

func (w *world) request(n int, satoshis int64) ports.InvoiceRequest {
	return ports.InvoiceRequest{ID: littleID(5, n), Reference: "REF-" + string(rune('A'+n)),
		Amount:          money.Amount{Minor: satoshis, Currency: money.BTC},
		DescriptionHash: sha256.Sum256([]byte("metadata")), ExpiresAt: w.clock.Now().Add(10 * time.Minute)}
}

func TestInvoice_IsMadeOnceForItsID(t *testing.T) {
	t.Parallel()
	// The same invoice is returned for an id, from any process, also if several ask at once and after it has expired. It is for the amount,
	// carries the hash of the description, and expires with the request.
	bothNodes(t, func(t *testing.T, w *world) {
		request := w.request(1, 2_500)
		given := make([]ports.Invoice, 6)
		errs := make([]error, len(given))
		var asking sync.WaitGroup
		for i := range given {
			r := w.open(lndtest.Open)
			asking.Go(func() { given[i], errs[i] = r.Invoices(w.platform).Invoice(t.Context(), request) })
		}
		asking.Wait()
		w.clock.Advance(time.Hour)
		last, err := w.open(lndtest.Open).Invoices(w.platform).Invoice(t.Context(), request)
		for i := range given {
			if errs[i] != nil || given[i] != last || err != nil {
				t.Fatalf("%+v, %v, and later %+v, %v", given[i], errs[i], last, err)
			}
		}
		i, err := core.ParseInvoice(last.Request)
		if err != nil || i.MilliSatoshis != 2_500_000 || i.DescriptionHash == nil || *i.DescriptionHash != request.DescriptionHash ||
			!i.ExpiresAt.Equal(request.ExpiresAt) || !last.ExpiresAt.Equal(request.ExpiresAt) || i.PaymentHash != last.PaymentHash {
			t.Errorf("the invoice asks for %+v, %v", i, err)
		}
		other := request
		other.Amount.Minor++
		if _, err := w.poller.Invoices(w.platform).Invoice(t.Context(), other); !fault.Is(err, fault.Conflict) {
			t.Errorf("another amount: %v", err)
		}
		// Another platform may use the same id.
		if second, err := w.poller.Invoices(newPlatform(t, w.db, w.clock.Now())).Invoice(t.Context(),
			w.request(1, 2_500)); err != nil || second.PaymentHash == last.PaymentHash {
			t.Errorf("another platform: %v", err)
		}
	})
}

func TestInvoice_LostAnswerMakesAnotherOneThatNobodyHas(t *testing.T) {
	t.Parallel()
	// If the answer of the node is lost, the next call makes another invoice, which is the only one that is given to anybody.
	w := newWorld(t)
	lost := true
	r := w.open(func(call string) (bool, bool) {
		if call == "/v1/invoices" && lost && w.node.Invoices() == 0 {
			lost = false
			return false, false // the list
		}
		return false, call == "/v1/invoices" && w.node.Invoices() == 0
	})
	if _, err := r.Invoices(w.platform).Invoice(t.Context(), w.request(1, 100)); !fault.Is(err, fault.ServiceUnavailable) {
		t.Fatalf("without an answer: %v", err)
	}
	given, err := r.Invoices(w.platform).Invoice(t.Context(), w.request(1, 100))
	if err != nil || w.node.Invoices() != 2 {
		t.Fatalf("%v, of %d invoices", err, w.node.Invoices())
	}
	w.node.Pay(given.Request, 0)
	if receipts := w.mustPoll().Receipts; len(receipts) != 1 || receipts[0].Reference != "REF-B" {
		t.Errorf("received %+v", receipts)
	}
}

func TestInvoice_Refused(t *testing.T) {
	t.Parallel()
	// What no invoice can be made for is refused, and makes none.
	bothNodes(t, func(t *testing.T, w *world) {
		expired, dollars, none, far := w.request(1, 100), w.request(2, 100), w.request(3, 0), w.request(4, 100)
		expired.ExpiresAt = w.clock.Now()
		dollars.Amount.Currency = "USD"
		far.ExpiresAt = w.clock.Now().AddDate(1, 0, 0)
		for _, request := range []ports.InvoiceRequest{expired, dollars, none, far} {
			if _, err := w.poller.Invoices(w.platform).Invoice(t.Context(), request); err == nil || fault.Is(err, fault.ServiceUnavailable) {
				t.Errorf("%+v: %v", request, err)
			}
		}
		if n := w.node.Invoices(); n != 0 {
			t.Errorf("%d invoices", n)
		}
	})
}

func TestCancelInvoice(t *testing.T) {
	t.Parallel()
	// A cancelled invoice cannot be paid, and cancelling it again, or none, is no error. One that was paid stays so.
	w := newWorld(t)
	mine := w.poller.Invoices(w.platform)
	cancelled, err := mine.Invoice(t.Context(), w.request(1, 100))
	if err != nil {
		t.Fatal(err)
	}
	paid, err := mine.Invoice(t.Context(), w.request(2, 100))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := mine.CancelInvoice(t.Context(), littleID(5, 1)); err != nil {
			t.Error(err)
		}
	}
	if w.node.Pay(cancelled.Request, 0) || !w.node.Pay(paid.Request, 0) {
		t.Error("the wrong invoice was paid")
	}
	if err := mine.CancelInvoice(t.Context(), littleID(5, 2)); !fault.Is(err, fault.Conflict) {
		t.Errorf("of a paid invoice: %v", err)
	}
	if err := mine.CancelInvoice(t.Context(), littleID(5, 9)); err != nil {
		t.Errorf("of none: %v", err)
	}
	if err := w.poller.Invoices(newPlatform(t, w.db, w.clock.Now())).CancelInvoice(t.Context(), littleID(5, 2)); err != nil {
		t.Errorf("of another platform: %v", err)
	}
}

func TestCancelInvoice_BeforeItIsMade(t *testing.T) {
	t.Parallel()
	// An invoice that is cancelled before the node makes it, or meanwhile, is given to nobody, by whichever process. The id of another
	// platform is another one.
	bothNodes(t, func(t *testing.T, w *world) {
		mine := w.poller.Invoices(w.platform)
		for range 2 {
			if err := mine.CancelInvoice(t.Context(), littleID(5, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := mine.Invoice(t.Context(), w.request(1, 100)); !fault.Is(err, fault.Conflict) || w.node.Invoices() != 0 {
			t.Errorf("cancelled before: %v, of %d invoices", err, w.node.Invoices())
		}
		if _, err := w.poller.Invoices(newPlatform(t, w.db, w.clock.Now())).Invoice(t.Context(), w.request(1, 100)); err != nil {
			t.Errorf("of another platform: %v", err)
		}

		made := w.node.Invoices()
		slow := w.open(func(call string) (bool, bool) {
			if call == "/v1/invoices" || call == "/createinvoice" {
				if err := mine.CancelInvoice(t.Context(), littleID(5, 2)); err != nil {
					t.Error(err)
				}
			}
			return false, false
		})
		_, err := slow.Invoices(w.platform).Invoice(t.Context(), w.request(2, 100))
		if !fault.Is(err, fault.Conflict) || w.node.Invoices() != made+1 {
			t.Errorf("cancelled meanwhile: %v, of %d more invoices", err, w.node.Invoices()-made)
		}
	})
}

func TestInvoice_OfFractionsOfSatoshi(t *testing.T) {
	t.Parallel()
	// LND makes an invoice for fractions of a satoshi, of which whole ones are received; the rest counts against the next fees. phoenixd
	// makes none, and the request says why.
	w := newWorld(t)
	request := w.request(1, 2_500)
	request.Fraction = 777
	given, err := w.poller.Invoices(w.platform).Invoice(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if made, err := core.ParseInvoice(given.Request); err != nil || made.MilliSatoshis != 2_500_777 {
		t.Errorf("%+v, %v", made, err)
	}
	w.node.Pay(given.Request, 0)
	if receipts := w.mustPoll().Receipts; len(receipts) != 1 || receipts[0].Amount.Minor != 2_500 || receipts[0].Reference != "REF-B" {
		t.Errorf("received %+v", receipts)
	}
	request = w.request(2, 2_500)
	request.Fraction = 1000
	if _, err := w.poller.Invoices(w.platform).Invoice(t.Context(), request); !fault.Is(err, fault.InvalidCurrency) {
		t.Errorf("a whole satoshi: %v", err)
	}

	w = newWorldOf(t, true)
	request = w.request(1, 2_500)
	request.Fraction = 1
	if _, err := w.poller.Invoices(w.platform).Invoice(t.Context(), request); !fault.Is(err, fault.InvalidInput) || w.node.Invoices() != 0 {
		t.Errorf("phoenixd: %v, of %d invoices", err, w.node.Invoices())
	}
}
