package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/sirupsen/logrus"
)

func TestLog_ContainsNoPersonalData(t *testing.T) {
	t.Parallel()
	// A log line has the request id, route, status and platform, and never the query,
	// body, credentials, path or an unknown method.
	f := newFixture(t)
	f.do("POST", "/parcels?via=Ada", strings.Replace(validParcel, "{", `{"note":"Ada Lovelace",`, 1), withKey("Ada"))
	f.do("POST", "/parcels", `{"note":"Ada Lovelace","weight":"Ada"}`)
	f.do("GET", "/parcels/Ada", "")
	f.do("GET", "/Ada/Lovelace", "", withHeader("User-Agent", "Ada"))
	f.do("ADA", "/parcels", "")
	f.do("GET", "/news", "")

	entries := f.logs.AllEntries()
	if len(entries) != 6 {
		t.Fatalf("%d lines", len(entries))
	}
	for _, entry := range entries {
		line, err := entry.String()
		if err != nil {
			t.Fatal(err)
		}
		for _, private := range []string{"Ada", "ADA", "Lovelace", secret, clientID, "Basic", "Customer:"} {
			if strings.Contains(line, private) {
				t.Errorf("%q in %s", private, line)
			}
		}
	}
	first := entries[0]
	if first.Data["route"] != BasePath+"/parcels" || first.Data["method"] != "POST" || first.Data["status"] != 201 ||
		first.Data["platform"] != platformID.String() || first.Level != logrus.DebugLevel {
		t.Errorf("the first line: %v %v", first.Level, first.Data)
	}
}

func TestLog_OrdinaryRequestsAtDebugOnly(t *testing.T) {
	t.Parallel()
	// At the default log level only slow requests and internal errors are logged.
	f := newFixture(t)
	f.config.Log.SetLevel(logrus.InfoLevel)
	f.do("GET", "/parcels", "")
	f.do("GET", "/nowhere", "")
	f.do("POST", "/parcels", "{")
	if entries := f.logs.AllEntries(); len(entries) != 0 {
		t.Errorf("%d lines", len(entries))
	}

	x := &exchange{api: f.API, r: newRequest("GET"), started: time.Now().Add(-2 * slowRequest), status: 200}
	x.observe()
	if entry := f.logs.LastEntry(); entry == nil || entry.Level != logrus.WarnLevel {
		t.Errorf("a slow request: %+v", entry)
	}
	f.do("GET", "/news", "")
	if entry := f.logs.LastEntry(); entry == nil || entry.Level != logrus.ErrorLevel {
		t.Errorf("a failure: %+v", entry)
	}
}

func TestLog_WhereTheTimeOfASlowRequestWent(t *testing.T) {
	t.Parallel()
	// A slow request is logged with the time of each of its stages, which add up to the whole.
	f := newFixture(t)
	f.handler = func(ctx context.Context, _ Call, _ *sendParcel) (parcel, error) {
		x := exchangeFromContext(ctx)
		x.started = x.started.Add(-slowRequest) // as if the operation had taken this long
		return parcel{ID: parcelID}, nil
	}
	f.do("POST", "/parcels", validParcel)
	entry := f.logs.LastEntry()
	if entry == nil || entry.Level != logrus.WarnLevel {
		t.Fatalf("logged %+v", entry)
	}
	sum := 0.0
	for _, stage := range []string{"authorize_ms", "read_ms", "operation_ms", "send_ms"} {
		took, isNumber := entry.Data[stage].(float64)
		if !isNumber || took < 0 {
			t.Errorf("%s: %v", stage, entry.Data[stage])
		}
		sum += took
	}
	if operation := entry.Data["operation_ms"].(float64); operation < milliseconds(slowRequest) ||
		sum < operation || sum > entry.Data["duration_ms"].(float64)+0.01 {
		t.Errorf("logged %v", entry.Data)
	}
}

