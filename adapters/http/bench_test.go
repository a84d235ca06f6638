package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
)

// discard is the cheapest ResponseWriter there is.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

func benchmark(b *testing.B, method, path, body string, options ...option) {
	f := newFixture(nil, func(c *Config) { c.Rate = DefaultRate; c.Rate.PerSecond, c.Rate.Burst = 1e9, 1e9 })
	f.config.Log.SetLevel(logrus.InfoLevel)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(method, BasePath+path, strings.NewReader(body))
		r.SetBasicAuth(clientID, secret)
		for _, change := range options {
			change(r)
		}
		f.ServeHTTP(&discard{http.Header{}}, r)
	}
}

func BenchmarkRequestAlone(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, BasePath+"/parcels", strings.NewReader(goodParcel))
		r.SetBasicAuth(clientID, secret)
	}
}

func BenchmarkPost(b *testing.B) { benchmark(b, http.MethodPost, "/parcels", goodParcel) }
func BenchmarkPostWithKey(b *testing.B) {
	benchmark(b, http.MethodPost, "/parcels", goodParcel, key("a"))
}
func BenchmarkGet(b *testing.B) {
	benchmark(b, http.MethodGet, "/parcels/"+parcelID.String(), "")
}
func BenchmarkNotFound(b *testing.B) { benchmark(b, http.MethodGet, "/nowhere", "") }
