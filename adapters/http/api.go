package httpapi

import (
	"context"
	"io/fs"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
	"go.opentelemetry.io/otel/trace"
)

// BasePath is the path prefix of the current version of the interface.
const BasePath = "/2025-10-13"

// Config holds the dependencies and settings of an API.
type Config struct {
	// Authenticator checks client ids and secrets. Required.
	Authenticator Authenticator
	// AgentAuthenticator checks the access tokens of agents. Required if an operation is for agents.
	AgentAuthenticator AgentAuthenticator
	// IdempotencyStore stores the responses of requests with an idempotency key. Required.
	IdempotencyStore IdempotencyStore
	// Log receives one line per request at debug level, slow requests as warnings and
	// internal errors as errors. Required.
	Log *logrus.Logger
	// LogRefused logs requests that are answered with a status from 400 to 499 at info level, for developers.
	LogRefused bool
	// Tracer records requests to operations as spans; nil to trace none.
	Tracer trace.Tracer
	// RequestLog takes the entries of the log of requests; nil to keep none.
	RequestLog RequestLog
	// Metrics is the registry of the metrics of requests. Required.
	Metrics *prometheus.Registry
	// Ready returns an error if requests cannot be served now; the error is logged and not
	// shown. Nil means always ready.
	Ready func(context.Context) error
	// IsOutage reports whether an error means that the database is not available, so that the
	// request is worth a repetition: 503 instead of 500. It may be nil.
	IsOutage func(error) bool
	// NewID generates request ids. Nil means random UUIDs.
	NewID func() uuid.UUID

	// Rate is the rate limit of one token, and of one agent. All tokens of a platform have four times as much, and so have its agents. Zero
	// means DefaultRate.
	Rate Rate
	// RequestTimeout is the timeout of an operation. Zero means 20 seconds.
	RequestTimeout time.Duration
	// StallTimeout is how long the client of a streamed file may read nothing, or send
	// nothing. Zero means 30 seconds.
	StallTimeout time.Duration
	// FileTimeout is the maximum duration of a streamed file, whatever its client does. Zero
	// means 30 minutes.
	FileTimeout time.Duration
	// MaxUploads is the maximum number of forms with files that are received at the same time, three
	// quarters of them from one platform. Zero means 32.
	MaxUploads int
	// TrustedProxies are the networks whose X-Forwarded-For header is trusted.
	TrustedProxies []netip.Prefix
	// PublicURL is the URL of the interface, ending in BasePath, for the published
	// description. Empty means the path alone.
	PublicURL string
	// Version is the version of the program, shown on the reference page.
	Version string
	// Guides are Markdown files, which are served below the reference page. Nil means none.
	Guides fs.FS
}

// API is the HTTP interface. Register the operations, call Build, then serve.
type API struct {
	config   Config
	huma     huma.API
	router   *router
	document *document

	callerLimiters callerLimiters
	loginLimiter   *loginLimiter
	inFlight       *inFlight
	uploads        *uploadSlots
	notFound       map[string]*route // pages, by what their paths begin with
	meter          *meter
	draining       drain
}

// New returns an API without operations. It serves /, /healthz and /readyz.
func New(config Config) *API {
	if config.RequestTimeout == 0 {
		config.RequestTimeout = 20 * time.Second
	}
	if config.StallTimeout == 0 {
		config.StallTimeout = 30 * time.Second
	}
	if config.FileTimeout == 0 {
		config.FileTimeout = 30 * time.Minute
	}
	if config.MaxUploads == 0 {
		config.MaxUploads = 32
	}
	if config.Rate == (Rate{}) {
		config.Rate = DefaultRate
	}
	if config.NewID == nil {
		config.NewID = uuid.New
	}
	a := &API{
		notFound:       map[string]*route{},
		config:         config,
		router:         newRouter(),
		callerLimiters: newCallerLimiters(config.Rate),
		loginLimiter:   newLoginLimiter(),
		inFlight:       newInFlight(),
		uploads:        newUploadSlots(config.MaxUploads),
		meter:          newMeter(config.Metrics),
		draining:       drain{started: make(chan struct{})},
	}
	a.document = newDocument(a)
	humaConfig := huma.Config{
		OpenAPI:       a.document.openapi,
		Formats:       map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat},
		DefaultFormat: "application/json",
	}
	humaConfig.AllowAdditionalPropertiesByDefault = true // unknown fields are ignored
	a.huma = huma.NewAPI(humaConfig, adapter{a})
	a.mountHealth()
	a.Mount(http.MethodGet, "/", http.HandlerFunc(a.welcome))
	return a
}

// Build checks the description of the operations and makes it available. It must be
// called once, after the last registration and before the first request.
func (a *API) Build() error {
	if err := a.document.publish(); err != nil {
		return err
	}
	a.router.build()
	return nil
}

// Mount serves a page that is not part of the humaConfig interface: public, without
// idempotency, logged and measured like an operation. Path parameters are in braces.
func (a *API) Mount(method, pattern string, h http.Handler) {
	a.router.add(method, pattern, &route{method: method, pattern: pattern, page: h, timer: a.meter.timer(method, pattern)})
}

// MountNotFound serves all paths that begin with a prefix and have nothing else, as pages.
func (a *API) MountNotFound(prefix string, h http.Handler) {
	a.notFound[prefix] = &route{method: http.MethodGet, pattern: prefix, page: h, timer: a.meter.timer(http.MethodGet, prefix)}
}

// adapter implements huma.Adapter on the router.
type adapter struct{ api *API }

func (a adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	rt, ok := op.Metadata[routeKey].(*route)
	if !ok {
		panic("httpapi: operations are registered with Get, Post, Patch and Delete: " + op.Method + " " + op.Path)
	}
	rt.op, rt.handler = op, handler
	a.api.router.add(op.Method, rt.pattern, rt)
}

func (a adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.api.ServeHTTP(w, r) }
