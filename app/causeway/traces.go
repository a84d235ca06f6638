package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/sirupsen/logrus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/net/http/httpguts"

	"causeway/app/internal/spans"
)

// traceFlags say where traces are sent. Their variables, and others that the exporter reads itself, are those of OpenTelemetry.
type traceFlags struct {
	OTLPEndpoint   string  `name:"otlp-endpoint" env:"OTEL_EXPORTER_OTLP_ENDPOINT" help:"URL of an OpenTelemetry collector, such as http://localhost:4318. Traces are sent to /v1/traces below it, over OTLP/HTTP. Without it and --traces-endpoint nothing is traced." placeholder:"URL"`
	TracesEndpoint string  `name:"traces-endpoint" env:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" help:"URL to which traces are sent in place of that below --otlp-endpoint." placeholder:"URL"`
	TracesSampler  string  `name:"traces-sampler" env:"OTEL_TRACES_SAMPLER" default:"parentbased_always_on" enum:"always_on,always_off,traceidratio,parentbased_always_on,parentbased_always_off,parentbased_traceidratio" help:"Which traces are sampled, as in OpenTelemetry. What callers of the API have decided does not count."`
	TracesRatio    float64 `name:"traces-ratio" env:"OTEL_TRACES_SAMPLER_ARG" default:"1" help:"Share of the traces that the samplers with traceidratio choose, from 0 to 1."`
}

// variables of OpenTelemetry that the exporter and the SDK do not check.
const (
	disabledVariable       = "OTEL_SDK_DISABLED"
	exporterVariable       = "OTEL_TRACES_EXPORTER"
	protocolVariable       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	tracesProtocolVariable = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	headersVariable        = "OTEL_EXPORTER_OTLP_HEADERS"
	tracesHeadersVariable  = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
)

// traced reports whether anything is traced.
func (f traceFlags) traced() bool {
	return (f.OTLPEndpoint != "" || f.TracesEndpoint != "") && !strings.EqualFold(os.Getenv(disabledVariable), "true") &&
		os.Getenv(exporterVariable) != "none"
}

// checkTraces reports invalid values with the name of their setting. Credentials belong into OTEL_EXPORTER_OTLP_HEADERS.
func (f traceFlags) checkTraces(refuse func(setting, must string, got any)) {
	for setting, text := range map[string]string{"--otlp-endpoint (OTEL_EXPORTER_OTLP_ENDPOINT)": f.OTLPEndpoint,
		"--traces-endpoint (OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)": f.TracesEndpoint} {
		if u, err := url.Parse(text); text != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			refuse(setting, "an address such as http://localhost:4318", text)
		} else if text != "" && (u.User != nil || u.RawQuery != "" || u.Fragment != "") {
			refuse(setting, "an address without credentials and parameters; set OTEL_EXPORTER_OTLP_HEADERS", "the one that is set")
		}
	}
	if f.TracesRatio < 0 || f.TracesRatio > 1 || math.IsNaN(f.TracesRatio) {
		refuse("--traces-ratio (OTEL_TRACES_SAMPLER_ARG)", "from 0 to 1", f.TracesRatio)
	}
	if !f.traced() {
		return
	}
	if value := os.Getenv(exporterVariable); value != "" && value != "otlp" {
		refuse(exporterVariable, "otlp, or none to trace nothing", value)
	}
	for _, variable := range []string{protocolVariable, tracesProtocolVariable} {
		if value := os.Getenv(variable); value != "" && value != "http/protobuf" && value != "http/json" {
			refuse(variable, "http/protobuf or http/json", value)
		}
	}
	for _, variable := range []string{headersVariable, tracesHeadersVariable} {
		if !validHeaders(os.Getenv(variable)) {
			refuse(variable, "headers as name=value with commas between them, and other characters as %2C", "the ones that are set")
		}
	}
}

// validHeaders reports whether headers are valid. The exporter leaves out one that is not, and repeats it in an error.
func validHeaders(headers string) bool {
	for header := range strings.SplitSeq(headers, ",") {
		if strings.TrimSpace(header) == "" {
			continue
		}
		name, escaped, found := strings.Cut(header, "=")
		value, err := url.PathUnescape(escaped)
		if !found || err != nil || !httpguts.ValidHeaderFieldName(strings.TrimSpace(name)) || !httpguts.ValidHeaderFieldValue(value) {
			return false
		}
	}
	return true
}

