package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"

	"causeway/core/platform"
	"causeway/core/requestlog"
)

// discardWriter is a ResponseWriter that discards the response.
type discardWriter struct{ header http.Header }

func (d *discardWriter) Header() http.Header         { return d.header }
func (d *discardWriter) Write(b []byte) (int, error) { return len(b), nil }
func (d *discardWriter) WriteHeader(int)             {}

// discardedLog takes entries without bodies, as of successful requests in production.
type discardedLog struct{}

func (discardedLog) Record(requestlog.Entry)                    {}
func (discardedLog) KeepsBodies(platform.Environment, int) bool { return false }

func benchmarkLogged(b *testing.B, method, path, body string) {
	benchmarkRequestTo(b, newFixture(nil, func(c *Config) { c.Rate, c.RequestLog = Unlimited, discardedLog{} }), method, path, body)
}

func benchmarkRequest(b *testing.B, method, path, body string, options ...requestOption) {
	f := newFixture(nil, func(c *Config) { c.Rate = DefaultRate; c.Rate.PerSecond, c.Rate.Burst = 1e9, 1e9 })
	benchmarkRequestTo(b, f, method, path, body, options...)
}

func benchmarkRequestTo(b *testing.B, f *fixture, method, path, body string, options ...requestOption) {
	f.config.Log.SetLevel(logrus.InfoLevel)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(method, BasePath+path, strings.NewReader(body))
		r.SetBasicAuth(clientID, secret)
		for _, change := range options {
			change(r)
		}
		f.ServeHTTP(&discardWriter{http.Header{}}, r)
	}
}

func BenchmarkNewRequest(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, BasePath+"/parcels", strings.NewReader(validParcel))
		r.SetBasicAuth(clientID, secret)
	}
}

func BenchmarkPost(b *testing.B) { benchmarkRequest(b, http.MethodPost, "/parcels", validParcel) }
func BenchmarkPostWithKey(b *testing.B) {
	benchmarkRequest(b, http.MethodPost, "/parcels", validParcel, withKey("a"))
}
func BenchmarkGet(b *testing.B) {
	benchmarkRequest(b, http.MethodGet, "/parcels/"+parcelID.String(), "")
}
func BenchmarkGetLogged(b *testing.B) {
	benchmarkLogged(b, http.MethodGet, "/parcels/"+parcelID.String(), "")
}
func BenchmarkPostLogged(b *testing.B) { benchmarkLogged(b, http.MethodPost, "/parcels", validParcel) }
func BenchmarkNotFound(b *testing.B)   { benchmarkRequest(b, http.MethodGet, "/nowhere", "") }