func TestLog_RefusedRequestsForDevelopers(t *testing.T) {
	t.Parallel()
	// With LogRefused, requests that are refused are logged at the default log level, and others are not.
	f := newFixture(t, func(c *Config) { c.LogRefused = true })
	f.config.Log.SetLevel(logrus.InfoLevel)
	f.do("GET", "/nowhere", "")
	f.do("POST", "/parcels", "{")
	f.do("GET", "/parcels", "")
	var codes []any
	for _, entry := range f.logs.AllEntries() {
		codes = append(codes, entry.Level.String(), entry.Data["code"])
	}
	if !slices.Equal(codes, []any{"info", "NOT_FOUND", "info", "INVALID_INPUT"}) {
		t.Errorf("logged %v", codes)
	}
}

func TestWelcome_LinksWork(t *testing.T) {
	t.Parallel()
	// The page at / says whether requests are served, and each of its links works.
	ready := errors.New("no database")
	f := newFixture(t, func(c *Config) {
		c.Version, c.Ready = "v1.2.3<", func(context.Context) error { return ready }
	})
	get := func(path string) (int, string) {
		response := httptest.NewRecorder()
		f.ServeHTTP(response, httptest.NewRequest("GET", path, nil))
		return response.Code, response.Body.String()
	}
	if status, page := get("/"); status != 200 || !strings.Contains(page, "cannot serve requests now") {
		t.Errorf("not ready: %d %s", status, page)
	}
	ready = nil
	_, page := get("/")
	if !strings.Contains(page, "v1.2.3&lt;. It is ready") {
		t.Errorf("ready: %s", page)
	}
	links := regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1)
	for _, link := range links {
		if status, _ := get(link[1]); status != 200 {
			t.Errorf("%s: %d", link[1], status)
		}
	}
	if len(links) != 4 {
		t.Errorf("%d links", len(links))
	}
}

func TestMetrics_DurationByRoute(t *testing.T) {
	t.Parallel()
	// The histogram has labels for method, route and status class; requests cannot add
	// arbitrary series.
	registry := prometheus.NewRegistry()
	f := newFixture(t, func(c *Config) { c.Metrics = registry })
	for i := range 3 {
		f.do("GET", fmt.Sprintf("/parcels/Quote:%d", i), "")
		f.do("GET", fmt.Sprintf("/nowhere/%d", i), "")
		f.do(fmt.Sprintf("METHOD%d", i), "/parcels", "")
	}
	f.do("POST", "/parcels", validParcel)

	recorder := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	got := recorder.Body.String()
	for _, want := range []string{
		`causeway_http_request_duration_seconds_count{class="4xx",method="GET",route="/2025-10-13/parcels/{parcelId}"} 3`,
		`causeway_http_request_duration_seconds_count{class="2xx",method="POST",route="/2025-10-13/parcels"} 1`,
		`causeway_http_request_duration_seconds_count{class="4xx",method="other",route="none"} 6`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "nowhere") || strings.Contains(got, "METHOD") {
		t.Errorf("a caller's words in\n%s", got)
	}
}

func TestReadyz_CheckHasDeadline(t *testing.T) {
	t.Parallel()
	// If the readiness check hangs, the server is not ready, and the probe gets a
	// response.
	f := newFixture(t, func(c *Config) {
		c.Ready = func(ctx context.Context) error {
			if _, ok := ctx.Deadline(); !ok {
				t.Error("no deadline")
			}
			return context.DeadlineExceeded
		}
	})
	if status, _ := f.readyz(); status != 503 {
		t.Errorf("readyz: %d", status)
	}
}

func TestLog_ClientDisconnectIsNotError(t *testing.T) {
	t.Parallel()
	// A request whose client disconnected is not logged as an error.
	f := newFixture(t)
	ctx, leave := context.WithCancel(context.Background())
	f.handler = func(ctx context.Context, _ Call, _ *sendParcel) (parcel, error) {
		leave()
		<-ctx.Done()
		return parcel{}, ctx.Err()
	}

	f.do("POST", "/parcels", validParcel, func(r *http.Request) { *r = *r.WithContext(ctx) })

	if entry := f.logs.LastEntry(); entry == nil || entry.Level != logrus.DebugLevel {
		t.Errorf("logged %+v", entry)
	}
}

// readyz requests the state of the server, whose body is no error.
func (f *fixture) readyz() (status int, body string) {
	recorder := httptest.NewRecorder()
	f.ServeHTTP(recorder, httptest.NewRequest("GET", "/readyz", nil))
	return recorder.Code, recorder.Body.String()
}
