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

// friday is on the day of the recorded file, one hour after its publication.
var friday = time.Date(2026, 3, 13, 16, 0, 0, 0, time.UTC)

func TestRatesPort(t *testing.T) {
	t.Parallel()
	rates := loadRates(t, "testdata/eurofxref-daily.xml")
	portstest.Rates(t, rates, [][2]money.Currency{{"EUR", "USD"}, {"USD", "INR"}, {"GBP", "IDR"}, {"JPY", "EUR"}, {"DKK", "BRL"}}, friday)
}

func TestRates_CrossRates(t *testing.T) {
	t.Parallel()
	// A rate against the euro is that of the file, in minor units. Other rates are quotients with
	// twelve digits.
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
			t.Errorf("time %s, want %s", got.At, want)
		}
	}
}

func TestRates_RejectsStaleRates(t *testing.T) {
	t.Parallel()
	// Friday's rates are valid until the maximum age. The error then contains the age and a retry
	// time.
	rates := loadRates(t, "testdata/eurofxref-daily.xml")
	rateTime := time.Date(2026, 3, 13, 13, 15, 0, 0, time.UTC)
	for age, allowed := range map[time.Duration]bool{
		0: true, 3*24*time.Hour + 2*time.Hour: true, ecb.DefaultMaxAge: true,
		ecb.DefaultMaxAge + time.Second: false, 30 * 24 * time.Hour: false, -time.Second: false,
	} {
		_, err := rates.Rate(t.Context(), "EUR", "USD", rateTime.Add(age))
		if allowed != (err == nil) || !allowed && !fault.Is(err, fault.QuoteRequestFailed) {
			t.Errorf("age %s: %v", age, err)
		}
	}

	_, err := rates.Rate(t.Context(), "EUR", "USD", rateTime.Add(4*24*time.Hour+5*time.Hour+time.Minute))

	rateErr, _ := fault.As(err)
	if rateErr == nil || rateErr.Reason != "Exchange rates are 4 d 5 h old, at most 4 d are allowed" || rateErr.RetryAfter == 0 ||
		rateErr.Details["ageSeconds"] != int64(363660) || rateErr.Details["maxAgeSeconds"] != int64(345600) {
		t.Errorf("got %#v", rateErr)
	}
}

func TestRates_UnavailableBeforeFirstLoad(t *testing.T) {
	t.Parallel()
	// Before the first load there are no rates, and all fiat currencies are supported.
	rates := newRates(t, ecb.Options{Source: filepath.Join(t.TempDir(), "none.xml")})
	if err := rates.Load(t.Context()); err == nil {
		t.Error("a missing file was loaded")
	}
	if _, err := rates.Rate(t.Context(), "EUR", "USD", friday); !fault.Is(err, fault.QuoteRequestFailed) {
		t.Errorf("rate without a file: %v", err)
	}
	if !rates.Supports("EUR") || !rates.Supports("NGN") || rates.Supports("BTC") || rates.Supports("XXX") {
		t.Error("wrong currencies before the first load")
	}

	loaded := loadRates(t, "testdata/eurofxref-daily.xml")
	if !loaded.Supports("EUR") || !loaded.Supports("ZAR") || loaded.Supports("NGN") || loaded.Supports("BTC") {
		t.Error("wrong currencies after loading")
	}
	if _, err := loaded.Rate(t.Context(), "EUR", "NGN", friday); !fault.Is(err, fault.InvalidCurrency) {
		t.Errorf("unpublished currency: %v", err)
	}
}

func TestLoad_UsesETagOfLastAcceptedFile(t *testing.T) {
	t.Parallel()
	// Requests contain the ETag of the last valid file. An invalid file changes neither the tag nor
	// the rates.
	server := newFakeServer(t)
	rates := newRates(t, ecb.Options{Source: server.URL})

	server.serve(`"one"`, envelope(day("2026-03-12", "USD", "1.08")))
	wantLoad(t, rates, true)
	wantLoad(t, rates, true)
	server.serve(`"broken"`, "<html>maintenance</html>")
	wantLoad(t, rates, false)
	wantRate(t, rates, "1.08")
	server.serve(`"older"`, envelope(day("2026-03-11", "USD", "1.07")))
	wantLoad(t, rates, false)
	wantRate(t, rates, "1.08")
	server.serve(`"two"`, envelope(day("2026-03-13", "USD", "1.09")))
	wantLoad(t, rates, true)
	wantRate(t, rates, "1.09")

	want := []string{"", `"one"`, `"one"`, `"one"`, `"one"`}
	if fmt.Sprint(server.ifNoneMatch) != fmt.Sprint(want) {
		t.Errorf("If-None-Match was %q, want %q", server.ifNoneMatch, want)
	}
}

