package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func TestTraceFlags_InvalidValues(t *testing.T) {
	t.Parallel()
	// Each value that is not valid is reported with its setting, and credentials are not repeated.
	for name, test := range map[string]struct {
		flags traceFlags
		want  string
	}{
		"none":        {traceFlags{TracesRatio: 1}, ""},
		"base":        {traceFlags{OTLPEndpoint: "http://localhost:4318", TracesRatio: 0.5}, ""},
		"no scheme":   {traceFlags{OTLPEndpoint: "localhost:4318", TracesRatio: 1}, "--otlp-endpoint (OTEL_EXPORTER_OTLP_ENDPOINT)"},
		"credentials": {traceFlags{TracesEndpoint: "https://ana:secret@example.com/v1/traces", TracesRatio: 1}, "--traces-endpoint"},
		"ratio":       {traceFlags{TracesRatio: 1.5}, "--traces-ratio (OTEL_TRACES_SAMPLER_ARG)"},
	} {
		var refused []string
		test.flags.checkTraces(func(setting, must string, got any) { refused = append(refused, setting) })
		if got := strings.Join(refused, " "); test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: refused %q, want %q", name, got, test.want)
		}
	}
}

func TestTraceFlags_InvalidHeaders(t *testing.T) { //nolint:paralleltest // variables of the environment
	// Headers that the exporter would leave out are refused, by the name of the variable, and are not repeated.
	flags := traceFlags{OTLPEndpoint: "http://localhost:4318", TracesRatio: 1}
	for headers, valid := range map[string]bool{
		"": true, "authorization=Bearer%20secret": true, "a=secret, b = secret=,": true,
		"secret": false, "a=1,secret": false, "a b=secret": false, "=secret": false, "a=secret%zz": false, "a=secret%0A": false,
	} {
		for _, variable := range []string{headersVariable, tracesHeadersVariable} {
			t.Run(variable+" "+headers, func(t *testing.T) {
				t.Setenv(variable, headers)
				var refused []string
				flags.checkTraces(func(setting, must string, got any) { refused = append(refused, fmt.Sprint(setting, must, got)) })
				text := strings.Join(refused, " ")
				if valid != (text == "") || !valid && !strings.HasPrefix(text, variable) || strings.Contains(text, "secret") {
					t.Errorf("refused %q", text)
				}
			})
		}
	}
}

func TestOpenTelemetryLog_WithoutValues(t *testing.T) {
	t.Parallel()
	// An error of OpenTelemetry is in the log, and not the values that it is about.
	var out bytes.Buffer
	log := logrus.New()
	log.SetOutput(&out)

	openTelemetryLog(log).Error(errors.New("escape"), "parse headers", "value", "secret")

	text := out.String()
	if !strings.Contains(text, "parse headers") || !strings.Contains(text, "escape") || strings.Contains(text, "secret") {
		t.Errorf("logged %s", text)
	}
}

func TestTraceFlags_RatioIgnoresIDsOfCallers(t *testing.T) {
	t.Parallel()
	// The share that is sampled of the requests of a caller is the ratio, whichever id the caller chooses for the trace. The trace
	// keeps that id.
	const n, ratio = 10_000, 0.25
	for _, id := range []trace.TraceID{{15: 1}, {8: 0xff, 9: 0xff, 10: 0xff, 15: 0xff}} {
		provider := sdktrace.NewTracerProvider(sdktrace.WithSampler(traceFlags{TracesSampler: "traceidratio", TracesRatio: ratio}.sampler()))
		caller := trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: trace.SpanID{1}, Remote: true})
		sampled := 0
		for range n {
			_, span := provider.Tracer("").Start(trace.ContextWithSpanContext(context.Background(), caller), "request")
			if span.SpanContext().IsSampled() {
				sampled++
			}
			if got := span.SpanContext().TraceID(); got != id {
				t.Fatalf("the trace %s became %s", id, got)
			}
		}
		if share := float64(sampled) / n; share < ratio-0.05 || share > ratio+0.05 { // more than eleven standard deviations
			t.Errorf("%s: sampled %v", id, share)
		}
	}
}

func TestTraceFlags_Endpoint(t *testing.T) {
	t.Parallel()
	// Traces go below the address of the collector, or to their own address as it is.
	for want, flags := range map[string]traceFlags{
		"http://localhost:4318/v1/traces":   {OTLPEndpoint: "http://localhost:4318/"},
		"http://localhost:4318/a/v1/traces": {OTLPEndpoint: "http://localhost:4318/a"},
		"http://other:4318/x":               {OTLPEndpoint: "http://localhost:4318", TracesEndpoint: "http://other:4318/x"},
	} {
		if got := flags.endpoint(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestTraceFlags_SamplerIgnoresWhatCallersDecide(t *testing.T) {
	t.Parallel()
	// The flag of a caller neither has a trace sampled nor keeps it from it. What this service has decided holds for what follows.
	for _, test := range []struct {
		sampler                      string
		remote, sampledParent, wants bool
	}{
		{"parentbased_always_on", true, false, true}, {"parentbased_always_on", false, false, false},
		{"parentbased_always_off", true, true, false}, {"parentbased_always_off", false, true, true},
		{"always_on", false, false, true}, {"always_off", true, true, false},
		{"parentbased_traceidratio", true, true, false}, {"traceidratio", true, true, false},
		{"parentbased_traceidratio", false, true, true}, {"traceidratio", false, true, true},
	} {
		parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, Remote: test.remote})
		if test.sampledParent {
			parent = parent.WithTraceFlags(trace.FlagsSampled)
		}
		decided := traceFlags{TracesSampler: test.sampler}.sampler().ShouldSample(sdktrace.SamplingParameters{
			ParentContext: trace.ContextWithSpanContext(context.Background(), parent), TraceID: parent.TraceID()})
		if got := decided.Decision == sdktrace.RecordAndSample; got != test.wants {
			t.Errorf("%+v: sampled %t", test, got)
		}
	}
}
