package httpapi

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
)

const slowRequest = time.Second

// stages are the times since the beginning of a request at which its stages ended; zero for those that it did not reach.
type stages struct{ authorized, read, done time.Duration }

// fields returns how long each stage took. The body is read, and the response sent, as fast as the caller does.
func (s stages) fields(elapsed time.Duration) logrus.Fields {
	operation := s.done - s.read
	if s.read == 0 { // it ended before, or has no stages
		operation = s.done - s.authorized
	}
	return logrus.Fields{"authorize_ms": milliseconds(s.authorized), "read_ms": milliseconds(max(s.read-s.authorized, 0)),
		"operation_ms": milliseconds(operation), "send_ms": milliseconds(elapsed - s.done)}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// observe measures and logs a request. A log line costs as much as the rest of the
// request handling, so ordinary requests are logged at debug level only. Of the request
// itself, only the method and the route are logged.
func (x *exchange) observe() {
	elapsed := time.Since(x.started)
	rt := x.route
	timer := x.api.meter.unmatched
	pattern := "none"
	if rt != nil {
		timer, pattern = rt.timer, rt.pattern
	}
	timer.observe(x.status, elapsed)

	level := logrus.DebugLevel
	switch {
	case errors.Is(x.r.Context().Err(), context.Canceled): // the caller disconnected, which is not an internal error
	case x.status >= http.StatusInternalServerError || x.err != nil:
		level = logrus.ErrorLevel
	case elapsed >= slowRequest:
		level = logrus.WarnLevel
	case x.status >= http.StatusBadRequest && x.api.config.LogRefused:
		level = logrus.InfoLevel
	}
	log := x.api.config.Log
	if !log.IsLevelEnabled(level) {
		return
	}
	fields := logrus.Fields{
		"request_id":  x.requestID,
		"method":      knownMethod(x.r.Method),
		"route":       pattern,
		"status":      x.status,
		"duration_ms": milliseconds(elapsed),
	}
	if elapsed >= slowRequest {
		maps.Copy(fields, x.stages.fields(elapsed))
	}
	if p := x.call.Principal.Platform; !p.IsZero() {
		fields["platform"] = p.String()
	}
	if id := x.traceID(); id != "" {
		fields["trace_id"] = id
	}
	if x.code != "" {
		fields["code"] = string(x.code)
	}
	if x.replayed {
		fields["replayed"] = true
	}
	if x.err != nil {
		fields[logrus.ErrorKey] = x.err
		var p *panicError
		if errors.As(x.err, &p) {
			fields["stack"] = string(p.stack)
		}
	}
	log.WithFields(fields).Log(level, "request")
}

// knownMethod replaces unknown methods, so that callers cannot write arbitrary text to logs
// and metrics.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// meter measures requests by route and class of status.
type meter struct {
	duration  *prometheus.HistogramVec
	unmatched *timer
}

func newMeter(registry *prometheus.Registry) *meter {
	m := &meter{duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "causeway_http_request_duration_seconds",
		Help:    "Time from the headers of a request to its response.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"method", "route", "class"})}
	registry.MustRegister(m.duration)
	m.unmatched = m.timer("other", "none")
	return m
}

// timer holds the histograms of one route, so that a request needs no lookup.
type timer struct {
	meter         *meter
	method, route string
	classes       [6]atomic.Pointer[prometheus.Observer]
}

func (m *meter) timer(method, route string) *timer {
	return &timer{meter: m, method: method, route: route}
}

func (t *timer) observe(status int, elapsed time.Duration) {
	class := status / 100
	if class < 1 || class > 5 {
		class = 0
	}
	observer := t.classes[class].Load()
	if observer == nil {
		o := t.meter.duration.WithLabelValues(t.method, t.route, strconv.Itoa(class)+"xx")
		observer = &o
		t.classes[class].Store(observer)
	}
	(*observer).Observe(elapsed.Seconds())
}

// drain is closed once, when the server begins to shut down.
type drain struct {
	once    sync.Once
	started chan struct{}
}

// Drain makes /readyz return 503, so that load balancers send no new requests. It does
// not refuse requests.
func (a *API) Drain() { a.draining.once.Do(func() { close(a.draining.started) }) }

// mountHealth adds the endpoints for load balancers. They show no details.
func (a *API) mountHealth() {
	a.Mount(http.MethodGet, "/healthz", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	}))
	a.Mount(http.MethodGet, "/readyz", http.HandlerFunc(a.readyz))
}

func (a *API) readyz(w http.ResponseWriter, r *http.Request) {
	notReady := func() { writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "not ready"}) }
	select {
	case <-a.draining.started:
		notReady()
		return
	default:
	}
	if err := a.checkReady(r.Context()); err != nil {
		a.config.Log.WithError(err).Warn("not ready")
		notReady()
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

// checkReady returns an error if requests cannot be served now.
func (a *API) checkReady(ctx context.Context) error {
	if a.config.Ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return a.config.Ready(ctx)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	out := getBuffer()
	defer putBuffer(out)
	if err := encode(out, body); err != nil {
		panic(err) // strings always marshal
	}
	w.Header()["Content-Type"] = jsonType
	w.Header()["Cache-Control"] = noStore
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // the client may have disconnected
}
