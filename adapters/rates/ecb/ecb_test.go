package ecb_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"

	"causeway/adapters/rates/ecb"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ports/portstest"
)

// friday is the day of the recorded file, an hour after its rates are published.
var friday = time.Date(2026, 3, 13, 16, 0, 0, 0, time.UTC)

func TestRatesPort(t *testing.T) {
	t.Parallel()
	rates := loadRates(t, "testdata/eurofxref-daily.xml")
	portstest.Rates(t, rates, [][2]money.Currency{{"EUR", "USD"}, {"USD", "INR"}, {"GBP", "IDR"}, {"JPY", "EUR"}, {"DKK", "BRL"}}, friday)
}

func TestRates_CrossRates(t *testing.T) {
	t.Parallel()
	// A rate is what the file prints, in minor units, and between two other currencies
	// the quotient of both, to twelve digits.
	rates := loadRates(t, "testdata/eurofxref-daily.xml")
	for _, c := range []struct {
		from, to money.Currency
		want     string
	}{
		{"EUR", "USD", "1.0873"},
		{"USD", "EUR", "0.919709371838"}, // 1 / 1.0873 = 0.91970937183850...
		{"EUR", "JPY", "1.6142"},         // 161.42 yen a euro; yen have no cents
		{"USD", "INR", "86.9286305527"},  // 94.5175 / 1.0873 = 86.92863055274...
		{"JPY", "USD", "0.673584438111"}, // 1.0873 / 161.42 × 100 = 0.673584438111...
	} {
		got, err := rates.Rate(t.Context(), c.from, c.to, friday)
		if err != nil || got.Rate.String() != c.want {
			t.Errorf("%s in %s: %s, %v; want %s", c.from, c.to, got.Rate, err, c.want)
		}
		if want := time.Date(2026, 3, 13, 13, 15, 0, 0, time.UTC); !got.At.Equal(want) {
			t.Errorf("it is of %s, want %s", got.At, want)
		}
	}
}

func TestRates_RejectsStaleRates(t *testing.T) {
	t.Parallel()
	// Friday's rates last over the weekend until the allowed age, and not a second
	// longer; the refusal names the age and is worth a retry.
	rates := loadRates(t, "testdata/eurofxref-daily.xml")
	at := time.Date(2026, 3, 13, 13, 15, 0, 0, time.UTC)
	for age, allowed := range map[time.Duration]bool{
		0: true, 3*24*time.Hour + 2*time.Hour: true, ecb.DefaultMaxAge: true,
		ecb.DefaultMaxAge + time.Second: false, 30 * 24 * time.Hour: false, -time.Second: false,
	} {
		_, err := rates.Rate(t.Context(), "EUR", "USD", at.Add(age))
		if allowed != (err == nil) || !allowed && !fault.Is(err, fault.QuoteRequestFailed) {
			t.Errorf("at an age of %s: %v", age, err)
		}
	}

	_, err := rates.Rate(t.Context(), "EUR", "USD", at.Add(4*24*time.Hour+5*time.Hour+time.Minute))

	refusal, _ := fault.As(err)
	if refusal == nil || refusal.Reason != "Exchange rates are 4 d 5 h old, at most 4 d are allowed" || refusal.RetryAfter == 0 ||
		refusal.Details["ageSeconds"] != int64(363660) || refusal.Details["maxAgeSeconds"] != int64(345600) {
		t.Errorf("refused with %#v", refusal)
	}
}

func TestRates_UnavailableBeforeFirstLoad(t *testing.T) {
	t.Parallel()
	// Without a file there is no rate, and no currency of banks is left to others.
	rates := newRates(t, ecb.Options{Source: filepath.Join(t.TempDir(), "none.xml")})
	if err := rates.Load(t.Context()); err == nil {
		t.Error("a file that is not there was read")
	}
	if _, err := rates.Rate(t.Context(), "EUR", "USD", friday); !fault.Is(err, fault.QuoteRequestFailed) {
		t.Errorf("priced on nothing: %v", err)
	}
	if !rates.Supports("EUR") || !rates.Supports("NGN") || rates.Supports("BTC") || rates.Supports("XXX") {
		t.Error("it knows the wrong currencies")
	}

	loaded := loadRates(t, "testdata/eurofxref-daily.xml")
	if !loaded.Supports("EUR") || !loaded.Supports("ZAR") || loaded.Supports("NGN") || loaded.Supports("BTC") {
		t.Error("once read, it knows the wrong currencies")
	}
	if _, err := loaded.Rate(t.Context(), "EUR", "NGN", friday); !fault.Is(err, fault.InvalidCurrency) {
		t.Errorf("a currency the bank does not publish: %v", err)
	}
}

func TestLoad_UsesETagOfLastAcceptedFile(t *testing.T) {
	t.Parallel()
	// The server is asked by the tag of the last good file; a bad one in between does
	// not count, and the good rates stay.
	bank := newFakeServer(t)
	rates := newRates(t, ecb.Options{Source: bank.URL})

	bank.serve(`"one"`, envelope(day("2026-03-12", "USD", "1.08")))
	wantLoad(t, rates, true)
	wantLoad(t, rates, true)
	bank.serve(`"broken"`, "<html>maintenance</html>")
	wantLoad(t, rates, false)
	wantRate(t, rates, "1.08")
	bank.serve(`"older"`, envelope(day("2026-03-11", "USD", "1.07")))
	wantLoad(t, rates, false)
	wantRate(t, rates, "1.08")
	bank.serve(`"two"`, envelope(day("2026-03-13", "USD", "1.09")))
	wantLoad(t, rates, true)
	wantRate(t, rates, "1.09")

	want := []string{"", `"one"`, `"one"`, `"one"`, `"one"`}
	if fmt.Sprint(bank.ifNoneMatch) != fmt.Sprint(want) {
		t.Errorf("asked with %q, want %q", bank.ifNoneMatch, want)
	}
}