func (f traceFlags) endpoint() string {
	if f.TracesEndpoint != "" {
		return f.TracesEndpoint
	}
	return strings.TrimRight(f.OTLPEndpoint, "/") + "/v1/traces"
}

// sampler returns the sampler of the settings. It decides about the traces of callers as about new ones: otherwise anyone with a
// token could have everything sampled, or nothing. What was decided about a payment holds for its jobs and webhooks; with a ratio
// always, because it cannot be decided again from the id of a trace alone.
func (f traceFlags) sampler() sdktrace.Sampler {
	name, parentBased := strings.CutPrefix(f.TracesSampler, "parentbased_")
	var sampler sdktrace.Sampler
	switch name {
	case "always_on":
		sampler = sdktrace.AlwaysSample()
	case "always_off":
		sampler = sdktrace.NeverSample()
	default:
		sampler, parentBased = drawnSampler{sdktrace.TraceIDRatioBased(f.TracesRatio)}, true
	}
	if !parentBased {
		return sampler
	}
	return sdktrace.ParentBased(sampler, sdktrace.WithRemoteParentSampled(sampler), sdktrace.WithRemoteParentNotSampled(sampler))
}

// drawnSampler decides by a number that is drawn in place of the id of the trace, which callers choose.
type drawnSampler struct{ sdktrace.Sampler }

// ShouldSample implements sdktrace.Sampler.
func (s drawnSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	binary.BigEndian.PutUint64(p.TraceID[8:], rand.Uint64()) //nolint:gosec // it draws a sample, and keeps no secret
	return s.Sampler.ShouldSample(p)
}

// traces sends what is traced. It is nil if nothing is.
type traces struct{ provider *sdktrace.TracerProvider }

// openTraces returns nil if nothing is traced. Spans wait in a queue that is bounded; what it cannot take is dropped.
func (f traceFlags) openTraces(ctx context.Context, log *logrus.Logger) (*traces, error) {
	if !f.traced() {
		return nil, nil //nolint:nilnil // nothing is traced
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.WithField("cause", err.Error()).Warn("traces: OpenTelemetry reports an error")
	}))
	otel.SetLogger(openTelemetryLog(log))
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(), resource.WithProcessPID(),
		resource.WithAttributes(attribute.String("service.name", "causeway"), attribute.String("service.version", version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(f.endpoint()))
	if err != nil {
		return nil, fmt.Errorf("the exporter of traces (OTEL_EXPORTER_OTLP_…): %w", err)
	}
	log.WithField("endpoint", f.endpoint()).Info("traces are sent to OpenTelemetry")
	return &traces{sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithSampler(f.sampler()),
		sdktrace.WithBatcher(&loggedExporter{SpanExporter: exporter, log: log}))}, nil
}

// openTelemetryLog logs what OpenTelemetry reports as errors, without the values that it adds, which may be credentials.
func openTelemetryLog(log logrus.FieldLogger) logr.Logger {
	return funcr.New(func(_, text string) {
		log.WithField("cause", text).Warn("traces: OpenTelemetry reports an error")
	}, funcr.Options{RenderArgsHook: func([]any) []any { return nil }})
}

// httpTracer returns the tracer of requests; nil if nothing is traced.
func (t *traces) httpTracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer(spans.Scope)
}

// spans returns the tracer of what was stored.
func (t *traces) spans() spans.Tracer {
	if t == nil {
		return spans.Tracer{}
	}
	return spans.NewTracer(t.provider)
}

// flushTimeout is how long a process that stops sends what it has traced last.
const flushTimeout = time.Second

// close sends what waits.
func (t *traces) close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // the exporter logs why spans are lost
}

// loggedExporter logs once that spans cannot be sent, and once that they are again.
type loggedExporter struct {
	sdktrace.SpanExporter
	log     *logrus.Logger
	failing atomic.Bool
}

// ExportSpans implements sdktrace.SpanExporter. Its error would be logged each time.
func (e *loggedExporter) ExportSpans(ctx context.Context, ended []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, ended)
	switch {
	case err != nil && !e.failing.Swap(true):
		// As a text: an error of the network in the log is taken for an outage of the database.
		e.log.WithField("cause", err.Error()).Warn("traces cannot be sent to OpenTelemetry; they are dropped until they can")
	case err == nil && e.failing.Swap(false):
		e.log.Info("traces are sent to OpenTelemetry again")
	case err != nil && !errors.Is(err, context.Canceled):
		e.log.WithField("cause", err.Error()).Debug("traces cannot be sent to OpenTelemetry")
	}
	return nil
}
