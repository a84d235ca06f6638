package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/core/sandbox"
)

// exampleRecorder is a platform whose requests, responses and webhooks are recorded.
type exampleRecorder struct {
	*testEnv
	operations map[string]operation
	webhooks   map[string]any // the schemas of their bodies
	schemas    schemas
	mask       *mask
	examples   map[string][]example // by the id of the operation or webhook
	calls      []recordedCall
	samples    *samplePlayer // makes the requests that have a sample; nil if the recorder makes all
}

// recordedCall is one request as it was sent, and the body of its response.
type recordedCall struct {
	operation  string // its id
	bearer     string // the access token of the agent that sent it; empty for the token of the platform
	path, body string
	uploadType string
	response   []byte
}

// newExampleRecorder starts a service with fixed rates, so that every amount is the same in
// every run.
func newExampleRecorder(t *testing.T) *exampleRecorder {
	t.Helper()
	s := &exampleRecorder{testEnv: newDatabaseEnv(t), mask: newMask(), examples: map[string][]example{}}
	ratesFile := filepath.Join(t.TempDir(), "rates.xml")
	if err := os.WriteFile(ratesFile, fmt.Appendf(nil, ecbRatesXML, time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)),
		0o600); err != nil {
		t.Fatal(err)
	}
	s.mask.beginStep()
	s.server = startServer(t, s.databaseURL, "--rates", "ecb", "--rates-ecb", ratesFile, "--rates-dollars", "USDC,USDB", "--seal-every", "1s")
	s.tenant = s.createPlatform("Example", "SANDBOX")
	s.mask.addSecret(s.ClientSecret)
	s.mask.addSecret(s.ClientID)
	s.mask.addSecret(masterKey)
	eventually(t, "a checkpoint of the evidence of the platform, with the first key", func() bool {
		return s.get("/ledger/log").wantStatus(200).text("evidence.checkpoint.size") != ""
	})
	description := s.get("/openapi.json").wantStatus(200)
	s.operations, s.webhooks = parseOperations(description)
	s.schemas.components, _ = description.value("components.schemas").(map[string]any)
	return s
}

const ecbRatesXML = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender>
	<Cube><Cube time='%s'><Cube currency='USD' rate='1.0873'/><Cube currency='MXN' rate='20.1468'/><Cube currency='GBP' rate='0.84105'/></Cube></Cube>
