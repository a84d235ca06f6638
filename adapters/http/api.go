package httpapi

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
)

// BasePath is where the current version of the interface lives.
const BasePath = "/2025-10-13"

// Config is what the front door needs from the rest of the house.
type Config struct {
	// Authenticator knows who a client id and secret belong to. Required.
	Authenticator Authenticator
	// IdempotencyStore keeps the answers of requests with an idempotency key. Required.
	IdempotencyStore IdempotencyStore
	// Log takes one line a request at debug level, slow requests as warnings and
	// our own failures as errors. Required.
	Log *logrus.Logger
	// Metrics is filled by us and shown at /metrics. Required.
	Metrics *prometheus.Registry
	// Ready says whether requests can be served now; its error is logged, not shown.
	// Nil: always.
	Ready func(context.Context) error
	// NewID makes request ids. Nil: random UUIDs.
	NewID func() uuid.UUID

	// Rate is how many requests one token may make. Zero: DefaultRate.
	Rate Rate
	// RequestTimeout bounds what an operation may take. Zero: 20 seconds.
	RequestTimeout time.Duration
	// StallTimeout is how long the reader of a file may leave it waiting. Zero: 30
	// seconds.
	StallTimeout time.Duration
	// TrustedProxies are the networks whose X-Forwarded-For we believe.
	TrustedProxies []netip.Prefix
	// PublicURL is the address that callers use, ending in BasePath, for the
	// published description. Empty: the path alone.
	PublicURL string
	// Version is the program's own, shown in the published description.
	Version string
}

// API is the front door: register the operations, then Build, then serve.
type API struct {
	config   Config
	huma     huma.API
	router   *router
	document *document

	tokenLimiters *limiters[tokenKey]
	loginLimiter  *loginLimiter
	inFlight      *inFlight
	meter         *meter
	draining      drain
}

// New makes a front door without operations. It answers /healthz, /readyz and /metrics.
func New(config Config) *API {
	if config.RequestTimeout == 0 {
		config.RequestTimeout = 20 * time.Second
	}
	if config.StallTimeout == 0 {
		config.StallTimeout = 30 * time.Second
	}
	if config.Rate == (Rate{}) {
		config.Rate = DefaultRate
	}
	if config.NewID == nil {
		config.NewID = uuid.New
	}
	a := &API{
		config:        config,
		router:        newRouter(),
		tokenLimiters: newLimiters[tokenKey](config.Rate),
		loginLimiter:  newLoginLimiter(),
		inFlight:      newInFlight(),
		meter:         newMeter(config.Metrics),
		draining:      drain{begun: make(chan struct{})},
	}
	a.document = newDocument(a)
	described := huma.Config{
		OpenAPI:       a.document.openapi,
		Formats:       map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat},
		DefaultFormat: "application/json",
	}
	described.AllowAdditionalPropertiesByDefault = true // what we do not know, we ignore
	a.huma = huma.NewAPI(described, adapter{a})
	a.mountHealthAndMetrics()
	return a
}

// Build closes the list of operations and publishes their description. It must be
// called once, before the first request.
func (a *API) Build() error {
	if err := a.document.publish(); err != nil {
		return err
	}
	a.router.build()
	return nil
}

// Mount serves a page outside the described interface: public, without idempotency,
// logged and measured like everything else. Parameters stand in braces.
func (a *API) Mount(method, pattern string, h http.Handler) {
	a.router.add(method, pattern, &route{method: method, pattern: pattern, page: h, timer: a.meter.timer(method, pattern)})
}

// adapter lets huma register its handlers with us.
type adapter struct{ api *API }

func (a adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	rt, ok := op.Metadata[routeKey].(*route)
	if !ok {
		panic("httpapi: operations are registered with Get, Post, Patch, Put and Delete: " + op.Method + " " + op.Path)
	}
	rt.op, rt.handler = op, handler
	a.api.router.add(op.Method, rt.pattern, rt)
}

func (a adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.api.ServeHTTP(w, r) }
