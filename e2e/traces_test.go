package e2e

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector receives spans as a collector of OpenTelemetry does.
type collector struct {
	*httptest.Server

	mu       sync.Mutex
	spans    []*tracepb.Span
	services []string
	requests int
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent collectorpb.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &sent)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		c.add(&sent)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) add(sent *collectorpb.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	for _, resource := range sent.GetResourceSpans() {
		for _, a := range resource.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				c.services = append(c.services, a.GetValue().GetStringValue())
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
}

// named returns the spans of a trace with a name.
func (c *collector) named(trace, name string) []*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.spans), func(s *tracepb.Span) bool {
		return hex.EncodeToString(s.GetTraceId()) != trace || s.GetName() != name
	})
}

// await returns the first span of a trace with a name.
func (c *collector) await(t *testing.T, trace, name string) *tracepb.Span {
	t.Helper()
	eventually(t, "the trace "+trace+" has the span "+name, func() bool { return len(c.named(trace, name)) > 0 })
	return c.named(trace, name)[0]
}

func attributeOf(s *tracepb.Span, name string) string {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == name {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan  = "00f067aa0ba902b7"
	// notSampled is a traceparent whose caller does not sample, which does not count.
	notSampled = "00-" + callersTrace + "-" + callersSpan + "-00"
)

// wantChild checks that a span is a child of another one.
func wantChild(t *testing.T, child, parent *tracepb.Span) {
	t.Helper()
	if hex.EncodeToString(child.GetParentSpanId()) != hex.EncodeToString(parent.GetSpanId()) {
		t.Errorf("%s is not below %s", child.GetName(), parent.GetName())
	}
}

func TestTraces_PaymentOverPartner(t *testing.T) {
	t.Parallel()
	// A quote that its customer pays at a bank, and whose payout goes over a partner, is one trace: that of the request, which
	// continues the trace of its caller, with its commit, the job, the call of the partner and the attempts to send webhooks. The
	// timeline and the log have its id.
	c := startCollector(t)
	e := newPartnerEnv(t, "--otlp-endpoint", c.URL, "--log-level", "debug")
	e.patch("/config", object{"webhookEndpoint": "https://hooks.example.com/payments"}).wantStatus(200)
	traced := &partnerEnv{testEnv: &testEnv{t: t, tenant: &tenant{client: e.withHeader("Traceparent", notSampled)}},
		customer: e.customer, bank: e.bank}
	quote := traced.quoteDollars(50_00)
	transaction := quote.text("transactionId")

	e.pay(quote)
	e.awaitTransaction(transaction, "status", "COMPLETED")

	request := c.await(t, callersTrace, "POST /2025-10-13/quotes")
	if parent := hex.EncodeToString(request.GetParentSpanId()); parent != callersSpan {
		t.Errorf("the request is below %s", parent)
	}
	wantChild(t, c.await(t, callersTrace, "batch create quote"), request)
	job := c.await(t, callersTrace, "job deliver")
	wantChild(t, job, request)
	call := c.await(t, callersTrace, "rail DELIVER")
	wantChild(t, call, job)
	if attributeOf(call, "causeway.connection") != "partner-usd" || attributeOf(call, "causeway.transaction") != transaction {
		t.Errorf("the call of the partner is %v", call)
	}
	wantChild(t, c.await(t, callersTrace, "webhook OUTGOING_PAYMENT.PENDING"), request)
	if got := e.get("/transactions/" + transaction + "/timeline").wantStatus(200).text("traceId"); got != callersTrace {
		t.Errorf("the timeline has the trace %q", got)
	}
	var line struct {
		Route     string `json:"route"`
		RequestID string `json:"request_id"`
		Platform  string `json:"platform"`
	}
	if err := json.Unmarshal([]byte(e.server.awaitLine(`"trace_id":"`+callersTrace+`"`)), &line); err != nil ||
		line.Route != "/2025-10-13/quotes" || line.RequestID != quote.header.Get("Request-Id") {
		t.Errorf("the log has %+v (%v)", line, err)
	}
	for _, s := range c.named(callersTrace, "rail DELIVER") {
		if text := s.String(); strings.Contains(text, "Example Client Money") || strings.Contains(text, "50.00") {
			t.Errorf("the span has personal data: %s", text)
		}
	}
}

func TestTraces_WebhookContinuesTheTrace(t *testing.T) {
	t.Parallel()
	// The execution of a quote begins a trace of its own, which its webhooks carry as traceparent. What another request reads has
	// another trace, and a caller who is not authenticated adds nothing to that of others.
	c := startCollector(t)
	e := newTestEnv(t, "--traces-endpoint", c.URL+"/v1/traces", "--traces-sampler", "always_on")
	hooks := e.startReceiver()
	quote := e.createQuote("555")
	transaction := quote.text("transactionId")
	e.payQuote(quote, quote.int("totalSendingAmount")).wantStatus(200)

	done := hooks.awaitOutgoingEvent(transaction, "COMPLETED")

	trace := e.get("/transactions/" + transaction + "/timeline").wantStatus(200).text("traceId")
	sent := c.await(t, trace, "webhook OUTGOING_PAYMENT.COMPLETED")
	if got, want := done.header.Get("Traceparent"), "00-"+trace+"-"+hex.EncodeToString(sent.GetSpanId())+"-01"; got != want {
		t.Errorf("the webhook has the traceparent %q, want %q", got, want)
	}
	c.await(t, trace, "job deliver")

	stranger := newClient(t, e.BaseURL, "unknown", "unknown").withHeader("Traceparent", notSampled)
	stranger.get("/config").wantStatus(401)
	e.get("/config").wantStatus(200)
	e.server.terminate() // sends what it has traced last
	eventually(t, "both requests were sent", func() bool { return len(c.all("GET /2025-10-13/config")) >= 2 })
	if len(c.named(callersTrace, "GET /2025-10-13/config")) > 0 {
		t.Error("a caller who is not authenticated has added to a trace")
	}
	if !slices.Contains(c.services, "causeway") {
		t.Errorf("the services are %q", c.services)
	}
}

// all returns the spans with a name.
func (c *collector) all(name string) []*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.spans), func(s *tracepb.Span) bool { return s.GetName() != name })
}