</gesmes:Envelope>
`

// describedIDs returns the ids of everything that must have an example: all that responds with
// JSON.
func (s *exampleRecorder) describedIDs() []string {
	ids := slices.Collect(maps.Keys(s.webhooks))
	for id, op := range s.operations {
		if !op.respondsWithFile {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// record calls an operation, and records request and response as an example of it. The body is
// JSON, or empty; for a form it is an object of its parts.
func (s *exampleRecorder) record(id, title, path, body string) apiResponse {
	s.t.Helper()
	return s.recordWith("", nil, id, title, path, body)
}

// recordSigned is record for a request that the owner of a wallet has signed: the second one, after the
// response to the first.
func (s *exampleRecorder) recordSigned(first apiResponse, id, title, path, body string) apiResponse {
	s.t.Helper()
	return s.recordWith("", map[string]string{"Request-Id": first.wantStatus(202).text("requestId"),
		"Service-Wallet-Signature": sandbox.WalletSignature}, id, title, path, body)
}

// recordByAgent is record for a request with the access token of an agent.
func (s *exampleRecorder) recordByAgent(accessToken, id, title, path, body string) apiResponse {
	s.t.Helper()
	return s.recordWith(accessToken, nil, id, title, path, body)
}

// recordWith is record for a request with an access token, unless that is empty, and with headers of its own.
func (s *exampleRecorder) recordWith(bearer string, headers map[string]string, id, title, path, body string) apiResponse {
	s.t.Helper()
	op, ok := s.operations[id]
	called, _, _ := strings.Cut(path, "?")
	if !ok || !op.pattern.MatchString(called) {
		s.t.Fatalf("the description has no operation %s at %s", id, called)
	}
	e := example{Title: title, Method: op.method}
	var sent any
	if body != "" {
		sent = body
	}
	sentBody := body
	by := s.client
	if op.uploadType != "" {
		by = s.withHeader("Content-Type", op.uploadType)
	}
	if bearer != "" {
		by = by.withHeader("Authorization", "Bearer "+bearer)
	}
	for name, value := range headers {
		by = by.withHeader(name, value)
		if e.Headers == nil {
			e.Headers = map[string]string{}
		}
		e.Headers[name] = s.mask.maskText(value)
	}
	isForm := op.uploadType == formContentType
	if isForm {
		sentBody = formBody(s.t, body, passportPhoto())
		sent = sentBody
	}
	s.mask.beginStep()
	var got apiResponse
	if s.samples != nil {
		got = s.samples.play(by, id, title, path, sent, op.uploadType)
	} else {
		got = by.call(op.method, path, sent)
	}
	s.mask.learnBody(got.body)
	if op.uploadType != "" && !isForm {
		body = "" // an uploaded file is shown by its type
	}
	response := op.responses[strconv.Itoa(got.status)]
	if e.Status = got.status; response == nil {
		s.t.Fatalf("%s: status %d, which the description does not have: %s", got.request, got.status, got.body)
	}
	if got.status < 300 { // otherwise the request may be invalid
		s.checkSchema(id+" is sent", op.body, []byte(body))
	}
	s.checkSchema(id+" returns", schemaOf(response), got.body)
	e.Path, e.Body, e.Response = s.mask.maskText(path), s.maskJSON([]byte(body)), s.maskJSON(got.body)
	s.examples[id] = append(s.examples[id], e)
	if headers == nil {
		s.calls = append(s.calls, recordedCall{id, bearer, path, sentBody, op.uploadType, got.body})
	}
	return got
}

// callUnrecorded calls an operation without recording it.
func (s *exampleRecorder) callUnrecorded(method, path string, body any) apiResponse {
	s.t.Helper()
	s.mask.beginStep()
	got := s.call(method, path, body)
	s.mask.learnBody(got.body)
	return got
}

// recordWebhook records a delivery as an example of a webhook, with the response to it.
func (s *exampleRecorder) recordWebhook(webhook, title string, d delivery, reply string) {
	s.t.Helper()
	schema, ok := s.webhooks[webhook]
	if !ok {
		s.t.Fatalf("the description has no webhook %s", webhook)
	}
	s.checkSchema(webhook+" sends", schema, d.body)
	s.mask.learnBody(d.body)
	s.examples[webhook] = append(s.examples[webhook], example{Title: title, Method: "POST", Body: s.maskJSON(d.body), Status: d.responseStatus,
		Response: s.maskJSON([]byte(reply))})
}

// checkSchema checks that a body is as the description says.
func (s *exampleRecorder) checkSchema(what string, schema any, text []byte) {
	s.t.Helper()
	if len(text) == 0 {
		return
	}
	if schema == nil {
		s.t.Errorf("%s a body without a schema: %s", what, text)
		return
	}
	for _, complaint := range s.schemas.violations(schema, decodeJSON(s.t, text), "body") {
		s.t.Errorf("%s a body that differs from its schema: %s", what, complaint)
	}
}

func (s *exampleRecorder) maskJSON(text []byte) json.RawMessage {
	s.t.Helper()
	if len(text) == 0 {
		return nil
	}
	masked, err := s.mask.maskJSON(text)
	if err != nil {
		s.t.Fatalf("%v: %s", err, text)
	}
	return masked
}

// awaitEventAbout returns an event about a resource: a transaction, an internal account or what else has an event.
func (s *exampleRecorder) awaitEventAbout(event, about string) delivery {
	s.t.Helper()
	return s.receiver.awaitDelivery(event+" of "+about, func(d delivery) bool {
		return d.event == event && (d.transactionID == about || d.text("internalAccount.id") == about || d.text("bulkUpload.id") == about ||
			d.text("externalAccount.id") == about ||
			d.text("verification.id") == about || d.text("agentAction.id") == about || d.text("customer.id") == about ||
			d.text("invitation.code") == about ||
			d.text("safeguardingReport.day") == about || d.text("proposal.id") == about || d.text("ledgerAsset.account") == about ||
			d.text("receivable.id") == about || d.text("umaInvoice.id") == about)
	})
}

// awaitAllDelivered returns when all events are recorded as delivered.
func (s *exampleRecorder) awaitAllDelivered() {
	s.t.Helper()
	eventually(s.t, "the delivery of all events", func() bool {
		return len(s.get("/webhook-deliveries?status=PENDING").wantStatus(200).list("data")) == 0
	})
}