func TestLoad_ServerErrors(t *testing.T) {
	t.Parallel()
	// An error, an endless file, or an answer that nothing has changed to whoever has
	// nothing: each is a failed look, no rates.
	for name, answer := range map[string]http.HandlerFunc{
		"an error":           func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) },
		"endless":            func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2<<20)) },
		"nothing changed":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) },
		"going round itself": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) },
	} {
		server := httptest.NewServer(answer)
		rates := newRates(t, ecb.Options{Source: server.URL})
		if err := rates.Load(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
		server.Close()
	}
}

func TestCheckRedirect_RejectsDowngradeToHTTP(t *testing.T) {
	t.Parallel()
	// An https address that redirects to http is not followed, and only files and web
	// addresses are sources.
	for _, source := range []string{"ftp://example.com/rates.xml", "http://", ""} {
		if _, err := ecb.New(ecb.Options{Source: source}); err == nil {
			t.Errorf("%q was taken as a source", source)
		}
	}
	next, _ := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	before, _ := http.NewRequest(http.MethodGet, "https://example.com/", nil)
	if err := ecb.CheckRedirect(next, []*http.Request{before}); err == nil {
		t.Error("a redirect from https to http is followed")
	}
	if err := ecb.CheckRedirect(before, []*http.Request{next}); err != nil {
		t.Errorf("a redirect from http to https: %v", err)
	}
}

func TestLoad_FallsBackToCacheFile(t *testing.T) {
	t.Parallel()
	// What one process read the next one starts with, while the source is away.
	keep := filepath.Join(t.TempDir(), "rates.xml")
	bank := newFakeServer(t)
	bank.serve(`"one"`, envelope(day("2026-03-13", "USD", "1.09")))
	wantLoad(t, newRates(t, ecb.Options{Source: bank.URL, CacheFile: keep}), true)

	next := newRates(t, ecb.Options{Source: filepath.Join(t.TempDir(), "gone.xml"), CacheFile: keep})
	wantLoad(t, next, false)
	wantRate(t, next, "1.09")

	// A kept file that was damaged is an error, not a rate.
	if err := os.WriteFile(keep, []byte("<Envelope>"), 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := newRates(t, ecb.Options{Source: filepath.Join(t.TempDir(), "gone.xml"), CacheFile: keep})
	if err := damaged.Load(t.Context()); err == nil || !strings.Contains(err.Error(), keep) {
		t.Errorf("a damaged file is answered %v", err)
	}
}

func TestRun_LoadsHourlyWithBackoff(t *testing.T) {
	t.Parallel()
	// A good look is followed by the next after an hour; failures are tried again
	// sooner, each time after twice as long, and never more often than by the minute.
	bank := newFakeServer(t)
	bank.serve(`"one"`, envelope(day("2026-03-13", "USD", "1.09")))
	rates := newRates(t, ecb.Options{Source: bank.URL})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	waits, ticks, ended := make(chan time.Duration), make(chan time.Time), make(chan struct{})
	go func() {
		defer close(ended)
		rates.RunWithTimer(ctx, func(d time.Duration) <-chan time.Time {
			select {
			case waits <- d:
			case <-ctx.Done():
			}
			return ticks
		})
	}()
	next := func(want time.Duration) {
		t.Helper()
		if got := <-waits; got != want {
			t.Errorf("it waits %s, want %s", got, want)
		}
	}

	next(time.Minute) // nothing was read yet
	ticks <- time.Time{}
	next(time.Hour)
	bank.serve("", "away")
	ticks <- time.Time{}
	next(time.Minute)
	ticks <- time.Time{}
	next(2 * time.Minute)
	bank.serve(`"two"`, envelope(day("2026-03-14", "USD", "1.10")))
	ticks <- time.Time{}
	next(time.Hour)
	cancel()
	<-ended
}

// fakeServer is a server of the file.
type fakeServer struct {
	*httptest.Server
	etag, body  string
	ifNoneMatch []string
}

func newFakeServer(t *testing.T) *fakeServer {
	b := &fakeServer{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.ifNoneMatch = append(b.ifNoneMatch, r.Header.Get("If-None-Match"))
		if b.etag != "" && r.Header.Get("If-None-Match") == b.etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", b.etag)
		_, _ = w.Write([]byte(b.body))
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *fakeServer) serve(tag, text string) { b.etag, b.body = tag, text }

func newRates(t *testing.T, o ecb.Options) *ecb.Rates {
	t.Helper()
	log, _ := test.NewNullLogger()
	o.Log = logrus.NewEntry(log)
	rates, err := ecb.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return rates
}

func loadRates(t *testing.T, path string) *ecb.Rates {
	t.Helper()
	rates := newRates(t, ecb.Options{Source: path})
	if err := rates.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return rates
}

func wantLoad(t *testing.T, rates *ecb.Rates, good bool) {
	t.Helper()
	if err := rates.Load(t.Context()); good != (err == nil) {
		t.Errorf("load: %v", err)
	}
}

func wantRate(t *testing.T, rates *ecb.Rates, want string) {
	t.Helper()
	if got, err := rates.Rate(t.Context(), "EUR", "USD", friday); err != nil || got.Rate.String() != want {
		t.Errorf("EUR in USD: %s, %v; want %s", got.Rate, err, want)
	}
}
