package spans_test

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"causeway/app/internal/spans"
	"causeway/core/fault"
	"causeway/core/tracing"
)

const (
	stored     = tracing.Context("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	notSampled = tracing.Context("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")
)

func TestSpans_WithoutTracingNothingIsAllocated(t *testing.T) {
	// Without tracing a request has no place in a trace, spans record nothing, and nothing is allocated.
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "value")
	allocations := testing.AllocsPerRun(100, func() {
		inner, span := spans.Start(ctx, "batch", "create quote")
		place, resumed := spans.Tracer{}.Resume("", "job")
		if inner != ctx || span.IsRecording() || resumed.IsRecording() || place != "" || spans.Context(inner) != "" {
			t.Error("something is traced")
		}
		spans.End(span, nil)
		spans.End(resumed, nil)
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestTracer_ContinuesWhatWasStored(t *testing.T) {
	t.Parallel()
	// A span that is resumed is a child of what was stored, and so is one below it. What was not sampled stays so, and its place is
	// known all the same.
	ended := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(ended),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample(), sdktrace.WithRemoteParentSampled(sdktrace.NeverSample()))))
	tracer := spans.NewTracer(provider)

	place, job := tracer.Resume(stored, "job")
	_, call := tracer.Resume(place, "rail SEND")
	call.End()
	spans.End(job, errors.New("no answer"))
	skipped, unsampled := tracer.Resume(notSampled, "job")
	unsampled.End()

	all := ended.Ended()
	if len(all) != 2 || all[0].Parent().SpanID() != all[1].SpanContext().SpanID() || all[1].Parent().SpanID().String() != "00f067aa0ba902b7" ||
		all[0].SpanContext().TraceID().String() != stored.ID() || all[1].Status().Code != codes.Error {
		t.Errorf("ended %+v", all)
	}
	if skipped.ID() != stored.ID() || skipped[len(skipped)-2:] != "00" || place.ID() != stored.ID() {
		t.Errorf("the places are %s and %s", place, skipped)
	}
}

func TestEnd_RefusalIsNoFailure(t *testing.T) {
	t.Parallel()
	// A command that is refused has not failed; one that could not be done has.
	ended := tracetest.NewSpanRecorder()
	tracer := spans.NewTracer(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(ended)))
	for err, want := range map[error]codes.Code{fault.New(fault.InsufficientBalance, "The account holds 1 EUR."): codes.Unset,
		fault.New(fault.ServiceUnavailable, "Later."): codes.Error, context.Canceled: codes.Error} {
		_, span := tracer.Resume(stored, "batch")
		spans.End(span, err)
		if got := ended.Ended()[len(ended.Ended())-1].Status(); got.Code != want || got.Description != "" {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}