func TestLoad_ServerErrors(t *testing.T) {
	t.Parallel()
	// An error, an endless file, or 304 without a previous file is an error of Load.
	for name, handler := range map[string]http.HandlerFunc{
		"an error":      func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) },
		"endless":       func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2<<20)) },
		"not modified":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) },
		"redirect loop": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) },
		"no response":   func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		server := httptest.NewServer(handler)
		rates := newRates(t, ecb.Options{Source: server.URL, Timeout: time.Second})
		if err := rates.Load(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
		server.Close()
	}
}

func TestCheckRedirect_RejectsDowngradeToHTTP(t *testing.T) {
	t.Parallel()
	// A redirect from https to http is not followed, and only files and http URLs are valid sources.
	for _, source := range []string{"ftp://example.com/rates.xml", "http://", ""} {
		if _, err := ecb.New(ecb.Options{Source: source}); err == nil {
			t.Errorf("%q was accepted as a source", source)
		}
	}
	next, _ := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	original, _ := http.NewRequest(http.MethodGet, "https://example.com/", nil)
	if err := ecb.CheckRedirect(next, []*http.Request{original}); err == nil {
		t.Error("a redirect from https to http was followed")
	}
	if err := ecb.CheckRedirect(original, []*http.Request{next}); err != nil {
		t.Errorf("a redirect from http to https: %v", err)
	}
}

func TestLoad_FallsBackToCacheFile(t *testing.T) {
	t.Parallel()
	// A new process uses the cached rates if the source is not available.
	cacheFile := filepath.Join(t.TempDir(), "rates.xml")
	server := newFakeServer(t)
	server.serve(`"one"`, envelope(day("2026-03-13", "USD", "1.09")))
	wantLoad(t, newRates(t, ecb.Options{Source: server.URL, CacheFile: cacheFile}), true)

	next := newRates(t, ecb.Options{Source: filepath.Join(t.TempDir(), "gone.xml"), CacheFile: cacheFile})
	wantLoad(t, next, false)
	wantRate(t, next, "1.09")

	// A damaged cache file is an error.
	if err := os.WriteFile(cacheFile, []byte("<Envelope>"), 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := newRates(t, ecb.Options{Source: filepath.Join(t.TempDir(), "gone.xml"), CacheFile: cacheFile})
	if err := damaged.Load(t.Context()); err == nil || !strings.Contains(err.Error(), cacheFile) {
		t.Errorf("damaged cache file: %v", err)
	}
}

func TestRun_LoadsHourlyWithBackoff(t *testing.T) {
	t.Parallel()
	// After a successful load the next follows in an hour. After a failure the first retry follows
	// in a minute, and the delay doubles with each failure.
	server := newFakeServer(t)
	server.serve(`"one"`, envelope(day("2026-03-13", "USD", "1.09")))
	rates := newRates(t, ecb.Options{Source: server.URL})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	waits, ticks, done := make(chan time.Duration), make(chan time.Time), make(chan struct{})
	go func() {
		defer close(done)
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
			t.Errorf("delay %s, want %s", got, want)
		}
	}

	next(time.Minute) // nothing loaded yet
	ticks <- time.Time{}
	next(time.Hour)
	server.serve("", "away")
	ticks <- time.Time{}
	next(time.Minute)
	ticks <- time.Time{}
	next(2 * time.Minute)
	server.serve(`"two"`, envelope(day("2026-03-14", "USD", "1.10")))
	ticks <- time.Time{}
	next(time.Hour)
	cancel()
	<-done
}

// fakeServer serves a file with an ETag.
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

func wantLoad(t *testing.T, rates *ecb.Rates, ok bool) {
	t.Helper()
	if err := rates.Load(t.Context()); ok != (err == nil) {
		t.Errorf("load: %v", err)
	}
}

func wantRate(t *testing.T, rates *ecb.Rates, want string) {
	t.Helper()
	if got, err := rates.Rate(t.Context(), "EUR", "USD", friday); err != nil || got.Rate.String() != want {
		t.Errorf("EUR in USD: %s, %v; want %s", got.Rate, err, want)
	}
}
