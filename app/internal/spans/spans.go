// Package spans records what happens to payments as spans of OpenTelemetry, also across jobs and processes: the context of a
// trace is stored with what is done later.
//
// Attributes are ids, names and statuses only, never amounts, names of persons, addresses or secrets.
package spans

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"causeway/core/fault"
	"causeway/core/tracing"
)

// Scope is the name of the instrumentation, as collectors show it.
const Scope = "causeway"

// traceparent is the only header of W3C Trace Context that is stored: the tracestate of a caller goes no further.
const traceparent = "traceparent"

// none is a span that records nothing.
var none = trace.SpanFromContext(context.Background())

// Context returns the place in a trace of the span of ctx; empty without tracing.
func Context(ctx context.Context) tracing.Context {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return tracing.Context(carrier[traceparent])
}

// Start starts a span as a child of that of ctx. If ctx has none, because nothing is traced, the span records nothing, and
// nothing is allocated.
func Start(ctx context.Context, name string, value string) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.SpanContext().IsValid() {
		return ctx, none
	}
	return parent.TracerProvider().Tracer(Scope).Start(ctx, name+" "+value)
}

// Tracer starts the spans of what was stored. The zero Tracer starts none.
type Tracer struct{ tracer trace.Tracer }

// NewTracer returns a tracer of the spans of a provider.
func NewTracer(p trace.TracerProvider) Tracer { return Tracer{p.Tracer(Scope)} }

// Resume starts a span as a child of a stored place in a trace, and returns its own place. Without tracing, and if nothing was
// traced before, the span records nothing.
func (t Tracer) Resume(parent tracing.Context, name string, o ...trace.SpanStartOption) (tracing.Context, trace.Span) {
	if t.tracer == nil || parent == "" {
		return "", none
	}
	stored := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{traceparent: string(parent)})
	// It is a decision of this service whether the trace is sampled, so it holds as that of a parent in the same process.
	local := trace.SpanContextFromContext(stored).WithRemote(false)
	ctx, span := t.tracer.Start(trace.ContextWithSpanContext(context.Background(), local), name, o...)
	return Context(ctx), span
}

// Platform returns the attribute of the platform that a span is about.
func Platform(id string) attribute.KeyValue { return attribute.String("causeway.platform", id) }

// End ends a span. It has failed with an error, unless that is a refusal of what was asked for. The error itself may have texts
// of others, and is not recorded.
func End(span trace.Span, err error) {
	if err != nil && span.IsRecording() {
		if f, isFault := fault.As(err); !isFault || f.Code.Status() >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
	}
	span.End()
}
