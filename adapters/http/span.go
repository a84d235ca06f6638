package httpapi

import (
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traceparent is the header of W3C Trace Context. The tracestate and the baggage of callers are not read.
const traceparent = "Traceparent"

// startSpan starts the span of a request to an operation, unless nothing is traced. A traceparent counts only of a caller who is
// authenticated, so that nobody else adds to the traces of others.
func (x *exchange) startSpan(authenticated bool) {
	tracer := x.api.config.Tracer
	if tracer == nil {
		return
	}
	ctx := x.ctx.Context
	if sent := x.r.Header.Get(traceparent); sent != "" && authenticated {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": sent})
	}
	x.ctx.Context, x.span = tracer.Start(ctx, x.r.Method+" "+x.route.pattern, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithTimestamp(x.started), trace.WithAttributes(attribute.String("http.request.method", x.r.Method),
			attribute.String("http.route", x.route.pattern), attribute.String("causeway.request_id", x.requestID)))
	if p := x.call.Principal.Platform; !p.IsZero() {
		x.span.SetAttributes(attribute.String("causeway.platform", p.String()))
	}
}

// endSpan ends the span of the request, if it has one. The error is not recorded: it may have texts of others.
func (x *exchange) endSpan() {
	if x.span == nil {
		return
	}
	x.span.SetAttributes(attribute.Int("http.response.status_code", x.status))
	if x.code != "" {
		x.span.SetAttributes(attribute.String("error.type", string(x.code)))
	}
	if x.status >= http.StatusInternalServerError || x.err != nil {
		x.span.SetStatus(codes.Error, "")
	}
	x.span.End()
}

// traceID returns the id of the trace of the request; empty without tracing.
func (x *exchange) traceID() string {
	if x.span == nil || !x.span.SpanContext().HasTraceID() {
		return ""
	}
	return x.span.SpanContext().TraceID().String()
}