func TestTraces_OffByDefault(t *testing.T) {
	t.Parallel()
	// Without an endpoint nothing is traced: no webhook has a traceparent, also if the caller sent one, and the timeline and the
	// table have no trace.
	e := newTestEnv(t)
	hooks := e.startReceiver()
	client := e.client
	e.client = client.withHeader("Traceparent", notSampled)
	quote := e.createQuote("555")
	transaction := quote.text("transactionId")
	e.payQuote(quote, quote.int("totalSendingAmount")).wantStatus(200)

	done := hooks.awaitOutgoingEvent(transaction, "COMPLETED")

	timeline := e.get("/transactions/" + transaction + "/timeline").wantStatus(200)
	if done.header.Get("Traceparent") != "" || timeline.value("traceId") != nil ||
		e.queryInt(`SELECT count(*) FROM transactions WHERE traceparent IS NOT NULL`) != 0 {
		t.Errorf("the payment is traced: %q, %v", done.header.Get("Traceparent"), timeline.value("traceId"))
	}
}

func TestTraces_CollectorIsDown(t *testing.T) {
	t.Parallel()
	// While the collector does not answer, payments are as fast as ever, and the process stops in time. That traces are lost is
	// logged once.
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	e := newTestEnv(t, "--otlp-endpoint", gone.URL)
	e.createQuote("555")
	e.server.awaitLine("traces cannot be sent to OpenTelemetry")
	for range 20 {
		began := time.Now()
		e.get("/config").wantStatus(200)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("a request took %s", took)
		}
	}
	e.createQuote("556")

	e.server.terminate()

	if n := strings.Count(e.server.Output(), "traces cannot be sent"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}
